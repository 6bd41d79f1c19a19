// SPDX-License-Identifier: MIT
// Scans. This header serves the host's cores; scan.cuh adds the GPU, with the same calls.
//
//     inclusive_scan(on, in, n, out);                   out[k] = in[0] + ... + in[k]
//     exclusive_scan(on, in, n, out);                   out[k] = in[0] + ... + in[k - 1], and out[0] = 0
//     inclusive_scan(on, in, n, out, maximum{});        by another operation, see operation.hpp
//
// `on` is the target, host{} or gpu{stream}; `in` a pointer or any other random access object with in[k], and `out` one
// with out[k] = value; or `in` is a range that has data() and size(), and `out` may be one. On a GPU memory is the
// device's, and the call returns at once. `out` may be `in` if their elements have one size; else they must not
// overlap.
//
// Behind the operation, in any order:
//     a value            the initial value: it stands in front of the first element of each segment, on the left of
//                        the operation. An exclusive scan by an operation without an identity needs one.
//     reversed           from the last element to the first: out[k] = in[n - 1] + ... + in[k]
//     heads(flags)       in segments: every k where flags[k] is true begins one
//     offsets(b, count)  in segments that begin at b[0] <= b[1] <= ...
//
// **In which type.** Sums and products are folded in the type of the elements of `out`: int32 into int32 wraps as
// unsigned numbers do, int32 into int64 does not, uint8 into uint32 counts; an element is converted before it is added.
// That differs from reduce(), which always widens: a scan has a result an element, and its width is the caller's to
// say. Minimum, maximum, std::plus<> and operations of your own fold in the type of the (mapped) input or as the
// operation's `accumulator` says, and the value is converted when it is written.
//
// **In which order.** Only neighbours are combined, left with right: the operation needs to be associative, not
// commutative. Floating-point numbers are added in a tree that depends on nothing but n, the types and, on a GPU, where
// `in` and `out` begin modulo 16 bytes: the result has the same bits in every run and, on the host, for any number of
// threads. Targets differ from each other in the last bits.
//
// transform_inclusive_scan and transform_exclusive_scan scan map(in[k]), or map(in[k], k); `map` may be called more
// than once for an element.
//
// Throws invalid_argument where an array is not aligned to its type, a pointer to elements is null or arrays overlap,
// and what the target throws.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>

#include "warpfold/detail/check.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/scan_options.hpp"
#include "warpfold/error.hpp"
#include "warpfold/host/scan/scan.hpp"
#include "warpfold/operation.hpp"

namespace warpfold {

namespace detail {

template <class Range>
concept scan_range = requires(const Range& r) {
    std::data(r);
    std::size(r);
};

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
        static_assert((... && !segments_in<Rest>::there), "segments are given once: by heads or by offsets");
        return x;
    } else {
        return segments_of(rest...);
    }
}

// A pointer to what is only read, so that arrays of T and of const T are one case.
template <class In>
auto read_only(const In& in) {
    if constexpr (std::is_pointer_v<In>) {
        return static_cast<const std::remove_pointer_t<In>*>(in);
    } else {
        return in;
    }
}

// The place behind `out`, which may be a range; one that is too short is an error.
template <class Out>
auto place_of(Out& out, std::uint64_t n, const char* call) {
    if constexpr (scan_range<Out>) {
        if (static_cast<std::uint64_t>(std::size(out)) < n) {
            throw invalid_argument(std::string("warpfold: ") + call + ": the output has room for " +
                                   std::to_string(std::size(out)) + " of " + std::to_string(n) + " elements");
        }
        return std::data(out);
    } else {
        return std::remove_cvref_t<Out>(out);
    }
}

