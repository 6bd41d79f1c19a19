// SPDX-License-Identifier: MIT
// The 16-bit formats of float16.hpp as results of exact sums, and elements of other types as terms.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/device_lambda.hpp"
#include "warpfold/detail/exact/exact_integer.hpp"
#include "warpfold/detail/portable.hpp"
#include "warpfold/float16.hpp"

namespace warpfold::detail {

template <>
struct ieee<half> {
    using bits = std::uint16_t;
    static constexpr int fraction = 10;
    static constexpr int lowest = -24;
    static constexpr int highest = 16;
    static constexpr unsigned special = 31;
};
template <>
struct ieee<bfloat16> {
    using bits = std::uint16_t;
    static constexpr int fraction = 7;
    static constexpr int lowest = -133;
    static constexpr int highest = 128;
    static constexpr unsigned special = 255;
};

// An array whose elements are converted to T.
template <class T, class In>
struct converted_elements {
    WARPFOLD_CALLS_ANY
    WARPFOLD_HD T operator[](std::uint64_t k) const {
        return static_cast<T>(static_cast<computed_t<element_t<In>>>(in[k]));
    }

    In in;
};
template <class T, class In>
auto converted(const In& in) {
    if constexpr (std::is_same_v<element_t<In>, T>) {
        return in;
    } else {
        return converted_elements<T, In>{in};
    }
}

} // namespace warpfold::detail
