// SPDX-License-Identifier: MIT
// The smallest and the largest element as one reduction.
#pragma once

#include "warpfold/detail/portable.hpp"
#include "warpfold/operation.hpp"

namespace warpfold {

template <class T>
struct extremes {
    T smallest;
    T largest;
};

namespace detail {

template <class T>
struct extremes_map {
    WARPFOLD_HD constexpr extremes<T> operator()(const T& x) const { return {x, x}; }
};

struct extremes_operation {
    static constexpr bool commutative = true;

    template <class E>
    WARPFOLD_HD static constexpr E identity() {
        using T = decltype(E::smallest);
        return {minimum::identity<T>(), maximum::identity<T>()};
    }
    template <class E>
    WARPFOLD_HD constexpr E operator()(const E& a, const E& b) const {
        return {minimum{}(a.smallest, b.smallest), maximum{}(a.largest, b.largest)};
    }
};

} // namespace detail

} // namespace warpfold
