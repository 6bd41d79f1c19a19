// SPDX-License-Identifier: MIT
// What reductions are made of, for every target: maps, operations, and values for operations without an identity.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/device_lambda.hpp"
#include "warpfold/detail/portable.hpp"
#include "warpfold/operation.hpp"

namespace warpfold::detail {

// The map of calls without one.
struct identity_map {
    template <class T>
    WARPFOLD_HD constexpr const T& operator()(const T& x) const {
        return x;
    }
};

// map(x, index) if the map can be called so, else map(x).
WARPFOLD_CALLS_ANY
template <class Map, class T>
WARPFOLD_HD constexpr decltype(auto) mapped(const Map& map, const T& x, std::uint64_t index) {
    if constexpr (std::is_invocable_v<const Map&, const T&, std::uint64_t>) {
        return map(x, index);
    } else {
        return map(x);
    }
}

template <class Map, class In>
concept maps = requires {
    typename map_result<Map, element_t<In>>::type;
};

template <class In, class Map>
using mapped_t = typename map_result<Map, element_t<In>>::type;

template <class R>
struct require_result {
    static_assert(!std::is_void_v<R>, "the map returns nothing: what is folded is what it returns");
    static_assert(
        !std::is_same_v<R, unknown_result>,
        "the host cannot know what this __device__ lambda returns: write its type, [] __device__ (float x) -> "
        "double {...}");
};

template <class Op, class A>
struct require_operation {
    static_assert(is_device_lambda_v<Op> || std::is_invocable_r_v<A, const Op&, const A&, const A&>,
                  "the operation, which comes before an initial value and all other options, cannot be called as "
                  "op(a, b) of two values, or gives no such value");
};

// A value that may be missing.
template <class A>
struct optional_value {
    A value;
    bool has_value;
};

// `Op` on optional values; a missing value changes nothing, so it is the identity.
template <class Op>
struct optional_operation {
    static constexpr bool commutative = is_commutative_v<Op>;

    template <class P>
    WARPFOLD_HD static constexpr P identity() {
        return P{};
    }
    WARPFOLD_CALLS_ANY
    template <class A>
    WARPFOLD_HD constexpr optional_value<A> operator()(const optional_value<A>& a, const optional_value<A>& b) const {
        if (!a.has_value) {
            return b;
        }
        return b.has_value ? optional_value<A>{static_cast<A>(op(a.value, b.value)), true} : a;
    }

    Op op;
};

template <class Op>
struct user_callable<optional_operation<Op>> : user_callable<Op> {};

// `map`, as an optional value.
template <class Map, class A>
struct optional_map {
    WARPFOLD_CALLS_ANY
    template <class T>
    WARPFOLD_HD constexpr optional_value<A> operator()(const T& x, std::uint64_t index) const {
        return {static_cast<A>(detail::mapped(map, x, index)), true};
    }

    Map map;
};
template <class Map, class A>
struct user_callable<optional_map<Map, A>> : user_callable<Map> {};

// The same for a map that takes no index.
template <class Map, class A>
struct present_map {
    WARPFOLD_CALLS_ANY
    template <class T>
    WARPFOLD_HD constexpr optional_value<A> operator()(const T& x) const {
        return {static_cast<A>(map(x)), true};
    }

    Map map;
};
template <class Map, class A>
struct user_callable<present_map<Map, A>> : user_callable<Map> {};

template <class In, class Op>
using fold_t = accumulator_t<Op, element_t<In>>;

struct identity_result {
    template <class A>
    WARPFOLD_HD constexpr A operator()(const A& total) const {
        return total;
    }
};

template <class Op, class A>
struct with_initial {
    WARPFOLD_CALLS_ANY
    WARPFOLD_HD constexpr A operator()(const A& total) const { return op(initial, total); }
    WARPFOLD_CALLS_ANY
    WARPFOLD_HD constexpr A operator()(const optional_value<A>& total) const {
        return total.has_value ? static_cast<A>(op(initial, total.value)) : initial;
    }

    Op op;
    A initial;
};

// Types with assertions: compilers report these before other errors of a call.
template <class Op, class A>
struct require_identity {
    static_assert(has_identity<resolved_operation_t<Op, A>, A>,
                  "this operation has no identity: give an initial value as the last argument");
};

template <class Predicate>
struct count_map {
    WARPFOLD_CALLS_ANY
    template <class T>
    WARPFOLD_HD constexpr std::uint64_t operator()(const T& x, std::uint64_t index) const {
        return detail::mapped(predicate, x, index) ? 1 : 0;
    }

    Predicate predicate;
};
template <class Predicate>
struct user_callable<count_map<Predicate>> : user_callable<Predicate> {};

} // namespace warpfold::detail
