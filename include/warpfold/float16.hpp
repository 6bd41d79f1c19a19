// SPDX-License-Identifier: MIT
// 16-bit floating-point numbers as they are stored, for code that compiles without the CUDA toolkit. They convert to
// float for arithmetic, and back by rounding to nearest, ties to even; results of calls, which are floats, may be assigned
// to them. The toolkit's __half and __nv_bfloat16 have the same bits. Convolutions accept them; other calls take pointers
// to them as pointers to these.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/portable.hpp"

namespace warpfold {

namespace detail {

WARPFOLD_HD inline float float_of_half(std::uint16_t bits) {
    const std::uint32_t magnitude = bits & 0x7fffu;
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
    // Normal numbers get float's exponent bias; a subnormal number is its bits times 2^-24.
    const std::uint32_t exponent = magnitude >= 0x7c00u ? 224u << 23 : 112u << 23;
    const std::uint32_t normal = (magnitude << 13) + exponent;
    const auto subnormal =
        __builtin_bit_cast(std::uint32_t, static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f);
    return __builtin_bit_cast(float, sign | (magnitude < 0x0400u ? subnormal : normal));
}

WARPFOLD_HD inline std::uint16_t half_of_float(float x) {
    const auto bits = __builtin_bit_cast(std::uint32_t, x);
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    const std::uint32_t sign = bits >> 16 & 0x8000u;
    // Adding a number whose last place is the result's last place rounds correctly, also to a subnormal number.
    const std::uint32_t small = magnitude < 0x38800000u ? 0x3f000000u : 0;
    const auto rounded =
        __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, magnitude) + __builtin_bit_cast(float, small));
    const std::uint32_t subnormal = rounded - 0x3f000000u;
    const std::uint32_t normal = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
    const std::uint32_t finite = small != 0 ? subnormal : normal;
    const std::uint32_t large = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    return static_cast<std::uint16_t>(sign | (magnitude >= 0x477ff000u ? large : finite));
}

} // namespace detail

// IEEE 754 binary16.
struct half {
    half() = default;
    WARPFOLD_HD explicit half(float x) {
#if defined(__CUDA_ARCH__)
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
#else
        bits = detail::half_of_float(x);
#endif
    }
    WARPFOLD_HD half& operator=(float x) { return *this = half(x); }
    WARPFOLD_HD explicit operator float() const {
#if defined(__CUDA_ARCH__)
        float x;
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
        return x;
#else
        return detail::float_of_half(bits);
#endif
    }

    std::uint16_t bits;
};

// bfloat16: the upper 16 bits of a float.
struct bfloat16 {
    bfloat16() = default;
    WARPFOLD_HD explicit bfloat16(float x) {
        const auto whole = __builtin_bit_cast(std::uint32_t, x);
        const std::uint32_t rounded = (whole + 0x7fffu + (whole >> 16 & 1u)) >> 16;
        bits = static_cast<std::uint16_t>(x != x ? (whole >> 16 | 0x40u) : rounded);
    }
    WARPFOLD_HD bfloat16& operator=(float x) { return *this = bfloat16(x); }
    WARPFOLD_HD explicit operator float() const {
        return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16);
    }

    std::uint16_t bits;
};

namespace detail {

template <class T>
inline constexpr bool is_float16_v = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

// The type in which values of type T are added and compared: float for those of 16 bits.
template <class T>
using computed_t = std::conditional_t<is_float16_v<T>, float, T>;

} // namespace detail

} // namespace warpfold
