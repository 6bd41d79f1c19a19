// SPDX-License-Identifier: MIT
// Exact weighted histograms: the true sum of the weights of each bin's samples, rounded once to nearest, ties to even. The
// sums have the same bits in every run, on every GPU and on the host, and for every order of the samples. This header
// serves the host; exact_histogram.cuh adds the GPU, with the same call.
//
//  exact_weighted_histogram(on, in, weights, n, sums, bins, mode)   sums[bin(x)] += weight
//
// Arguments and errors are those of weighted_histogram (histogram.hpp); n may be a count_at. Weights are float, double, half
// or bfloat16. Sums are of their type, or of a wider one: float or double. With update::add the value that a sum has is one of the terms. Special values are
// those of exact_sum.hpp: the sum of a bin without samples is +0.
//
// Cost: O(n) for even bins, O(n log bins) for edges; each sample adds up to three integers. On a GPU two launches, two more for
// each 2^30 samples behind the first, and a workspace of exact_histogram_workspace<Sum>(bins) bytes: 104 for each bin of
// float, half and bfloat16, 560 of double. The host uses as much for each thread, of at most 256 MiB in all.
#pragma once

#include <cstdint>
#include <iterator>
#include <type_traits>

#include "warpfold/detail/engines.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/histogram.hpp"
#include "warpfold/host/histogram/exact_histogram.hpp"

namespace warpfold {

namespace detail {

template <class Sum, class Weights>
concept exact_sum_of = real_summable<Weights> &&
    (std::is_same_v<Sum, element_t<Weights>> || (exact_part<Sum> && sizeof(Sum) >= sizeof(element_t<Weights>)));

} // namespace detail

template <class On, class In, class Weights, detail::element_count N, class Sum,
          detail::bins_for<detail::element_t<In>> Bins>
requires(!detail::array_like<In> && !detail::decays<Weights> &&
         detail::exact_sum_of<Sum, Weights>) void exact_weighted_histogram(const On& on, const In& in,
                                                                           const Weights& weights, const N& n,
                                                                           Sum* sums, const Bins& bins,
                                                                           update mode = update::overwrite) {
    constexpr const char* call = "exact_weighted_histogram";
    detail::call_scope<On>::run(on, call, [&] {
        const auto bin = detail::prepare(bins, detail::element_t<In>{});
        const detail::one_channel<std::remove_cv_t<decltype(bin)>> of{bin, bins.count()};
        detail::exact_histogram_engine<On>::weigh(on, in, detail::checked_weights(weights, n, call), n, sums, of, mode,
                                                  call);
    });
}

// Ranges. That of the sums has as many elements as there are bins.
template <class On, detail::sized_range Range, detail::sized_range Weights, class Sums,
          detail::bins_for<detail::sample_t<Range>> Bins>
requires(!detail::element_count<std::remove_cvref_t<Sums>>) void exact_weighted_histogram(
    const On& on, const Range& range, const Weights& weights, Sums&& sums, const Bins& bins,
    update mode = update::overwrite) {
    constexpr const char* call = "exact_weighted_histogram";
    detail::call_scope<On>::run(on, call, [&] {
        if (std::size(range) != std::size(weights)) {
            detail::refuse_weights(std::size(range), std::size(weights), call);
        }
    });
    warpfold::exact_weighted_histogram(on, detail::data_of(range), detail::data_of(weights),
                                       std::uint64_t{std::size(range)},
                                       detail::count_place(on, sums, bins.count(), call), bins, mode);
}

// C arrays, and pointers and iterators of other libraries.
template <class On, class In, class Weights, detail::element_count N, class Sums,
          detail::bins_for<detail::decayed_sample_t<In>> Bins>
requires(
    detail::decays<In> || detail::decays<Weights> ||
    detail::pointer_like<std::remove_cvref_t<Sums>>) void exact_weighted_histogram(const On& on, const In& in,
                                                                                   const Weights& weights, const N& n,
                                                                                   Sums&& sums, const Bins& bins,
                                                                                   update mode = update::overwrite) {
    warpfold::exact_weighted_histogram(on, detail::decayed(in), detail::decayed(weights), n,
                                       detail::decayed_output(sums), bins, mode);
}

} // namespace warpfold
