// SPDX-License-Identifier: MIT
// What a reduction is made of, the same for every target: where an element comes from, what becomes of it before it is
// folded, and an operation that has an identity, also where the user's has none.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/device_lambda.hpp"
#include "warpfold/detail/portable.hpp"
#include "warpfold/operation.hpp"

namespace warpfold::detail {

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
concept maps = requires {
    typename map_result<Map, element_t<In>>::type;
};

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

template <class In, class Op>
using fold_t = accumulator_t<Op, element_t<In>>;

struct unchanged {
    template <class A>
    WARPFOLD_HD constexpr A operator()(const A& total) const {
        return total;
    }
};

template <class Op, class A>
struct behind_initial {
    WARPFOLD_CALLS_ANY
    WARPFOLD_HD constexpr A operator()(const A& total) const { return op(initial, total); }
    WARPFOLD_CALLS_ANY
    WARPFOLD_HD constexpr A operator()(const possible<A>& total) const {
        return total.there ? static_cast<A>(op(initial, total.value)) : initial;
    }

    Op op;
    A initial;
};

// Types, whose assertions compilers look at before the rest of a call.
template <class Op, class A>
struct need_identity {
    static_assert(has_identity<known_operation_t<Op, A>, A>,
                  "this operation has no identity: give an initial value as the last argument");
};

template <class Predicate>
struct as_count {
    WARPFOLD_CALLS_ANY
    template <class T>
    WARPFOLD_HD constexpr std::uint64_t operator()(const T& x, std::uint64_t index) const {
        return detail::mapped(predicate, x, index) ? 1 : 0;
    }

    Predicate predicate;
};
template <class Predicate>
struct given<as_count<Predicate>> : given<Predicate> {};

} // namespace warpfold::detail
