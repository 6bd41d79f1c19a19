// SPDX-License-Identifier: MIT
// Reductions of many segments of one array. This header serves the host's cores; segmented_reduce.cuh adds the GPU,
// with the same call.
//
// Segments lie one behind the other, however long or short: a million of one element cost no more beside one of a
// hundred million than elsewhere. They are given by their offsets, segments + 1 integers of 32 or 64 bits that do not
// decrease, segment s being the elements from offsets[s] up to, but not including, offsets[s + 1]; the first of them
// need not be 0. On the host offsets that decrease are an error. On a GPU, where they are in the device's memory,
// nobody looks: with offsets that decrease a call ends, and reads and writes nothing outside of the elements from the
// first offset to the last and of the results, but what the results are is not said, nor is the workspace good for
// another call. Or all segments have the same length: equal_segments{length}.
//
// Results are the same in every run on the same device, and on the host for any number of threads. The elements of a
// segment are folded in their order, unless the operation commutes.
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

// out[s] = op over the elements of segment s, for s in [0, segments); its identity where there are none.
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

// out[s] = op(initial, the rest), of any operation; `initial` where the segment has no elements.
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

// --- the same of ranges that have data() and size(), any of the three, and C arrays ----------------------------------

template <class On, class In, class Offsets, class Out, class... Rest>
requires(detail::array_like<In> || detail::array_like<Offsets> ||
         detail::array_like<std::remove_cvref_t<Out>>) void segmented_reduce(const On& on, const In& in,
                                                                             const Offsets& offsets,
                                                                             std::uint64_t segments, Out&& out,
                                                                             const Rest&... rest) {
    warpfold::segmented_reduce(on, detail::data_of(in), detail::data_of(offsets), segments, detail::data_of(out),
                               rest...);
}

// As many segments as the offsets are, less one. Throws invalid_argument where there are none, where a range of results
// has less room and, on the host, where the last offset is behind the end of a range of elements.
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
