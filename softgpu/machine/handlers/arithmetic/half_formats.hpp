// SPDX-License-Identifier: MIT
// Floating-point formats of 16 bits and fewer: their values, and rounding to them. Sums and products of two such values,
// computed in double precision and rounded once to the format, are correctly rounded.
#pragma once

#include <bit>
#include <cstdint>

#include "softgpu/machine/code/form.hpp"
#include "softgpu/machine/handlers/lanes.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// Bits of the fraction, the exponent of the least normal number, the pattern of infinity (in formats without one: of the
// next after the largest number) and the NaN that instructions give. `slot`: bits of a number where several are packed.
template <int Fraction, int Least, std::uint32_t Infinity, std::uint32_t Nan, class Bits, bool Infinite = true>
struct small_format {
    static constexpr int fraction = Fraction;
    static constexpr int least = Least;
    static constexpr std::uint32_t infinity = Infinity, nan = Nan, sign = Nan + 1;
    static constexpr bool infinite = Infinite, has_nan = true;
    static constexpr unsigned slot = 8 * sizeof(Bits);
    using bits = Bits;
};
// A format of numbers only, which fill all patterns: the pattern of infinity is the sign. NaN becomes the largest number.
// `Slot`: bits that a number takes where several are packed.
template <int Fraction, int Least, std::uint32_t Sign, unsigned Slot>
struct finite_format {
    static constexpr int fraction = Fraction;
    static constexpr int least = Least;
    static constexpr std::uint32_t infinity = Sign, nan = Sign - 1, sign = Sign;
    static constexpr bool infinite = false, has_nan = false;
    static constexpr unsigned slot = Slot;
    using bits = std::uint8_t;
};
using f16_format = small_format<10, -14, 0x7C00, 0x7FFF, std::uint16_t>;
using bf16_format = small_format<7, -126, 0x7F80, 0x7FFF, std::uint16_t>;
using e4m3_format = small_format<3, -6, 0x7F, 0x7F, std::uint8_t, false>;
using e5m2_format = small_format<2, -14, 0x7C, 0x7F, std::uint8_t>;
using e3m2_format = finite_format<2, -2, 0x20, 8>;
using e2m3_format = finite_format<3, 0, 0x20, 8>;
using e2m1_format = finite_format<1, 0, 0x8, 4>;
// Stands in the upper 19 bits of 32: `fraction` bits of 13 more follow as zeros.
using tf32_format = small_format<10, -126, 0x3FC00, 0x3FFFF, std::uint32_t>;

template <class Format>
constexpr std::uint64_t bias_gap = static_cast<std::uint64_t>(1023 + Format::least - 1) << 52;

SOFTGPU_INLINE double magnitude_of(double x) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & (~0ull >> 1));
}

// The value of a number of the format. Loops over it become vector code.
template <class Format>
SOFTGPU_INLINE double widened(std::uint32_t x) {
    const std::uint32_t m = x & (Format::sign - 1);
    // The fraction and exponent as those of a double that is too small by a power of two; a subnormal is exact as an
    // integer of least units.
    constexpr int shift = 52 - Format::fraction;
    const double normal = std::bit_cast<double>((static_cast<std::uint64_t>(m) << shift) + bias_gap<Format>);
    constexpr double unit =
        std::bit_cast<double>(static_cast<std::uint64_t>(1023 + Format::least - Format::fraction) << 52);
    const double subnormal = (std::bit_cast<double>(0x4330000000000000ull | m) - 0x1p52) * unit;
    const double endless = std::bit_cast<double>(0x7FF0000000000000ull | static_cast<std::uint64_t>(m) << shift);
    const bool not_finite = Format::infinite ? m >= Format::infinity : Format::has_nan && m == Format::nan;
    const double r = not_finite ? endless : m < (1u << Format::fraction) ? subnormal : normal;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(r) |
                                 static_cast<std::uint64_t>((x & Format::sign) != 0 ? 1 : 0) << 63);
}

// Rounded to nearest even; too large is infinity, NaN the format's own. Loops over it become vector code: adding a power
// of two whose last place is the format's rounds in one addition.
template <class Format>
SOFTGPU_INLINE std::uint32_t narrowed(double x) {
    const std::uint64_t all = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t m = all & (~0ull >> 1);
    constexpr std::uint64_t least = static_cast<std::uint64_t>(1023 + Format::least) << 52;
    constexpr std::uint64_t most = static_cast<std::uint64_t>(1023 + 1000) << 52;
    const std::uint64_t exponent = m & 0x7FF0000000000000ull;
    const std::uint64_t held = exponent < least ? least : exponent > most ? most : exponent;
    const double last = std::bit_cast<double>(held + (static_cast<std::uint64_t>(52 - Format::fraction) << 52));
    const double rounded = (std::bit_cast<double>(m) + last) - last;
    // A multiple of the format's unit: shifting finds its pattern, below the least normal number counting units does.
    const std::uint64_t r = std::bit_cast<std::uint64_t>(rounded);
    const std::uint64_t normal = (r - bias_gap<Format>) >> (52 - Format::fraction);
    constexpr double unit =
        std::bit_cast<double>(static_cast<std::uint64_t>(1023 + 52 + Format::least - Format::fraction) << 52);
    const std::uint64_t subnormal = std::bit_cast<std::uint64_t>(rounded + unit) & 0xFFFFFFFFFFFFFull;
    const std::uint64_t finite = r < least ? subnormal : normal;
    const bool nan = m > 0x7FF0000000000000ull;
    const bool large = m >= most || finite >= Format::infinity;
    const std::uint64_t pattern = large ? Format::infinity : finite;
    const auto sign = static_cast<std::uint32_t>((all >> 63) != 0 ? Format::sign : 0u);
    return nan ? Format::nan : static_cast<std::uint32_t>(pattern) | sign;
}

template <class Half>
SOFTGPU_INLINE bool is_nan(std::uint32_t x) {
    return (x & 0x7FFF) > Half::infinity;
}

// Order of the patterns of halves: -0 before +0, NaN outside of it.
SOFTGPU_INLINE std::int32_t rank(std::uint32_t x) {
    const auto m = static_cast<std::int32_t>(x & 0x7FFF);
    return (x & 0x8000) != 0 ? ~m : m;
}
// The smaller or larger half. NaN loses against a number; of two it is the format's own.
template <class Half, bool Max>
SOFTGPU_INLINE std::uint32_t extreme(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t chosen = (rank(a) < rank(b)) != Max ? a : b;
    const bool nan_a = is_nan<Half>(a);
    const bool nan_b = is_nan<Half>(b);
    return nan_a && nan_b ? Half::nan : nan_a ? b : nan_b ? a : chosen;
}

// a * b + c as a double whose last bit is odd where it is not exact: rounding it to 51 bits or fewer then gives what
// rounding the exact result gives. The product of two halves is exact, and the error of the sum is found exactly
// (D. Knuth's two-sum): no magnitude here is near the ends of a double's range.
SOFTGPU_INLINE double fused_to_odd(double a, double b, double c) {
    const double p = a * b;
    const double s = p + c;
    const double t = s - p;
    const double error = (p - (s - t)) + (c - t);
    const auto bits = std::bit_cast<std::uint64_t>(s);
    const bool away = (error > 0) == (s > 0); // the exact result has the larger magnitude
    const std::uint64_t odd = (bits & 1) != 0 ? bits : away ? bits + 1 : bits - 1;
    const bool exact = error == 0 || error != error; // infinities and NaN make the error NaN
    return exact ? s : std::bit_cast<double>(odd);
}

} // namespace softgpu::machine::SOFTGPU_TARGET
