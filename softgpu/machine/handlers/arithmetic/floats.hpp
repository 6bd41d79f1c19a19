// SPDX-License-Identifier: MIT
// Floating-point details that C++ does not have: flush to zero, saturation, directed rounding, PTX's min and max.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <type_traits>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "softgpu/machine/code/form.hpp"
#include "softgpu/machine/handlers/lanes.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

template <class T>
using bits_of =
    std::conditional_t<sizeof(T) == 8, std::uint64_t, std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;

// .ftz: a subnormal becomes a zero of its sign.
SOFTGPU_INLINE float flush(float x) {
    const auto b = std::bit_cast<std::uint32_t>(x);
    return (b & 0x7F800000u) == 0 ? std::bit_cast<float>(b & 0x80000000u) : x;
}
SOFTGPU_INLINE double flush(double x) {
    const auto b = std::bit_cast<std::uint64_t>(x);
    return (b & 0x7FF0000000000000u) == 0 ? std::bit_cast<double>(b & 0x8000000000000000u) : x;
}

// A NaN that single precision computes is always this one (CUDA C++ Programming Guide, "Floating-Point Standard").
SOFTGPU_INLINE float canonical(float x) { return x != x ? std::bit_cast<float>(0x7FFFFFFFu) : x; }
SOFTGPU_INLINE double canonical(double x) { return x; }

// Whether a result is less than the least normal number when rounded as if exponents had no end, which is what .ftz
// asks: `scaled` is the same operation's result times 2^64. Only a result that was rounded up to that number needs it.
SOFTGPU_INLINE float flush_rounded(float r, float scaled) {
    const auto b = std::bit_cast<std::uint32_t>(r);
    const bool least = (b & 0x7FFFFFFFu) == 0x00800000u;
    const bool tiny = (std::bit_cast<std::uint32_t>(scaled) & 0x7FFFFFFFu) < 0x20800000u; // 2^-62
    return flush(std::bit_cast<float>(least && tiny ? b & 0x80000000u : b));
}

// .sat: clamped to [0, 1], NaN to +0.
template <class T>
SOFTGPU_INLINE T saturate(T x) {
    return x > T(0) ? (x < T(1) ? x : T(1)) : T(0);
}

// NaN loses against a number, and -0 is less than +0.
template <class T>
SOFTGPU_INLINE T smaller(T a, T b) {
    const T equal =
        std::bit_cast<T>(static_cast<bits_of<T>>(std::bit_cast<bits_of<T>>(a) | std::bit_cast<bits_of<T>>(b)));
    const T r = a < b ? a : b < a ? b : equal;
    return a != a ? b : b != b ? a : r;
}
template <class T>
SOFTGPU_INLINE T larger(T a, T b) {
    const T equal =
        std::bit_cast<T>(static_cast<bits_of<T>>(std::bit_cast<bits_of<T>>(a) & std::bit_cast<bits_of<T>>(b)));
    const T r = a > b ? a : b > a ? b : equal;
    return a != a ? b : b != b ? a : r;
}

// Runs f, which reads its operands from memory and writes its results to memory, in a rounding mode of <cfenv>.
template <class F>
SOFTGPU_INLINE void rounded(int mode, F&& f) {
#ifdef __SSE2__
    // Only of vector instructions: f uses no others. Loads and stores, and so what is between them, stay inside.
    const unsigned before = _mm_getcsr();
    _mm_setcsr((before & ~_MM_ROUND_MASK) | static_cast<unsigned>(mode) << 3);
    asm volatile("" ::: "memory");
    f();
    asm volatile("" ::: "memory");
    _mm_setcsr(before);
#else
    const int before = std::fegetround();
    std::fesetround(mode);
    f();
    std::fesetround(before);
#endif
}

// The host's mode for .rz, .rm, .rp; -1: to nearest even.
inline int directed_mode(const form& f) {
    if (f.has(ptx::suffix::rz)) {
        return FE_TOWARDZERO;
    }
    if (f.has(ptx::suffix::rm)) {
        return FE_DOWNWARD;
    }
    if (f.has(ptx::suffix::rp)) {
        return FE_UPWARD;
    }
    return -1;
}

} // namespace softgpu::machine::SOFTGPU_TARGET
