// SPDX-License-Identifier: MIT
// The shapes of mma and wmma: sizes, types of elements, and registers of a lane's fragments.
#pragma once

#include <optional>

#include "softgpu/machine/code/form.hpp"

namespace softgpu::machine {

enum class fragment : std::uint8_t { d, a, b, c };

struct matrix_shape {
    unsigned m = 0, n = 0, k = 0;
    ptx::suffix type[4]{};   // of elements, by fragment
    unsigned registers[4]{}; // of a lane, by fragment
    bool is_wmma = false;
    bool is_sparse = false;          // registers of A hold half of K
    bool is_warpgroup = false;       // a warp's 16 rows of wgmma, whose B is in shared memory
    bool by_rows[2] = {true, false}; // A and B as the instruction names their layouts

    [[nodiscard]] ptx::suffix type_of(fragment f) const noexcept { return type[static_cast<unsigned>(f)]; }
    [[nodiscard]] unsigned registers_of(fragment f) const noexcept { return registers[static_cast<unsigned>(f)]; }
    // m8n8k4 of halves by mma: four products, one for each quad pair.
    [[nodiscard]] bool is_by_quads() const noexcept {
        return !is_wmma && m == 8 && type_of(fragment::a) == ptx::suffix::f16;
    }
    // Bytes of a lane of one register.
    [[nodiscard]] unsigned register_bytes(fragment f) const noexcept { return type_of(f) == ptx::suffix::f64 ? 8 : 4; }
};

// Bits of an element, of s32 and tf32 32; 0: no matrices have it.
[[nodiscard]] unsigned element_bits(ptx::suffix type) noexcept;

[[nodiscard]] constexpr bool is_byte(ptx::suffix t) noexcept { return t == ptx::suffix::s8 || t == ptx::suffix::u8; }
[[nodiscard]] constexpr bool is_fp8(ptx::suffix t) noexcept { return t == ptx::suffix::e4m3 || t == ptx::suffix::e5m2; }

// Floats of 8 bits, and of 6 and 4 bits in the middle or at the bottom of 8: what mma.kind::f8f6f4 multiplies.
[[nodiscard]] constexpr bool is_in_bytes(ptx::suffix t) noexcept {
    return is_fp8(t) || t == ptx::suffix::e3m2 || t == ptx::suffix::e2m3 || t == ptx::suffix::e2m1;
}

[[nodiscard]] inline bool is_sparse(const form& f) noexcept {
    return f.has(ptx::suffix::sp) || f.has(ptx::suffix::sp_ordered_metadata);
}

// Of mma and wmma, also of loads and stores, whose other fragments are left out. Nothing: not supported.
[[nodiscard]] std::optional<matrix_shape> shape_of(const form& f);
// The fragment that a wmma.load or wmma.store moves.
[[nodiscard]] fragment moved_fragment(const form& f) noexcept;
// Of ldmatrix and stmatrix: how many groups of 8 rows, of 16 bytes each, and registers. 0: not supported.
[[nodiscard]] unsigned row_groups(const form& f) noexcept;
// Of the same with elements of 8 bits, what instruction::more has: how they go to registers, and how many bits an element has
// in shared memory. 0: elements of 16 bits.
inline constexpr std::uint32_t byte_rows_plain = 1, byte_rows_of_8 = 2, byte_rows_of_16 = 3, byte_rows_layout = 3;
inline constexpr std::uint32_t byte_rows_from_4_bits = 4, byte_rows_from_6_bits = 8;
[[nodiscard]] std::uint32_t byte_rows(const form& f) noexcept;

} // namespace softgpu::machine
