// SPDX-License-Identifier: MIT
// Tensor maps: what cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col make, what cp.async.bulk.tensor reads and
// tensormap.replace changes. CUDA leaves the 128 bytes opaque; these are our own.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace softgpu::machine {

// With the driver's numbers.
enum class tensor_type : std::uint8_t {
    u8,
    u16,
    u32,
    s32,
    u64,
    s64,
    f16,
    f32,
    f64,
    bf16,
    f32_ftz,
    tf32,
    tf32_ftz,
};
inline constexpr unsigned tensor_types = 13;
enum class tensor_interleave : std::uint8_t { none, by_16, by_32 };
enum class tensor_swizzle : std::uint8_t { none, by_32, by_64, by_128 };
enum class tensor_fill : std::uint8_t { zero, nan };
enum class tensor_walk : std::uint8_t { tiled, im2col };

inline constexpr unsigned most_tensor_dimensions = 5;

struct tensor_map {
    std::uint64_t address;
    std::array<std::uint64_t, most_tensor_dimensions> size;          // elements, the fastest dimension first
    std::array<std::uint64_t, most_tensor_dimensions - 1> stride;    // bytes, of the second dimension and on
    std::array<std::uint16_t, most_tensor_dimensions> box;           // elements that are traversed; tiled
    std::array<std::uint8_t, most_tensor_dimensions> element_stride; // every so many of them
    std::uint8_t rank;
    tensor_type type;
    tensor_interleave interleave;
    tensor_swizzle swizzle;
    tensor_fill fill;
    tensor_walk walk;
    std::array<std::int16_t, 3> lower; // of im2col, of the dimensions between the first and the last
    std::array<std::int16_t, 3> upper;
    std::uint16_t channels; // of im2col, per pixel
    std::uint16_t pixels;   // of im2col, per column
    std::uint32_t mark;     // tensor_map_mark: the bytes are a tensor map
    std::array<std::uint8_t, 4> unused;
};
static_assert(sizeof(tensor_map) == 128 && std::is_trivially_copyable_v<tensor_map>);

inline constexpr std::uint32_t tensor_map_mark = 0x50414D54;
inline constexpr unsigned tensor_map_alignment = 64;

[[nodiscard]] unsigned bytes_of(tensor_type t) noexcept;
// The width of a row that a swizzle works on.
[[nodiscard]] unsigned swizzle_bytes(tensor_swizzle s) noexcept;

// nullptr, or what CUDA does not allow in it.
[[nodiscard]] const char* wrong_with(const tensor_map& m) noexcept;

} // namespace softgpu::machine
