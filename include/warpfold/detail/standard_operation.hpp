// SPDX-License-Identifier: MIT
// Operations of <functional> on numbers, such as std::plus<>, as operations of the library: they declare that they
// commute and their identity, and can be called on a device.
#pragma once

#include <cstddef>
#include <type_traits>

// The part of the GNU library that has them, which <string> includes: all of <functional> compiles slowly.
#if defined(__GLIBCXX__) && __has_include(<bits/stl_function.h>)
#include <bits/stl_function.h>
#else
#include <functional>
#endif

#include "warpfold/detail/device_lambda.hpp"
#include "warpfold/detail/portable.hpp"

namespace warpfold {

struct sum;
struct product;

namespace detail {

struct and_bits {
    static constexpr bool commutative = true;

    template <class A>
    WARPFOLD_HD static constexpr A identity() {
        return static_cast<A>(~A{});
    }
    template <class A>
    WARPFOLD_HD constexpr A operator()(const A& a, const A& b) const {
        return static_cast<A>(a & b);
    }
};
struct or_bits {
    static constexpr bool commutative = true;

    template <class A>
    WARPFOLD_HD static constexpr A identity() {
        return A{};
    }
    template <class A>
    WARPFOLD_HD constexpr A operator()(const A& a, const A& b) const {
        return static_cast<A>(a | b);
    }
};
struct xor_bits {
    static constexpr bool commutative = true;

    template <class A>
    WARPFOLD_HD static constexpr A identity() {
        return A{};
    }
    template <class A>
    WARPFOLD_HD constexpr A operator()(const A& a, const A& b) const {
        return static_cast<A>(a ^ b);
    }
};

// The result is 0 or 1, so only bool has an identity.
struct both {
    static constexpr bool commutative = true;

    template <class A>
    requires std::is_same_v<A, bool> WARPFOLD_HD static constexpr A identity() { return true; }
    template <class A>
    WARPFOLD_HD constexpr A operator()(const A& a, const A& b) const {
        return static_cast<A>(static_cast<bool>(a) && static_cast<bool>(b));
    }
};
struct either {
    static constexpr bool commutative = true;

    template <class A>
    requires std::is_same_v<A, bool> WARPFOLD_HD static constexpr A identity() { return false; }
    template <class A>
    WARPFOLD_HD constexpr A operator()(const A& a, const A& b) const {
        return static_cast<A>(static_cast<bool>(a) || static_cast<bool>(b));
    }
};

// What replaces an operation: `OfNumbers`, or `OfTruth` for bool. `V` is the type that the operation names, or void.
template <class V, class OfNumbers, class OfTruth>
struct stands_for {
    using named = V;
    using of_numbers = OfNumbers;
    using of_truth = OfTruth;
};
template <class Op>
struct standard_operation {};
template <class V>
struct standard_operation<std::plus<V>> : stands_for<V, sum, either> {};
template <class V>
struct standard_operation<std::multiplies<V>> : stands_for<V, product, both> {};
template <class V>
struct standard_operation<std::bit_and<V>> : stands_for<V, and_bits, both> {};
template <class V>
struct standard_operation<std::bit_or<V>> : stands_for<V, or_bits, either> {};
template <class V>
struct standard_operation<std::bit_xor<V>> : stands_for<V, xor_bits, xor_bits> {};
template <class V>
struct standard_operation<std::logical_and<V>> : stands_for<V, both, both> {};
template <class V>
struct standard_operation<std::logical_or<V>> : stands_for<V, either, either> {};

// `Op` itself, or its replacement if it folds in the arithmetic type A.
template <class Op, class A>
struct resolved_operation {
    using type = stored_callable_t<Op>;
};
template <class Op, class A>
requires(std::is_arithmetic_v<A>&& std::is_invocable_v<const Op&, const A&, const A&>&& requires {
    typename standard_operation<Op>::of_numbers;
}) struct resolved_operation<Op, A> {
    using type = std::conditional_t<std::is_same_v<A, bool>, typename standard_operation<Op>::of_truth,
                                    typename standard_operation<Op>::of_numbers>;
};
template <class Op, class A>
using resolved_operation_t = typename resolved_operation<Op, A>::type;

template <class A, class Op>
constexpr resolved_operation_t<Op, A> resolve(const Op& op) {
    if constexpr (std::is_same_v<resolved_operation_t<Op, A>, stored_callable_t<Op>>) {
        return op;
    } else {
        return {};
    }
}

} // namespace detail
} // namespace warpfold
