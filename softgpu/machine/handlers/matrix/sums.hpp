// SPDX-License-Identifier: MIT
// Sums of products as tensor cores form them, for 8 or 16 rows of a matrix at once. Products are exact. They and the
// accumulator are shifted to the largest exponent among them, truncated there, and added exactly; then the sum is rounded
// once. Found on an H200 (docs/tensor-cores.md).
#pragma once

#include "softgpu/machine/handlers/arithmetic/half_formats.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// All factors are kept with a significand of 11 bits: value = significand * 2^(exponent - 10).
constexpr int factor_fraction = 10;
constexpr int float_fraction = 23;
// Of a zero: below every other exponent, so that it is never the largest.
constexpr std::int32_t no_exponent = -1000;

template <class Format>
SOFTGPU_INLINE bool is_finite(std::uint32_t x) {
    const std::uint32_t m = x & (Format::sign - 1);
    return Format::infinite ? m < Format::infinity : m != Format::nan;
}

// Splits a finite number.
template <class Format>
SOFTGPU_INLINE void split_factor(std::uint32_t x, std::int32_t& significand, std::int32_t& exponent) {
    const std::uint32_t m = x & (Format::sign - 1);
    const auto biased = static_cast<std::int32_t>(m >> Format::fraction);
    const std::uint32_t fraction = m & ((1u << Format::fraction) - 1);
    const auto whole = static_cast<std::int32_t>((fraction | (biased != 0 ? 1u << Format::fraction : 0u))
                                                 << (factor_fraction - Format::fraction));
    significand = (x & Format::sign) != 0 ? -whole : whole;
    exponent = m == 0 ? no_exponent : (biased != 0 ? biased - 1 : 0) + Format::least;
}

SOFTGPU_INLINE void split_float(std::uint32_t x, std::int32_t& significand, std::int32_t& exponent) {
    const std::uint32_t m = x & 0x7FFFFFFF;
    const auto biased = static_cast<std::int32_t>(m >> float_fraction);
    const auto whole = static_cast<std::int32_t>((m & 0x7FFFFF) | (biased != 0 ? 0x800000u : 0u));
    significand = (x >> 31) != 0 ? -whole : whole;
    exponent = m == 0 ? no_exponent : (biased != 0 ? biased - 1 : 0) - 126;
}

// x * 2^up, truncated toward zero after a shift right.
template <int Up>
SOFTGPU_INLINE std::int32_t aligned(std::int32_t x, std::int32_t shift) {
    const std::int32_t sign = x >> 31;
    std::uint32_t magnitude = static_cast<std::uint32_t>((x ^ sign) - sign);
    std::int32_t right = shift;
    if constexpr (Up >= 0) {
        magnitude <<= Up;
    } else {
        right -= Up;
    }
    right = right < 31 ? right : 31;
    return (static_cast<std::int32_t>(magnitude >> right) ^ sign) - sign;
}

// A double as a float, truncated; infinite from 2^128 on.
SOFTGPU_INLINE float truncated(double x) {
    const auto nearest = static_cast<float>(x);
    const double back = nearest;
    const double size = magnitude_of(x);
    const bool away = magnitude_of(back) > size && size < 0x1p128;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(nearest) - (away ? 1u : 0u));
}

// The largest exponent is not taken as less: below it, sums of tiny products lose more.
constexpr std::int32_t least_largest = -133;

// Bits that are kept below the largest exponent; wgmma of fp8 keeps fewer.
constexpr int sum_fraction = 25;
constexpr int short_sum_fraction = 13;

// Rows of one column: sums[m] = c[m] + the sum of a[k][m] * b[k] over up to 16 terms, or 32 of few bits, as a double that is
// exact.
template <unsigned Rows, int Fraction = sum_fraction>
SOFTGPU_INLINE void sum_products(const std::int32_t* a, const std::int32_t* ea, const std::int32_t* b,
                                 const std::int32_t* eb, unsigned terms, const std::int32_t* c, const std::int32_t* ec,
                                 double* sums) {
    alignas(64) std::int32_t largest[Rows];
    alignas(64) std::int32_t half[2][Rows]; // 16 products may exceed 32 bits
    SOFTGPU_LANES
    for (unsigned m = 0; m < Rows; ++m) {
        largest[m] = ec[m] > least_largest ? ec[m] : least_largest;
    }
    for (unsigned k = 0; k < terms; ++k) {
        SOFTGPU_LANES
        for (unsigned m = 0; m < Rows; ++m) {
            const std::int32_t e = ea[k * Rows + m] + eb[k];
            largest[m] = largest[m] > e ? largest[m] : e;
        }
    }
    SOFTGPU_LANES
    for (unsigned m = 0; m < Rows; ++m) {
        half[0][m] = aligned<Fraction - float_fraction>(c[m], largest[m] - ec[m]);
        half[1][m] = 0;
    }
    for (unsigned k = 0; k < terms; ++k) {
        std::int32_t* const to = half[k / 8 & 1];
        SOFTGPU_LANES
        for (unsigned m = 0; m < Rows; ++m) {
            to[m] +=
                aligned<Fraction - 2 * factor_fraction>(a[k * Rows + m] * b[k], largest[m] - ea[k * Rows + m] - eb[k]);
        }
    }
    SOFTGPU_LANES
    for (unsigned m = 0; m < Rows; ++m) {
        const std::int64_t exponent = largest[m] > -700 ? largest[m] : -700;
        const double unit = std::bit_cast<double>(static_cast<std::uint64_t>(exponent - Fraction + 1023) << 52);
        sums[m] = (static_cast<double>(half[0][m]) + static_cast<double>(half[1][m])) * unit;
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
