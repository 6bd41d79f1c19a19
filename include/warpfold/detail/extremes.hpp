// SPDX-License-Identifier: MIT
// The smallest and the largest element as one reduction.
#pragma once

#include <type_traits>

#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/portable.hpp"
#include "warpfold/float16.hpp"
#include "warpfold/operation.hpp"

namespace warpfold {

template <class T>
struct extremes {
    T smallest;
    T largest;
};

namespace detail {

// Elements of type T are compared as this type.
template <class T>
struct extremes_map {
    using number = computed_t<T>;

    WARPFOLD_HD constexpr extremes<number> operator()(const T& x) const {
        return {static_cast<number>(x), static_cast<number>(x)};
    }
};
template <class T>
using folded_extremes = extremes<computed_t<T>>;

// 16-bit numbers again, exactly.
template <class T>
struct narrowed_extremes {
    WARPFOLD_HD constexpr extremes<T> operator()(const folded_extremes<T>& of) const {
        return {static_cast<T>(of.smallest), static_cast<T>(of.largest)};
    }
};
template <class T>
using extremes_result = std::conditional_t<is_float16_v<T>, narrowed_extremes<T>, identity_result>;

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
