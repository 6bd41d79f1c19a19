// SPDX-License-Identifier: MIT
// Exact sums of float and double: what comes out is the true sum, or the true sum of products, rounded once, to nearest
// with ties to even. So it is the same, bit for bit, on every GPU and on the host, for any number of threads, and for
// every order of the elements. This header serves the host's cores; exact_sum.cuh adds the GPU, with the same calls.
//
// What holds for all of them:
//   - A sum of zero is +0, also the sum of no elements and that of nothing but -0.
//   - Infinity comes out where the true sum rounds to no finite number, however large the sums on the way are; and
//     where there are infinities of one sign among the elements (or products).
//   - NaN comes out where there is one among them, or infinities of both signs, or infinity times zero. It is always
//     the same one: 0x7fc00000 as a float, 0x7ff8000000000000 as a double.
//   - Subnormal numbers count as what they are. A sum of products that is too small for the format is rounded to a
//     subnormal number or a zero of its sign.
//
// Inputs are as in reduce.hpp: a target, a pointer or any other random access object of float or double and a number of
// elements, or a range. One form returns the value and waits for it; one has a place for it behind the input, which on
// a GPU is set in the order of the stream.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/error.hpp"
#include "warpfold/host/exact_sum/exact_sum.hpp"

namespace warpfold {

namespace detail {

template <class In>
concept summable = !array_like<In> && (std::is_same_v<element_t<In>, float> || std::is_same_v<element_t<In>, double>);
template <class A, class B>
concept multipliable = summable<A> && summable<B> && std::is_same_v<element_t<A>, element_t<B>>;

template <class A, class B>
std::uint64_t common_size(const A& a, const B& b, const char* call) {
    if (std::size(a) != std::size(b)) {
        throw invalid_argument(std::string("warpfold: ") + call + ": one range has " + std::to_string(std::size(a)) +
                               " elements, the other " + std::to_string(std::size(b)));
    }
    return std::uint64_t{std::size(a)};
}

} // namespace detail

// The sum of n elements.
template <class On, detail::summable In>
[[nodiscard]] detail::element_t<In> exact_sum(const On& on, const In& in, std::uint64_t n) {
    return detail::exact_engine<On>::template value<detail::element_t<In>>(on, n, "exact_sum", in);
}
template <class On, detail::summable In, detail::place_for<detail::element_t<In>> Out>
void exact_sum(const On& on, const In& in, std::uint64_t n, const Out& out) {
    detail::exact_engine<On>::template into<detail::element_t<In>>(on, n, out, "exact_sum", in);
}
template <class On, detail::array_like Range, class... Out>
auto exact_sum(const On& on, const Range& range, const Out&... out) {
    if constexpr (detail::counted_array_v<Range, Out...>) {
        return warpfold::exact_sum(on, detail::decayed(range), out...);
    } else {
        return warpfold::exact_sum(on, std::data(range), std::uint64_t{std::size(range)}, out...);
    }
}

// The sum of the n products a[k] * b[k], each of them exact, whether it has a number in the format or not.
template <class On, class A, class B>
requires detail::multipliable<A, B>
[[nodiscard]] detail::element_t<A> exact_dot(const On& on, const A& a, const B& b, std::uint64_t n) {
    return detail::exact_engine<On>::template value<detail::element_t<A>>(on, n, "exact_dot", a, b);
}
template <class On, class A, class B, detail::place_for<detail::element_t<A>> Out>
requires detail::multipliable<A, B>
void exact_dot(const On& on, const A& a, const B& b, std::uint64_t n, const Out& out) {
    detail::exact_engine<On>::template into<detail::element_t<A>>(on, n, out, "exact_dot", a, b);
}
// Of two ranges of the same size; throws invalid_argument of others.
template <class On, detail::array_like A, detail::array_like B, class... Out>
requires(!detail::counted_array_v<A, Out...>) auto exact_dot(const On& on, const A& a, const B& b, const Out&... out) {
    return warpfold::exact_dot(on, std::data(a), std::data(b), detail::common_size(a, b, "exact_dot"), out...);
}
template <class On, class A, class B, class... Out>
requires(std::is_array_v<A> || std::is_array_v<B>) auto exact_dot(const On& on, const A& a, const B& b, std::uint64_t n,
                                                                  const Out&... out) {
    return warpfold::exact_dot(on, detail::decayed(a), detail::decayed(b), n, out...);
}

} // namespace warpfold
