// SPDX-License-Identifier: MIT
// Segmented reductions: one value per segment of an array. This header serves the host; segmented_reduce.cuh adds the
// GPU, with the same calls.
//
//  segmented_reduce(on, in, offsets, segments, out, op, initial)  out[s] = op over in[offsets[s] .. offsets[s + 1])
//  segmented_transform_reduce(on, in, offsets, segments, out, map, op, initial)
//      the same of map(x), or map(x, index)
//  segmented_arg_min, segmented_arg_max, segmented_min_max(on, in, offsets, segments, out)
//      the extreme elements of each segment, and their indices
//
// Input. `offsets` holds segments + 1 integers of 32 or 64 bits that do not decrease; offsets[0] need not be 0.
// equal_segments{length} stands for segments of one length. Other arguments are those of reduce.hpp. Segments may have
// any lengths, including 0; the work is balanced over elements and segments together. On the host an input that has
// in.read(first, count, to) is read in blocks if there is no map (host/core/block_input.hpp). In place of `segments`,
// count_at(number, most) (detail/element_count.hpp) is read in the target's memory, in the target's order; `offsets` and
// `out` have room for *number segments then.
//
// Index. Maps and arg_min get the index in the whole array: the element is in[index].
//
// Order. The elements of a segment are folded in order unless the operation commutes. Results have the same bits in
// every run on the same device and, on the host, for any number of threads.
//
// Cost. O(elements + segments). On a GPU one launch, and a workspace of segmented_reduce_workspace() bytes.
//
// Errors. Throws invalid_argument for null or misaligned pointers and, on the host, for decreasing offsets. On a GPU
// offsets are not checked. If they decrease, the call still ends, and it accesses nothing outside the elements from the
// first offset to the last and the outputs; but results are unspecified, and the workspace must not be used again.
#pragma once

#include <cstdint>

#include "warpfold/detail/arg.hpp"
#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/extremes.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/segments.hpp"
#include "warpfold/host/segmented_reduce/segmented_reduce.hpp"
#include "warpfold/operation.hpp"