template <bool Inclusive, class On, class In, class Out, class Map, class Op, class... How>
void scan_call(const char* call, const On& on, const In& in, std::uint64_t n, Out& out, const Map& map, const Op& op,
               const How&... how) {
    const auto from = read_only(in);
    using From = std::remove_cv_t<decltype(from)>;
    const auto place = place_of(out, n, call);
    using Place = std::remove_cv_t<decltype(place)>;
    using A = scan_value_t<Op, From, Map, Place>;
    (void)need_result<A>{};
    (void)need_operation<Op, A>{};
    static_assert(
        requires(const Place& p) { p[std::uint64_t{}]; }, "the output is a pointer or has out[k]");
    static_assert(!std::is_const_v<std::remove_reference_t<decltype(place[std::uint64_t{}])>>,
                  "the output's elements are const");
    static_assert(std::is_trivially_copyable_v<A> && std::is_trivially_copyable_v<kept_t<Op>>,
                  "values and the operation have to be trivially copyable");
    constexpr bool reverse = (... || std::is_same_v<How, reversed_order>);
    const auto segments = segments_of(how...);
    const auto given = initial_of<A>(how...);
    using Given = std::remove_cv_t<decltype(given)>;
    using Segments = std::remove_cv_t<decltype(segments)>;
    if (n == 0) {
        return;
    }
    detail::check_array(from, n, call);
    detail::check_array(place, n, call);
    detail::check_segments(segments, n, call);
    detail::check_overlap(from, place, n, call);
    using By = known_operation_t<Op, A>;
    const By by = detail::known<A>(op);
    if constexpr (Inclusive || !std::is_same_v<Given, no_initial>) {
        scan_engine<On>::run(on, from, n, place, map, by,
                             scan_options<A, Given, Segments, Inclusive, reverse>{given, segments}, call);
    } else {
        static_assert(has_identity<By, A>,
                      "this operation has no identity: give an exclusive scan an initial value behind the operation");
        scan_engine<On>::run(on, from, n, place, map, by,
                             scan_options<A, A, Segments, false, reverse>{By::template identity<A>(), segments}, call);
    }
}

} // namespace detail

template <class On, class In, class Out, class Op = sum, class... How>
requires(!detail::scan_range<In>) void inclusive_scan(const On& on, const In& in, std::uint64_t n, Out&& out,
                                                      const Op& op = {}, const How&... how) {
    detail::scan_call<true>("inclusive_scan", on, in, n, out, detail::as_it_is{}, op, how...);
}
template <class On, class In, class Out, class Op = sum, class... How>
requires(!detail::scan_range<In>) void exclusive_scan(const On& on, const In& in, std::uint64_t n, Out&& out,
                                                      const Op& op = {}, const How&... how) {
    detail::scan_call<false>("exclusive_scan", on, in, n, out, detail::as_it_is{}, op, how...);
}
template <class On, class In, class Out, class Map, class Op = sum, class... How>
requires(!detail::scan_range<In> &&
         detail::maps<Map, In>) void transform_inclusive_scan(const On& on, const In& in, std::uint64_t n, Out&& out,
                                                              const Map& map, const Op& op = {}, const How&... how) {
    detail::scan_call<true>("transform_inclusive_scan", on, in, n, out, map, op, how...);
}
template <class On, class In, class Out, class Map, class Op = sum, class... How>
requires(!detail::scan_range<In> &&
         detail::maps<Map, In>) void transform_exclusive_scan(const On& on, const In& in, std::uint64_t n, Out&& out,
                                                              const Map& map, const Op& op = {}, const How&... how) {
    detail::scan_call<false>("transform_exclusive_scan", on, in, n, out, map, op, how...);
}

// --- the same of one range -------------------------------------------------------------------------------------------

template <class On, detail::scan_range In, class Out, class... Rest>
void inclusive_scan(const On& on, const In& in, Out&& out, Rest&&... rest) {
    if constexpr (detail::counted_array_v<In, Out>) {
        warpfold::inclusive_scan(on, detail::decayed(in), out, rest...);
    } else {
        warpfold::inclusive_scan(on, std::data(in), std::uint64_t{std::size(in)}, out, rest...);
    }
}
template <class On, detail::scan_range In, class Out, class... Rest>
void exclusive_scan(const On& on, const In& in, Out&& out, Rest&&... rest) {
    if constexpr (detail::counted_array_v<In, Out>) {
        warpfold::exclusive_scan(on, detail::decayed(in), out, rest...);
    } else {
        warpfold::exclusive_scan(on, std::data(in), std::uint64_t{std::size(in)}, out, rest...);
    }
}
template <class On, detail::scan_range In, class Out, class... Rest>
void transform_inclusive_scan(const On& on, const In& in, Out&& out, Rest&&... rest) {
    if constexpr (detail::counted_array_v<In, Out>) {
        warpfold::transform_inclusive_scan(on, detail::decayed(in), out, rest...);
    } else {
        warpfold::transform_inclusive_scan(on, std::data(in), std::uint64_t{std::size(in)}, out, rest...);
    }
}
template <class On, detail::scan_range In, class Out, class... Rest>
void transform_exclusive_scan(const On& on, const In& in, Out&& out, Rest&&... rest) {
    if constexpr (detail::counted_array_v<In, Out>) {
        warpfold::transform_exclusive_scan(on, detail::decayed(in), out, rest...);
    } else {
        warpfold::transform_exclusive_scan(on, std::data(in), std::uint64_t{std::size(in)}, out, rest...);
    }
}

} // namespace warpfold
