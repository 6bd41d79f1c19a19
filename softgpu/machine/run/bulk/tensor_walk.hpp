// SPDX-License-Identifier: MIT
// Which bytes of a tensor an operation accesses, and where they are in shared memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "softgpu/machine/tensor_map.hpp"

namespace softgpu::machine {

// Elements side by side in the tensor and in the box.
struct tensor_row {
    std::uint64_t at = 0;  // in global memory
    std::uint32_t box = 0; // byte in the box, before swizzling
    std::uint32_t bytes = 0;
};

struct tensor_tile {
    std::vector<tensor_row> rows; // those inside of the tensor; the others are filled
    std::uint32_t inner = 0;      // bytes of the box's first dimension
    std::uint32_t pitch = 0;      // from one of them to the next: a swizzle gives each a row of its width
    std::uint32_t count = 0;      // of them

    [[nodiscard]] std::uint32_t bytes() const { return inner * count; } // of data
    [[nodiscard]] std::uint32_t room() const { return pitch * count; }  // in shared memory
};

using tensor_point = std::array<std::int32_t, most_tensor_dimensions>;

[[nodiscard]] tensor_tile tile_at(const tensor_map& m, const tensor_point& corner);
// tile::gather4 and tile::scatter4: the rows whose second coordinates follow the first coordinate, one after the other.
[[nodiscard]] tensor_tile rows_at(const tensor_map& m, const tensor_point& corners);
// `offsets`: of the pixels from their base pixels, by dimension from the second on.
[[nodiscard]] tensor_tile column_at(const tensor_map& m, const tensor_point& base,
                                    const std::array<std::uint16_t, 3>& offsets);

// Where a byte of the box is, from the box's begin at offset `base` of shared memory.
[[nodiscard]] std::uint32_t swizzled(tensor_swizzle s, std::uint32_t base, std::uint32_t byte) noexcept;

// Shared memory and back. Rows are copied in pieces that a swizzle keeps together.
void fill_box(const tensor_map& m, const tensor_tile& t, std::byte* shared, std::uint32_t base);
template <class Piece>
void each_piece(const tensor_map& m, const tensor_tile& t, std::uint32_t base, Piece&& piece) {
    constexpr std::uint32_t unit = 16;
    for (const tensor_row& r : t.rows) {
        for (std::uint32_t k = 0; k < r.bytes;) {
            const std::uint32_t left = unit - (r.box + k) % unit;
            const std::uint32_t bytes = m.swizzle == tensor_swizzle::none ? r.bytes
                                        : r.bytes - k < left              ? r.bytes - k
                                                                          : left;
            piece(r.at + k, swizzled(m.swizzle, base, r.box + k), bytes);
            k += bytes;
        }
    }
}

} // namespace softgpu::machine
