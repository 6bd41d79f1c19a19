// SPDX-License-Identifier: MIT
// What a reduction is made of, the same for every target: where an element comes from, what becomes of it before it is
// folded, and an operation that has an identity, also where the user's has none.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "warpfold/detail/device_lambda.hpp"
#include "warpfold/detail/portable.hpp"
#include "warpfold/operation.hpp"

namespace warpfold::detail {

template <class In>
using element_t = std::remove_cvref_t<decltype(std::declval<const In&>()[std::uint64_t{}])>;

// A C array with a number behind it, as in reduce(on, array, n), means its first n elements, as a pointer does.
template <class In, class... Rest>
inline constexpr bool counted_array_v = false;
template <class In, class First, class... Rest>
inline constexpr bool counted_array_v<In, First, Rest...> =
    std::is_array_v<In> && std::is_integral_v<std::remove_cvref_t<First>>;

// A C array as the pointer to its first element, anything else as it is.
template <class X>
constexpr decltype(auto) decayed(X& x) {
    if constexpr (std::is_array_v<X>) {
        return static_cast<std::remove_extent_t<X>*>(x);
    } else {
        return (x);
    }
}

// The element as it stands.
struct as_it_is {
    template <class T>
    WARPFOLD_HD constexpr const T& operator()(const T& x) const {
        return x;
    }
};

// map(x), or map(x, index) where it asks for the index.
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
concept maps = requires { typename map_result<Map, element_t<In>>::type; };

template <class In, class Map>
using mapped_t = typename map_result<Map, element_t<In>>::type;

template <class R>
struct need_result {
    static_assert(!std::is_void_v<R>, "the map returns nothing: what is folded is what it returns");
    static_assert(
        !std::is_same_v<R, unknown_result>,
        "the host cannot know what this __device__ lambda returns: write its type, [] __device__ (float x) -> "
        "double {...}");
};

template <class Op, class A>
struct need_operation {
    static_assert(is_device_lambda_v<Op> || std::is_invocable_r_v<A, const Op&, const A&, const A&>,
                  "the operation, which comes before an initial value and all other options, cannot be called as "
                  "op(a, b) of two values, or gives no such value");
};

// A value that may not be there.
template <class A>
struct possible {
    A value;
    bool there;
};

// `Op` on possible values: what is not there changes nothing. It has an identity whatever `Op` has.
template <class Op>
struct lifted {
    static constexpr bool commutative = is_commutative_v<Op>;

    template <class P>
    WARPFOLD_HD static constexpr P identity() {
        return P{};
    }
    WARPFOLD_CALLS_ANY
    template <class A>
    WARPFOLD_HD constexpr possible<A> operator()(const possible<A>& a, const possible<A>& b) const {
        if (!a.there) {
            return b;
        }
        return b.there ? possible<A>{static_cast<A>(op(a.value, b.value)), true} : a;
    }

    Op op;
};

template <class Op>
struct given<lifted<Op>> : given<Op> {};

// map, and then a possible value of it.
template <class Map, class A>
struct lifted_map {
    WARPFOLD_CALLS_ANY
    template <class T>
    WARPFOLD_HD constexpr possible<A> operator()(const T& x, std::uint64_t index) const {
        return {static_cast<A>(detail::mapped(map, x, index)), true};
    }

    Map map;
};
template <class Map, class A>
struct given<lifted_map<Map, A>> : given<Map> {};

// A target's part of every reduction: folds n elements of `in`, after `map`, by `op`, which has an identity, and
// applies `result` to the value.
//   value<A>(on, in, n, map, op, result, call) -> the result, when it is there
//   into<A>(on, in, n, map, op, result, out, call)   *out = the result, in the order of the target
template <class On>
struct reduce_engine;

} // namespace warpfold::detail
