// SPDX-License-Identifier: MIT
// Segmented reductions: one value per segment of an array. This header serves the host; segmented_reduce.cuh adds the
// GPU, with the same call.
//
//  segmented_reduce(on, in, offsets, segments, out, op, initial)   out[s] = op over in[offsets[s] .. offsets[s + 1])
//
// Input. `offsets` holds segments + 1 integers of 32 or 64 bits that do not decrease; offsets[0] need not be 0.
// equal_segments{length} stands for segments of one length. Other arguments are those of reduce.hpp. Segments may have
// any lengths, including 0; the work is balanced over elements and segments together.
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

#include <concepts>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/segments.hpp"
#include "warpfold/error.hpp"
#include "warpfold/host/segmented_reduce/segmented_reduce.hpp"
#include "warpfold/operation.hpp"

namespace warpfold {

// Operations with an identity. An empty segment gives the identity.
template <class On, class In, detail::segment_bounds Offsets, class Out, class Op = sum>
requires(!detail::array_like<In> && !detail::array_like<Out> &&
         detail::places_for<Out, detail::fold_t<In, Op>>) void segmented_reduce(const On& on, const In& in,
                                                                                const Offsets& offsets,
                                                                                std::uint64_t segments, const Out& out,
                                                                                const Op& op = {}) {
    using A = detail::fold_t<In, Op>;
    (void)detail::require_operation<Op, A>{};
    (void)detail::require_identity<Op, A>{};
    detail::segmented_engine<On>::template into<A>(on, in, offsets, segments, detail::identity_map{},
                                                   detail::resolve<A>(op), detail::identity_result{}, out,
                                                   "segmented_reduce");
}

// out[s] = op(initial, op over segment s); any operation. An empty segment gives `initial`.
template <class On, class In, detail::segment_bounds Offsets, class Out, class Op>
requires(!detail::array_like<In> && !detail::array_like<Out> &&
         detail::places_for<Out, detail::fold_t<In, Op>>) void segmented_reduce(const On& on, const In& in,
                                                                                const Offsets& offsets,
                                                                                std::uint64_t segments, const Out& out,
                                                                                const Op& op,
                                                                                const detail::fold_t<In, Op>& initial) {
    using A = detail::fold_t<In, Op>;
    (void)detail::require_operation<Op, A>{};
    using By = detail::resolved_operation_t<Op, A>;
    const By by = detail::resolve<A>(op);
    const detail::with_initial<By, A> result{by, initial};
    if constexpr (detail::has_identity<By, A>) {
        detail::segmented_engine<On>::template into<A>(on, in, offsets, segments, detail::identity_map{}, by, result,
                                                       out, "segmented_reduce");
    } else {
        detail::segmented_engine<On>::template into<detail::optional_value<A>>(
            on, in, offsets, segments, detail::optional_map<detail::identity_map, A>{},
            detail::optional_operation<By>{by}, result, out, "segmented_reduce");
    }
}

// = --- ranges with data() and size() for any of the three arrays, and C arrays
// -------------------------------------------

template <class On, class In, class Offsets, class Out, class... Rest>
requires(detail::array_like<In> || detail::array_like<Offsets> ||
         detail::array_like<std::remove_cvref_t<Out>>) void segmented_reduce(const On& on, const In& in,
                                                                             const Offsets& offsets,
                                                                             std::uint64_t segments, Out&& out,
                                                                             const Rest&... rest) {
    warpfold::segmented_reduce(on, detail::data_of(in), detail::data_of(offsets), segments, detail::data_of(out),
                               rest...);
}

// The number of segments is size(offsets) - 1. Throws invalid_argument if `offsets` is empty, if a range `out` is
// shorter and, on the host, if the last offset is greater than the size of a range of elements.
template <class On, class In, detail::array_like Offsets, class Out, class... Rest>
requires(!std::integral<std::remove_cvref_t<Out>>) void segmented_reduce(const On& on, const In& in,
                                                                         const Offsets& offsets, Out&& out,
                                                                         const Rest&... rest) {
    const auto fail = [](const std::string& what) { throw invalid_argument("warpfold: segmented_reduce: " + what); };
    if (std::size(offsets) == 0) {
        fail("there are no offsets, and they are one more than segments");
    }
    const std::uint64_t segments = std::size(offsets) - 1;
    if constexpr (detail::array_like<std::remove_reference_t<Out>>) {
        if (std::size(out) < segments) {
            fail("the output has room for " + std::to_string(std::size(out)) + " of " + std::to_string(segments) +
                 " segments");
        }
    }
    if constexpr (std::is_same_v<On, host> && detail::array_like<In>) {
        const auto end = std::data(offsets)[segments];
        if (end > 0 && static_cast<std::uint64_t>(end) > std::size(in)) {
            fail("the last offset is " + std::to_string(end) + ", and there are " + std::to_string(std::size(in)) +
                 " elements");
        }
    }
    warpfold::segmented_reduce(on, in, offsets, segments, out, rest...);
}

} // namespace warpfold
