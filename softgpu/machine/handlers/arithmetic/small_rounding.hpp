// SPDX-License-Identifier: MIT
// Rounding to formats of 16 bits and fewer as cvt has it, for half_convert.cpp and packed_convert.cpp.
#pragma once

#include <cmath>
#include <cstdint>

#include "softgpu/machine/handlers/arithmetic/conversions.hpp"
#include "softgpu/machine/handlers/arithmetic/half_formats.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// Rounded as `how` says, with .sat, .relu and .satfinite.
template <class F>
SOFTGPU_INLINE std::uint32_t rounded_to(double x, std::uint32_t how) {
    if constexpr (!F::has_nan) { // .satfinite always
        const double most = widened<F>(F::nan);
        x = x != x || x > most ? most : x < -most ? -most : x;
    }
    if (F::fraction == 10 && F::least == -14 && (how & flushing) != 0 && magnitude_of(x) < 0x1p-14) {
        x = std::copysign(0.0, x);
    }
    std::uint32_t r = narrowed<F>(x);
    const auto mode = static_cast<round_to>(how & round_bits);
    if (mode != round_to::nearest && x == x) {
        const double near = widened<F>(r);
        const bool negative = (r & F::sign) != 0;
        const bool too_high = near > x && (mode == round_to::down || (mode == round_to::zero && !negative));
        const bool too_low = near < x && (mode == round_to::up || (mode == round_to::zero && negative));
        if (too_high || too_low) {
            r = too_high == negative ? r + 1 : r - 1; // away from zero, or towards it
        }
    }
    const bool nan = (r & (F::sign - 1)) > F::infinity || (!F::infinite && x != x);
    if ((how & saturating) != 0) {
        constexpr std::uint32_t one = static_cast<std::uint32_t>(1 - F::least) << F::fraction;
        return nan || (r & F::sign) != 0 ? 0 : r > one ? one : r;
    }
    if (nan) {
        return F::nan;
    }
    if ((how & keeping_finite) != 0 && (r & (F::sign - 1)) >= F::infinity) {
        r -= 1;
    }
    return (how & not_negative) != 0 && (r & F::sign) != 0 ? 0 : r;
}

// .rs: x where F has it, else one of F's two numbers beside it: the larger magnitude if adding `random` to the first
// `Bits` bits of what F drops carries.
template <class F, unsigned Bits>
SOFTGPU_INLINE double drawn(double x, std::uint32_t random) {
    const std::uint64_t exponent = std::bit_cast<std::uint64_t>(x) & 0x7FF0000000000000ull;
    if (exponent == 0x7FF0000000000000ull) {
        return x;
    }
    constexpr std::uint64_t least = static_cast<std::uint64_t>(1023 + F::least) << 52;
    const double unit =
        std::bit_cast<double>((exponent < least ? least : exponent) - (static_cast<std::uint64_t>(F::fraction) << 52));
    const double units = magnitude_of(x) / unit;
    const double whole = std::floor(units);
    constexpr double one = 1u << Bits;
    const bool away = std::floor((units - whole) * one) + static_cast<double>(random) >= one;
    return std::copysign((away ? whole + 1 : whole) * unit, x);
}

} // namespace softgpu::machine::SOFTGPU_TARGET
