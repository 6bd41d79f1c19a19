// SPDX-License-Identifier: MIT
// What calls take as inputs and outputs: pointers, random access objects, ranges, C arrays.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

namespace warpfold {

template <std::integral I>
struct count_at;

} // namespace warpfold

namespace warpfold::detail {

template <class N>
inline constexpr bool is_count_at_v = false;
template <class I>
inline constexpr bool is_count_at_v<count_at<I>> = true;

// What a call takes as its number of elements.
template <class N>
concept element_count = std::integral<N> || is_count_at_v<N>;

// The type of in[k].
template <class In>
using element_t = std::remove_cvref_t<decltype(std::declval<const In&>()[std::uint64_t{}])>;

// A range that has data() and size(), or a C array.
template <class Range>
concept array_like = requires(const Range& r) {
    std::data(r);
    std::size(r);
};

// True for a C array followed by a number, as in reduce(on, array, n): it stands for its first n elements, as a pointer
// does.
template <class In, class... Rest>
inline constexpr bool counted_array_v = false;
template <class In, class First, class... Rest>
inline constexpr bool counted_array_v<In, First, Rest...> =
    std::is_array_v<In>&& element_count<std::remove_cvref_t<First>>;

// A C array as the pointer to its first element, anything else unchanged.
template <class X>
constexpr decltype(auto) decayed(X& x) {
    if constexpr (std::is_array_v<X>) {
        return static_cast<std::remove_extent_t<X>*>(x);
    } else {
        return (x);
    }
}

// data() of a range, anything else unchanged.
template <class X>
auto data_of(X& x) {
    if constexpr (array_like<X>) {
        return std::data(x);
    } else {
        return x;
    }
}

// A pointer or an iterator, and one to which a value of type R can be written.
template <class Out>
concept place = std::is_pointer_v<Out> || requires(const Out& out) {
    out.operator*();
};
template <class Out, class R>
concept place_for = place<Out> && requires(const Out& out, const R& value) {
    *out = value;
};

// A pointer or another object to whose elements values of type R can be written.
template <class Out, class R>
concept places_for = requires(const Out& out, const R& value) {
    out[std::uint64_t{}] = value;
};

} // namespace warpfold::detail
