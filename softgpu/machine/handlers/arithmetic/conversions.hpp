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

// The same for all lanes.
template <class T>
SOFTGPU_INLINE void make_integral(T* x, std::uint32_t how) {
    const auto each = [x](auto&& f) {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            x[l] = f(x[l]);
        }
    };
    switch (static_cast<round_to>(how & round_bits)) {
    case round_to::nearest: each([](T v) { return std::nearbyint(v); }); return;
    case round_to::zero: each([](T v) { return std::trunc(v); }); return;
    case round_to::down: each([](T v) { return std::floor(v); }); return;
    case round_to::up: each([](T v) { return std::ceil(v); }); return;
    }
}

// Of an integral value, or NaN. Loops over it become vector code.
template <class D, class S>
SOFTGPU_INLINE D bounded(S x) {
    // The first values beyond D, both exact in S.
    constexpr S above = static_cast<S>(std::uint64_t{1} << (std::numeric_limits<D>::digits - 1)) * 2;
    constexpr S least = std::is_signed_v<D> ? -above : S(0);
    // From single precision to 32 bits and fewer NaN is 0, else the top bit alone (PTX ISA 9.0, cvt).
    constexpr D of_nan =
        sizeof(S) == 4 && sizeof(D) <= 4 ? D(0) : static_cast<D>(std::make_unsigned_t<D>(1) << (8 * sizeof(D) - 1));
    using whole = std::conditional_t<sizeof(D) < 4, std::int32_t, D>;
    const bool fits = x >= least && x < above;
    const D inside = static_cast<D>(static_cast<whole>(fits ? x : S(0)));
    return fits ? inside : x >= above ? std::numeric_limits<D>::max() : x != x ? of_nan : std::numeric_limits<D>::min();
}

} // namespace softgpu::machine::SOFTGPU_TARGET
