// SPDX-License-Identifier: MIT
// Maps and arrays of one part of an array, a rank's or a chunk, as the engines get them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/device_lambda.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/portable.hpp"

namespace warpfold::detail {

// `map` with the index in the whole array: that in the part, plus `first`; backwards, `first` minus that in the part.
template <class Map, bool Backwards = false>
struct shifted_map {
    WARPFOLD_CALLS_ANY
    template <class T>
    WARPFOLD_HD constexpr auto operator()(const T& x, std::uint64_t index) const -> typename map_result<Map, T>::type {
        return detail::mapped(map, x, Backwards ? first - index : first + index);
    }

    Map map;
    std::uint64_t first;
};
template <class Map, bool Backwards>
struct user_callable<shifted_map<Map, Backwards>> : user_callable<Map> {};

// True if the map takes an index, or may do so: the host cannot know it of a lambda with __device__ alone.
template <class Map, class T>
inline constexpr bool takes_index_v =
    is_device_lambda_v<Map> || std::is_invocable_v<const Map&, const T&, std::uint64_t>;
template <class Map, class A, class T>
inline constexpr bool takes_index_v<optional_map<Map, A>, T> = takes_index_v<Map, T>;
template <class Predicate, class T>
inline constexpr bool takes_index_v<count_map<Predicate>, T> = takes_index_v<Predicate, T>;

// The map of the elements from the `first` one of the whole array on, which are `T`s.
template <class T, class Map>
auto map_from(const Map& map, std::uint64_t first) {
    if constexpr (takes_index_v<Map, T>) {
        return shifted_map<Map>{map, first};
    } else {
        return map;
    }
}

// Elements from `first` on: a pointer of a pointer.
template <class X>
struct elements_from {
    WARPFOLD_HD constexpr decltype(auto) operator[](std::uint64_t k) const { return x[first + k]; }

    X x;
    std::uint64_t first;
};
template <class X>
auto from_element(const X& x, std::uint64_t first) {
    if constexpr (std::is_pointer_v<X>) {
        return first == 0 ? x : x + first;
    } else {
        return elements_from<X>{x, first};
    }
}

// Elements from `last` down.
template <class X>
struct elements_down {
    WARPFOLD_HD constexpr decltype(auto) operator[](std::uint64_t k) const { return x[last - k]; }

    X x;
    std::uint64_t last;
};

} // namespace warpfold::detail
