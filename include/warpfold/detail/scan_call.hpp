// SPDX-License-Identifier: MIT
// What every scan does before its target: sorts the options, checks arguments, chooses the type that is folded in.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/argument_arrays.hpp"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/scan_options.hpp"
#include "warpfold/operation.hpp"

namespace warpfold::detail {

template <class A>
constexpr auto initial_of() {
    return no_initial{};
}
template <class A, class X, class... Rest>
constexpr auto initial_of(const X& x, const Rest&... rest) {
    if constexpr (is_initial_v<X>) {
        static_assert((... && !is_initial_v<Rest>), "a scan has one initial value");
        static_assert(std::is_convertible_v<const X&, A>, "the initial value does not fit the type that is folded in");
        return static_cast<A>(x);
    } else {
        return initial_of<A>(rest...);
    }
}
constexpr auto segments_of() { return no_segments{}; }
template <class X, class... Rest>
constexpr auto segments_of(const X& x, const Rest&... rest) {
    if constexpr (segments_in<X>::there) {
        static_assert((... && !segments_in<Rest>::there),
                      "segments are given once: by heads, by offsets or by one length");
        return x;
    } else {
        return segments_of(rest...);
    }
}

template <bool Inclusive, class On, class In, element_count N, class Out, class Map, class Op, class... How>
void checked_scan(const char* call, const On& on, const In& in, const N& elements, Out& out, const Map& map,
                  const Op& op, const How&... how) {
    const auto count = detail::checked_count(elements, call);
    // Where the device has the number, no more can be checked.
    const std::uint64_t n = std::is_same_v<On, host> ? count.value() : least_of(count);
    const auto from = read_only(in);
    using From = std::remove_cv_t<decltype(from)>;
    const auto place = place_of(out, n, call);
    using Place = std::remove_cv_t<decltype(place)>;
    using A = scan_value_t<Op, From, Map, Place>;
    (void)require_result<A>{};
    (void)require_operation<Op, A>{};
    static_assert(
        requires(const Place& p) { p[std::uint64_t{}]; }, "the output is a pointer or has out[k]");
    static_assert(!std::is_const_v<std::remove_reference_t<decltype(place[std::uint64_t{}])>>,
                  "the output's elements are const");
    static_assert(std::is_trivially_copyable_v<A> && std::is_trivially_copyable_v<stored_callable_t<Op>>,
                  "values and the operation have to be trivially copyable");
    constexpr bool reverse = (... || std::is_same_v<How, reversed_order>);
    static_assert(!is_split_v<On> || (... && !std::is_same_v<How, equal_segments>),
                  "over ranks the segments of a scan are heads or offsets");
    const auto segments = segments_of_scan(segments_of(how...), count.most, call);
    const auto initial = initial_of<A>(how...);
    using Initial = std::remove_cv_t<decltype(initial)>;
    using Segments = std::remove_cv_t<decltype(segments)>;
    if (n == 0 && !is_split_v<On>) {
        return;
    }
    detail::check_array(from, n, call);
    detail::check_array(place, n, call);
    detail::check_segments(segments, n, call);
    detail::check_overlap(from, place, n, call);
    const auto number = [&] {
        if constexpr (is_count_at_v<N> && !std::is_same_v<On, host>) {
            return elements;
        } else {
            return n;
        }
    }();
    using By = resolved_operation_t<Op, A>;
    const By by = detail::resolve<A>(op);
    if constexpr (Inclusive || !std::is_same_v<Initial, no_initial>) {
        scan_engine<On>::run(on, from, number, place, map, by,
                             scan_options<A, Initial, Segments, Inclusive, reverse>{initial, segments}, call);
    } else {
        static_assert(has_identity<By, A>,
                      "this operation has no identity: give an exclusive scan an initial value behind the operation");
        scan_engine<On>::run(on, from, number, place, map, by,
                             scan_options<A, A, Segments, false, reverse>{By::template identity<A>(), segments}, call);
    }
}

template <bool Inclusive, class On, class In, element_count N, class Out, class Map, class Op, class... How>
void scan_call(const char* call, const On& on, const In& in, const N& n, Out& out, const Map& map, const Op& op,
               const How&... how) {
    call_scope<On>::run(on, call, [&] { detail::checked_scan<Inclusive>(call, on, in, n, out, map, op, how...); });
}

} // namespace warpfold::detail
