// SPDX-License-Identifier: MIT
// What calls take as inputs and outputs: pointers, random access objects, ranges, C arrays.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include "warpfold/detail/device_lambda.hpp"
#include "warpfold/detail/portable.hpp"

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
concept sized_range = requires(const Range& r) {
    std::data(r);
    std::size(r);
};

// pointer_of<It>::of(it) is the pointer for which a contiguous iterator stands (thrust.cuh adds those of Thrust).
template <class It>
struct pointer_of {};
template <class It>
requires(std::is_class_v<It>&& std::contiguous_iterator<It>) struct pointer_of<It> {
    static auto of(const It& it) { return std::to_address(it); }
};
template <class It>
concept pointer_like = requires(const It& it) {
    pointer_of<std::remove_cv_t<It>>::of(it);
};

// An iterator whose elements are of another type than what it[k] gives: a tuple of references, an object in the place of
// a reference.
template <class It>
concept proxy_iterator = std::is_class_v<It> && !pointer_like<It> && requires {
    typename It::iterator_category;
    typename It::value_type;
    requires !std::is_same_v<typename It::value_type, element_t<It>>;
};

// Its elements as values.
template <class It>
struct iterator_elements {
    WARPFOLD_CALLS_ANY
    WARPFOLD_HD typename It::value_type operator[](std::uint64_t k) const {
        return static_cast<typename It::value_type>(it[static_cast<typename It::difference_type>(k)]);
    }

    It it;
};

// An iterator with elements of its value_type, whose index has a sign: of a std::deque, a std::reverse_iterator.
template <class It>
concept signed_iterator = std::is_class_v<It> && !pointer_like<It> && !proxy_iterator<It> && requires {
    typename It::iterator_category;
    requires std::signed_integral<typename It::difference_type>;
};

// The same elements, with an index that has none: a conversion would be a warning in the user's program.
template <class It>
struct iterator_places {
    WARPFOLD_CALLS_ANY
    WARPFOLD_HD decltype(auto) operator[](std::uint64_t k) const {
        return it[static_cast<typename It::difference_type>(k)];
    }
    WARPFOLD_CALLS_ANY
    WARPFOLD_HD decltype(auto) operator*() const { return *it; }

    It it;
};

// What stands for a pointer or an object with [k] where a number of elements follows: a C array, an iterator.
template <class X>
concept decays = std::is_array_v<X> || pointer_like<X> || proxy_iterator<X> || signed_iterator<X>;

// What calls do not take as it is: a range, or what decays.
template <class X>
concept array_like = sized_range<X> || decays<X>;
// The same for outputs.
template <class X>
concept output_like = sized_range<X> || pointer_like<X>;

// True for what decays, followed by a number, as in reduce(on, array, n): it stands for its first n elements, as a
// pointer does.
template <class In, class... Rest>
inline constexpr bool counted_array_v = false;
template <class In, class First, class... Rest>
inline constexpr bool counted_array_v<In, First, Rest...> = decays<In>&& element_count<std::remove_cvref_t<First>>;

// The pointer, or object with [k], for which an input stands; anything else unchanged.
template <class X>
constexpr decltype(auto) decayed(X& x) {
    if constexpr (std::is_array_v<X>) {
        return static_cast<std::remove_extent_t<X>*>(x);
    } else if constexpr (pointer_like<X>) {
        return pointer_of<std::remove_cv_t<X>>::of(x);
    } else if constexpr (proxy_iterator<X>) {
        return iterator_elements<std::remove_cv_t<X>>{x};
    } else if constexpr (signed_iterator<X>) {
        return iterator_places<std::remove_cv_t<X>>{x};
    } else {
        return (x);
    }
}
// The pointer, or object with [k], for which an output stands; anything else unchanged.
template <class X>
constexpr auto decayed_output(X& x) {
    if constexpr (std::is_array_v<X> || pointer_like<X> || signed_iterator<X>) {
        return detail::decayed(x);
    } else {
        return std::remove_cv_t<X>(x);
    }
}

// call(pointer, n, rest...) for a range; call(decayed array, rest...) for what decays, whose number `rest` begins with.
template <class In, class Call, class... Rest>
decltype(auto) with_elements(const In& in, const Call& call, Rest&&... rest) {
    if constexpr (counted_array_v<In, Rest...>) {
        return call(detail::decayed(in), rest...);
    } else {
        return call(std::data(in), std::uint64_t{std::size(in)}, rest...);
    }
}

// data() of a range, decayed; anything else decayed.
template <class X>
auto data_of(X& x) {
    if constexpr (sized_range<X>) {
        const auto data = std::data(x);
        return detail::decayed(data);
    } else {
        return detail::decayed(x);
    }
}
template <class X>
auto output_of(X& x) {
    if constexpr (sized_range<X>) {
        const auto data = std::data(x);
        return detail::decayed_output(data);
    } else {
        return detail::decayed_output(x);
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

// to = value, on the host. The user chose the type of an output's elements: numbers are converted to it explicitly, so that
// warnings of implicit conversions do not appear in the user's program.
template <class To, class R>
constexpr void write_to(To&& to, R&& value) {
    using element = std::remove_cvref_t<To>;
    if constexpr (std::is_arithmetic_v<element> && std::is_arithmetic_v<std::remove_cvref_t<R>>) {
        to = static_cast<element>(value);
    } else {
        to = std::forward<R>(value);
    }
}

// A pointer or another object to whose elements values of type R can be written.
template <class Out, class R>
concept places_for = requires(const Out& out, const R& value) {
    out[std::uint64_t{}] = value;
};

} // namespace warpfold::detail
