// SPDX-License-Identifier: MIT
// The operations of reductions and scans, and what a user's operation may declare.
//
// An operation is a callable op(A, A) -> A that is associative and trivially copyable. Optional members:
//
//  template <class T> using accumulator = A;            the type in which elements of type T are folded; T by default
//  template <class A> static constexpr A identity();    op(identity, x) == op(x, identity) == x
//  static constexpr bool commutative = true;            elements may be folded in any order, which is faster
//
// std::plus, multiplies, bit_and, bit_or, bit_xor, logical_and and logical_or are recognised when they fold numbers:
// they commute, can be called on a GPU and have their identity (logical_and and logical_or for bool only).
// Floating-point sums and products count as associative, as with `sum`. std::plus<> folds in the type of the elements
// and std::plus<V> in V: unlike `sum`, neither widens integers, and integers wrap.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/device_lambda.hpp"
#include "warpfold/detail/floating.hpp"
#include "warpfold/detail/limits.hpp"
#include "warpfold/detail/portable.hpp"
#include "warpfold/detail/standard_operation.hpp"
#include "warpfold/float16.hpp"

namespace warpfold {

namespace detail {

// Integers of up to 64 bits are summed in 64 bits: a sum of 32-bit integers cannot overflow in memory of any size.
template <class T>
struct widened {
    using type = computed_t<T>;
};
template <class T>
requires(std::integral<T> && sizeof(T) <= 8) struct widened<T> {
    using type = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
};

} // namespace detail

// a + b. Integers are summed in 64 bits and wrap there, half and bfloat16 in float; other types are summed in themselves. A sum of no elements, or
// of zeros of both signs, is +0.
struct sum {
    template <class T>
    using accumulator = typename detail::widened<T>::type;
    static constexpr bool commutative = true;

    template <class A>
    WARPFOLD_HD static constexpr A identity() {
        return A{};
    }
    template <class A>
    WARPFOLD_HD constexpr A operator()(const A& a, const A& b) const {
        if constexpr (std::is_integral_v<A>) {
            using bits = std::make_unsigned_t<A>;
            return static_cast<A>(static_cast<bits>(a) + static_cast<bits>(b));
        } else {
            return a + b;
        }
    }
};

// a * b. Integers are multiplied in 64 bits and wrap there, half and bfloat16 in float; other types in themselves.
struct product {
    template <class T>
    using accumulator = typename detail::widened<T>::type;
    static constexpr bool commutative = true;

    template <class A>
    WARPFOLD_HD static constexpr A identity() {
        return A(1);
    }
    template <class A>
    WARPFOLD_HD constexpr A operator()(const A& a, const A& b) const {
        if constexpr (std::is_integral_v<A>) {
            using bits = std::make_unsigned_t<A>;
            return static_cast<A>(static_cast<bits>(a) * static_cast<bits>(b));
        } else {
            return a * b;
        }
    }
};

// The smaller value. Floating-point numbers follow minimum of IEEE 754-2019: the result is NaN if either operand is
// (which NaN is unspecified), and -0 is smaller than +0. half and bfloat16 are compared as floats. The identity is the
// largest value, infinity where the type has one.
struct minimum {
    template <class T>
    using accumulator = detail::computed_t<T>;
    static constexpr bool commutative = true;

    template <class A>
    WARPFOLD_HD static constexpr A identity() {
        return detail::limits_of<A>::largest;
    }
    template <class A>
    WARPFOLD_HD constexpr A operator()(const A& a, const A& b) const {
        if constexpr (std::is_floating_point_v<A>) {
            return detail::smaller(a, b);
        } else {
            return b < a ? b : a;
        }
    }
};

// The larger value, by the same rules.
struct maximum {
    template <class T>
    using accumulator = detail::computed_t<T>;
    static constexpr bool commutative = true;

    template <class A>
    WARPFOLD_HD static constexpr A identity() {
        return detail::limits_of<A>::smallest;
    }
    template <class A>
    WARPFOLD_HD constexpr A operator()(const A& a, const A& b) const {
        if constexpr (std::is_floating_point_v<A>) {
            return detail::larger(a, b);
        } else {
            return a < b ? b : a;
        }
    }
};

// Declares that a user's operation commutes.
template <class Op>
struct commutes : Op {
    WARPFOLD_HD explicit constexpr commutes(const Op& op) : Op(op) {}
};
template <class R, class... P>
struct commutes<R (*)(P...)> {
    WARPFOLD_HD explicit constexpr commutes(R (*function_)(P...)) : function(function_) {}
    WARPFOLD_HD constexpr R operator()(P... arguments) const { return function(arguments...); }

    R (*function)(P...);
};
template <class Op>
commutes(Op) -> commutes<Op>;

namespace detail {

template <class Op, class T>
struct accumulator_of {
    using type = T;
};
template <class Op, class T>
requires requires { typename Op::template accumulator<T>; }
struct accumulator_of<Op, T> {
    using type = typename Op::template accumulator<T>;
};
template <class Op, class T>
requires(!std::is_void_v<typename standard_operation<Op>::named>) struct accumulator_of<Op, T> {
    using type = typename standard_operation<Op>::named;
};

template <class Op>
inline constexpr bool is_commutative_v = false;
template <class Op>
requires requires {
    { Op::commutative } -> std::convertible_to<bool>;
}
inline constexpr bool is_commutative_v<Op> = Op::commutative;
template <class Op>
inline constexpr bool is_commutative_v<commutes<Op>> = true;
template <class Op>
inline constexpr bool is_device_lambda_v<commutes<Op>> = is_device_lambda_v<Op>;
template <class Op>
struct standard_operation<commutes<Op>> : standard_operation<Op> {};

template <class Op>
struct user_callable<commutes<Op>> : user_callable<Op> {};

template <class Op, class A>
concept has_identity = requires {
    { Op::template identity<A>() } -> std::convertible_to<A>;
};

} // namespace detail

// The type in which `Op` folds elements of type T.
template <class Op, class T>
using accumulator_t = typename detail::accumulator_of<Op, std::remove_cvref_t<T>>::type;

// A callable that folds elements of type T. Its accumulator is trivially copyable and default-constructible.
template <class Op, class T>
concept operation = std::is_trivially_copyable_v<accumulator_t<Op, T>> &&
    std::default_initializable<accumulator_t<Op, T>> &&
    (detail::is_device_lambda_v<Op> || requires(const Op& op, const accumulator_t<Op, T>& a) {
        { op(a, a) } -> std::convertible_to<accumulator_t<Op, T>>;
    });

} // namespace warpfold
