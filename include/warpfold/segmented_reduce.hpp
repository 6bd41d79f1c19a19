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
// segment are folded in their order, unless the operation is declared to commute.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/fold.hpp"
#include "warpfold/host/segmented_reduce.hpp"
#include "warpfold/operation.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold {

// Segment s begins at element s * length.
struct equal_segments {
    std::uint64_t length;

    WARPFOLD_HD constexpr std::uint64_t operator[](std::uint64_t s) const { return s * length; }
};

namespace detail {

template <class Offsets>
concept segment_bounds = !array_like<Offsets> && std::integral<element_t<Offsets>> && sizeof(element_t<Offsets>) >= 4;

template <class Out, class R>
concept places_for = requires(const Out& out, const R& value) {
    out[std::uint64_t{}] = value;
};

} // namespace detail

// out[s] = op over the elements of segment s, for s in [0, segments); its identity where there are none.
template <class On, class In, detail::segment_bounds Offsets, class Out, class Op = sum>
requires(!detail::array_like<In>) && detail::places_for<Out, detail::fold_t<In, Op>> void segmented_reduce(
                                         const On& on, const In& in, const Offsets& offsets, std::uint64_t segments,
                                         const Out& out, const Op& op = {}) {
    using A = detail::fold_t<In, Op>;
    detail::need_identity<Op, A>();
    detail::segmented_engine<On>::template into<A>(on, in, offsets, segments, detail::as_it_is{}, op,
                                                   detail::unchanged{}, out, "segmented_reduce");
}

// out[s] = op(initial, the rest), of any operation; `initial` where the segment has no elements.
template <class On, class In, detail::segment_bounds Offsets, class Out, class Op>
requires(!detail::array_like<In>) && detail::places_for<Out, detail::fold_t<In, Op>> void segmented_reduce(
                                         const On& on, const In& in, const Offsets& offsets, std::uint64_t segments,
                                         const Out& out, const Op& op, const detail::fold_t<In, Op>& initial) {
    using A = detail::fold_t<In, Op>;
    const detail::behind_initial<Op, A> result{op, initial};
    if constexpr (detail::has_identity<Op, A>) {
        detail::segmented_engine<On>::template into<A>(on, in, offsets, segments, detail::as_it_is{}, op, result, out,
                                                       "segmented_reduce");
    } else {
        detail::segmented_engine<On>::template into<detail::possible<A>>(
            on, in, offsets, segments, detail::lifted_map<detail::as_it_is, A>{}, detail::lifted<Op>{op}, result, out,
            "segmented_reduce");
    }
}

} // namespace warpfold
