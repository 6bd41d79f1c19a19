// SPDX-License-Identifier: MIT
// Minimum and maximum of floating-point numbers as IEEE 754-2019 has them, without a branch.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/portable.hpp"

namespace warpfold::detail {

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
WARPFOLD_HD constexpr T smaller(T a, T b) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "float and double");
    // Equal numbers differ at most in the sign of zero.
    const T equal = __builtin_bit_cast(T, __builtin_bit_cast(bits_of<T>, a) | __builtin_bit_cast(bits_of<T>, b));
    const T chosen = a < b ? a : (a == b ? equal : b);
    return a != a ? a : chosen;
}

template <class T>
WARPFOLD_HD constexpr T larger(T a, T b) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "float and double");
    const T equal = __builtin_bit_cast(T, __builtin_bit_cast(bits_of<T>, a) & __builtin_bit_cast(bits_of<T>, b));
    const T chosen = b < a ? a : (a == b ? equal : b);
    return a != a ? a : chosen;
}

} // namespace warpfold::detail
