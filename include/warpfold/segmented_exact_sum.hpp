// SPDX-License-Identifier: MIT
// Exact sums of segments: each result is the true sum of its elements, rounded once. Its bits are the same on every GPU
// and on the host. This header serves the host; segmented_exact_sum.cuh adds the GPU.
//
//  segmented_exact_sum(on, in, offsets, segments, out)  out[s] = exact_sum of in[offsets[s] .. offsets[s + 1])
//
// Arguments and errors are those of segmented_reduce.hpp, special values those of exact_sum.hpp: an empty segment gives
// +0. Elements are float, double, half, bfloat16 or complex, results of the same type. On the host decreasing offsets throw invalid_argument
// before anything is written.
//
// Cost: O(elements + segments); on a GPU one launch and a workspace of segmented_exact_sum_workspace() bytes. There a
// segment has one block, or several if there are fewer segments than blocks run at once: of many segments, one that is
// much longer than the others takes the time of one block.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/segments.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/host/exact_sum/segments.hpp"

namespace warpfold {

template <class On, detail::real_summable In, detail::segment_bounds Offsets, detail::element_count N, class Out>
requires(!detail::segment_ranges<In, Offsets, Out>) &&
    detail::places_for<Out, detail::element_t<In>> void segmented_exact_sum(const On& on, const In& in,
                                                                            const Offsets& offsets, const N& number,
                                                                            const Out& out) {
    using T = detail::term_t<In>;
    constexpr const char* call = "segmented_exact_sum";
    detail::with_number_of_segments<On>(offsets, number, out, call,
                                        [&](const auto& bounds, std::uint64_t segments, const auto& results) {
                                            detail::check_segments(in, bounds, segments, results, call);
                                            detail::segmented_exact_engine<On>::template into<T, detail::element_t<In>>(
                                                on, detail::converted<T>(in), bounds, segments, results, call);
                                        });
}
// The sums of the parts of complex numbers (exact_sum.hpp), one launch for each part; `out` is a pointer.
template <class On, detail::complex_summable In, detail::segment_bounds Offsets, detail::element_count N, class Out>
requires(!detail::segment_ranges<In, Offsets, Out> &&
         detail::complex_place_for<
             Out, detail::complex_part_t<detail::element_t<In>>>) void segmented_exact_sum(const On& on, const In& in,
                                                                                           const Offsets& offsets,
                                                                                           const N& number,
                                                                                           const Out& out) {
    using T = detail::complex_part_t<detail::element_t<In>>;
    constexpr const char* call = "segmented_exact_sum";
    for (const unsigned which : {0u, 1u}) {
        detail::with_number_of_segments<On>(offsets, number, detail::complex_places<Out>{out, which}, call,
                                            [&](const auto& bounds, std::uint64_t segments, const auto& results) {
                                                detail::check_segments(in, bounds, segments, out, call);
                                                detail::segmented_exact_engine<On>::template into<T, T>(
                                                    on, detail::complex_parts<T, In>{in, which}, bounds, segments,
                                                    results, call);
                                            });
    }
}
// Ranges, as for segmented_reduce.
template <class On, class In, class Offsets, class... Rest>
requires detail::segment_ranges<In, Offsets, Rest...>
void segmented_exact_sum(const On& on, const In& in, const Offsets& offsets, Rest&&... rest) {
    const auto call = [](const auto&... all) { warpfold::segmented_exact_sum(all...); };
    detail::with_segments("segmented_exact_sum", call, on, in, offsets, rest...);
}

} // namespace warpfold
