// SPDX-License-Identifier: MIT
// Minimum and maximum of floating-point numbers by IEEE 754-2019, without branches.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/portable.hpp"

namespace warpfold::detail {

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

// All comparisons come before the selections: compilers vectorise nothing else.
template <class T>
WARPFOLD_HD constexpr T smaller(T a, T b) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8,
                  "warpfold: minimum, maximum, arg_min, arg_max and min_max take float and double, and no long double");
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (sizeof(T) == 4) {
        float result;
        asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
        return result;
    }
#endif
#if !defined(__CUDA_ARCH__)
    // Each is one instruction of x86. They differ only for NaN, of which one is the result, and for zeros of both signs.
    const T first = a < b ? a : b, second = b < a ? b : a;
    return __builtin_bit_cast(T, __builtin_bit_cast(bits_of<T>, first) | __builtin_bit_cast(bits_of<T>, second));
#else
    const bool less = a < b, same = a == b, none = a != a;
    // Equal numbers differ at most in the sign of zero.
    const T equal = __builtin_bit_cast(T, __builtin_bit_cast(bits_of<T>, a) | __builtin_bit_cast(bits_of<T>, b));
    const T otherwise = same ? equal : b;
    const T chosen = less ? a : otherwise;
    return none ? a : chosen;
#endif
}

template <class T>
WARPFOLD_HD constexpr T larger(T a, T b) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8,
                  "warpfold: minimum, maximum, arg_min, arg_max and min_max take float and double, and no long double");
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (sizeof(T) == 4) {
        float result;
        asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
        return result;
    }
#endif
#if !defined(__CUDA_ARCH__)
    // As in smaller(). Of NaN all bits become 1, which is a NaN.
    const T first = b < a ? a : b, second = a < b ? b : a;
    const bits_of<T> nan = __builtin_isunordered(a, b) ? ~bits_of<T>{0} : bits_of<T>{0};
    return __builtin_bit_cast(T,
                              (__builtin_bit_cast(bits_of<T>, first) & __builtin_bit_cast(bits_of<T>, second)) | nan);
#else
    const bool more = b < a, same = a == b, none = a != a;
    const T equal = __builtin_bit_cast(T, __builtin_bit_cast(bits_of<T>, a) & __builtin_bit_cast(bits_of<T>, b));
    const T otherwise = same ? equal : b;
    const T chosen = more ? a : otherwise;
    return none ? a : chosen;
#endif
}

} // namespace warpfold::detail
