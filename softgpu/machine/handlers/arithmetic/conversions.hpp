// SPDX-License-Identifier: MIT
// Rounding of conversions, and conversion to integers, for convert.cpp and half_convert.cpp.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "softgpu/machine/handlers/arithmetic/floats.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// Rounding of a conversion, from the suffixes; kept in `more` by the decoder.
enum class round_to : std::uint32_t { nearest = 0, zero = 1, down = 2, up = 3 };
enum : std::uint32_t {
    round_bits = 3,
    to_integral = 4,
    saturating = 8,
    flushing = 16,
    not_negative = 32,   // .relu
    keeping_finite = 64, // .satfinite
    ties_away = 128,     // .rna
};

template <class T>
SOFTGPU_INLINE T integral(T x, std::uint32_t how) {
    switch (static_cast<round_to>(how & round_bits)) {
    case round_to::nearest: return std::nearbyint(x);
    case round_to::zero: return std::trunc(x);
    case round_to::down: return std::floor(x);
    case round_to::up: return std::ceil(x);
    }
    return x;
}

inline int host_mode(std::uint32_t how) {
    switch (static_cast<round_to>(how & round_bits)) {
    case round_to::nearest: return FE_TONEAREST;
    case round_to::zero: return FE_TOWARDZERO;
    case round_to::down: return FE_DOWNWARD;
    case round_to::up: return FE_UPWARD;
    }
    return FE_TONEAREST;
}

template <class D, class S>
D float_to_int(S x, std::uint32_t how) {
    if constexpr (sizeof(S) == 4) {
        if ((how & flushing) != 0) {
            x = flush(x);
        }
    }
    if (x != x) {
        // From single precision to 32 bits and fewer it is 0, else the top bit alone (PTX ISA 9.0, cvt).
        return sizeof(S) == 4 && sizeof(D) <= 4 ? D(0)
                                                : static_cast<D>(std::make_unsigned_t<D>(1) << (8 * sizeof(D) - 1));
    }
    const S r = integral(x, how);
    // The first values beyond D, both exact in S.
    const S above = std::ldexp(S(1), std::numeric_limits<D>::digits);
    if (r >= above) {
        return std::numeric_limits<D>::max();
    }
    if (r < (std::is_signed_v<D> ? -above : S(0))) {
        return std::numeric_limits<D>::min();
    }
    return static_cast<D>(r);
}

} // namespace softgpu::machine::SOFTGPU_TARGET