namespace warpfold {

namespace detail {

template <class A, class On, class In, class Offsets, element_count N, class Map, class Op, class Result, class Out>
void segments_into(const On& on, const In& in, const Offsets& offsets, const N& number, const Map& map, const Op& op,
                   const Result& result, const Out& out, const char* call) {
    detail::with_number_of_segments<On>(
        offsets, number, out, call, [&](const auto& bounds, std::uint64_t segments, const auto& results) {
            segmented_engine<On>::template into<A>(on, in, bounds, segments, map, op, result, results, call);
        });
}

template <class On, class In, class Offsets, element_count N, class Out, class Map, class Op>
void fold_segments(const char* call, const On& on, const In& in, const Offsets& offsets, const N& segments,
                   const Out& out, const Map& map, const Op& op) {
    (void)require_result<mapped_t<In, Map>>{};
    using A = accumulator_t<Op, mapped_t<In, Map>>;
    (void)require_operation<Op, A>{};
    (void)require_identity<Op, A>{};
    segments_into<A>(on, in, offsets, segments, map, detail::resolve<A>(op), identity_result{}, out, call);
}
template <class On, class In, class Offsets, element_count N, class Out, class Map, class Op, class A>
void fold_segments(const char* call, const On& on, const In& in, const Offsets& offsets, const N& segments,
                   const Out& out, const Map& map, const Op& op, const A& initial) {
    (void)require_result<mapped_t<In, Map>>{};
    (void)require_operation<Op, A>{};
    using By = resolved_operation_t<Op, A>;
    const By by = detail::resolve<A>(op);
    const with_initial<By, A> result{by, initial};
    if constexpr (has_identity<By, A>) {
        segments_into<A>(on, in, offsets, segments, map, by, result, out, call);
    } else {
        segments_into<optional_value<A>>(on, in, offsets, segments, optional_map<stored_callable_t<Map>, A>{map},
                                         optional_operation<By>{by}, result, out, call);
    }
}

template <bool Smallest, class On, class In, class Offsets, element_count N, class Out>
void arg_segments(const char* call, const On& on, const In& in, const Offsets& offsets, const N& segments,
                  const Out& out) {
    using fold = arg_fold<Smallest, element_t<In>>;
    segments_into<typename fold::folded>(on, in, offsets, segments, typename fold::folded_map{},
                                         typename fold::folded_op{}, located_or_none<In>{{in}}, out, call);
}

// The result of a call with a map, and one without.
template <class In, class Map, class Op>
using segment_map_t = accumulator_t<Op, mapped_t<In, Map>>;

} // namespace detail

// --- segmented_transform_reduce: op over map(x), or map(x, index), of the elements of each segment -------------------

// `op` has an identity, which is the value of an empty segment.
template <class On, class In, detail::segment_bounds Offsets, detail::element_count N, class Out, class Map,
          class Op = sum>
requires(!detail::segment_ranges<In, Offsets, Out> && detail::maps<Map, In>) &&
    detail::places_for<Out, detail::segment_map_t<In, Map, Op>> void segmented_transform_reduce(
        const On& on, const In& in, const Offsets& offsets, const N& segments, const Out& out, const Map& map,
        const Op& op = {}) {
    detail::fold_segments("segmented_transform_reduce", on, in, offsets, segments, out, map, op);
}

// out[s] = op(initial, the value); any operation. An empty segment gives `initial`.
template <class On, class In, detail::segment_bounds Offsets, detail::element_count N, class Out, class Map, class Op>
requires(!detail::segment_ranges<In, Offsets, Out> && detail::maps<Map, In>) &&
    detail::places_for<Out, detail::segment_map_t<In, Map, Op>> void segmented_transform_reduce(
        const On& on, const In& in, const Offsets& offsets, const N& segments, const Out& out, const Map& map,
        const Op& op, const detail::segment_map_t<In, Map, Op>& initial) {
    detail::fold_segments("segmented_transform_reduce", on, in, offsets, segments, out, map, op, initial);
}

// --- segmented_reduce: op over the elements of each segment ----------------------------------------------------------

template <class On, class In, detail::segment_bounds Offsets, detail::element_count N, class Out, class Op = sum>
requires(!detail::segment_ranges<In, Offsets, Out>) &&
    detail::places_for<Out, detail::fold_t<In, Op>> void segmented_reduce(const On& on, const In& in,
                                                                          const Offsets& offsets, const N& segments,
                                                                          const Out& out, const Op& op = {}) {
    detail::fold_segments("segmented_reduce", on, in, offsets, segments, out, detail::identity_map{}, op);
}
template <class On, class In, detail::segment_bounds Offsets, detail::element_count N, class Out, class Op>
requires(!detail::segment_ranges<In, Offsets, Out>) &&
    detail::places_for<Out, detail::fold_t<In, Op>> void segmented_reduce(const On& on, const In& in,
                                                                          const Offsets& offsets, const N& segments,
                                                                          const Out& out, const Op& op,
                                                                          const detail::fold_t<In, Op>& initial) {
    detail::fold_segments("segmented_reduce", on, in, offsets, segments, out, detail::identity_map{}, op, initial);
}

// --- segmented_arg_min, segmented_arg_max: the smallest or largest element of each segment and its index -------------
// By the rules of arg_min: the first of equal elements; -0 is smaller than +0; the first NaN wins over every number. An
// empty segment gives the index no_element, and a value-initialized value.

template <class On, class In, detail::segment_bounds Offsets, detail::element_count N, class Out>
requires(!detail::segment_ranges<In, Offsets, Out>) &&
    detail::places_for<Out, located<detail::element_t<In>>> void segmented_arg_min(const On& on, const In& in,
                                                                                   const Offsets& offsets,
                                                                                   const N& segments, const Out& out) {
    detail::arg_segments<true>("segmented_arg_min", on, in, offsets, segments, out);
}
template <class On, class In, detail::segment_bounds Offsets, detail::element_count N, class Out>
requires(!detail::segment_ranges<In, Offsets, Out>) &&
    detail::places_for<Out, located<detail::element_t<In>>> void segmented_arg_max(const On& on, const In& in,
                                                                                   const Offsets& offsets,
                                                                                   const N& segments, const Out& out) {
    detail::arg_segments<false>("segmented_arg_max", on, in, offsets, segments, out);
}

// --- segmented_min_max: the smallest and the largest element of each segment, in one pass ----------------------------
// By the rules of minimum and maximum: if any element is NaN, both results are NaN. An empty segment gives the
// identities: {minimum::identity, maximum::identity}, for floating-point numbers {infinity, -infinity}.

template <class On, class In, detail::segment_bounds Offsets, detail::element_count N, class Out>
requires(!detail::segment_ranges<In, Offsets, Out>) &&
    detail::places_for<Out, extremes<detail::element_t<In>>> void segmented_min_max(const On& on, const In& in,
                                                                                    const Offsets& offsets,
                                                                                    const N& segments, const Out& out) {
    using T = detail::element_t<In>;
    detail::segments_into<detail::folded_extremes<T>>(on, in, offsets, segments, detail::extremes_map<T>{},
                                                      detail::extremes_operation{}, detail::extremes_result<T>{}, out,
                                                      "segmented_min_max");
}

// --- ranges with data() and size() for any of the three arrays, and C arrays -----------------------------------------
// Without `segments`, their number is size(offsets) - 1. Throws invalid_argument if `offsets` is empty, if a range `out`
// is shorter and, on the host, if the last offset is greater than the size of a range of elements.

template <class On, class In, class Offsets, class... Rest>
requires detail::segment_ranges<In, Offsets, Rest...>
void segmented_reduce(const On& on, const In& in, const Offsets& offsets, Rest&&... rest) {
    const auto call = [](const auto&... all) { warpfold::segmented_reduce(all...); };
    detail::with_segments("segmented_reduce", call, on, in, offsets, rest...);
}
template <class On, class In, class Offsets, class... Rest>
requires detail::segment_ranges<In, Offsets, Rest...>
void segmented_transform_reduce(const On& on, const In& in, const Offsets& offsets, Rest&&... rest) {
    const auto call = [](const auto&... all) { warpfold::segmented_transform_reduce(all...); };
    detail::with_segments("segmented_transform_reduce", call, on, in, offsets, rest...);
}
template <class On, class In, class Offsets, class... Rest>
requires detail::segment_ranges<In, Offsets, Rest...>
void segmented_arg_min(const On& on, const In& in, const Offsets& offsets, Rest&&... rest) {
    const auto call = [](const auto&... all) { warpfold::segmented_arg_min(all...); };
    detail::with_segments("segmented_arg_min", call, on, in, offsets, rest...);
}
template <class On, class In, class Offsets, class... Rest>
requires detail::segment_ranges<In, Offsets, Rest...>
void segmented_arg_max(const On& on, const In& in, const Offsets& offsets, Rest&&... rest) {
    const auto call = [](const auto&... all) { warpfold::segmented_arg_max(all...); };
    detail::with_segments("segmented_arg_max", call, on, in, offsets, rest...);
}
template <class On, class In, class Offsets, class... Rest>
requires detail::segment_ranges<In, Offsets, Rest...>
void segmented_min_max(const On& on, const In& in, const Offsets& offsets, Rest&&... rest) {
    const auto call = [](const auto&... all) { warpfold::segmented_min_max(all...); };
    detail::with_segments("segmented_min_max", call, on, in, offsets, rest...);
}

} // namespace warpfold
