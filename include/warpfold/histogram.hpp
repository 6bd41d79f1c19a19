// SPDX-License-Identifier: MIT
// Histograms. This header serves the host's cores; histogram.cuh adds the GPU, with the same calls.
//
// Every call takes the target first (host{} or gpu{stream}), then the samples: a pointer or any other random access
// object `in` with in[k], and their number; or one range that has data() and size(). Then the place of the counts, in
// the target's memory: a pointer, or on the host a range of as many elements as there are bins. Then the bins:
// even_bins, edge_bins or function_bins, see bins.hpp. By default the counts are overwritten; with update::add they are
// added to.
//
// Counts are integers of 32 or 64 bits and exact, also where more than 2^32 samples are in a bin of 64 bits; a count of
// 32 bits wraps. Samples without a bin are dropped. Samples must not overlap the counts.
//
// On a GPU a call returns at once, and the counts are set in the order of the stream. The form without a place returns
// a vector of counts, when they are there.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include "warpfold/bins.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/error.hpp"
#include "warpfold/host/histogram.hpp"

namespace warpfold {

namespace detail {

template <class Range>
concept sample_range = requires(const Range& r) {
    std::data(r);
    std::size(r);
};
template <class Range>
concept count_range = requires(Range& r) {
    *std::data(r) = 0;
    std::size(r);
};

template <class C>
concept counter = std::is_integral_v<C> && (sizeof(C) == 4 || sizeof(C) == 8);

template <class C>
concept weight_sum = std::is_arithmetic_v<C> && (sizeof(C) == 4 || sizeof(C) == 8);

inline void need_room(std::uint64_t have, std::uint64_t bins, const char* call) {
    if (have != bins) {
        throw invalid_argument(std::string("warpfold: ") + call + ": there is room for " + std::to_string(have) +
                               " counts, and there are " + std::to_string(bins) + " bins");
    }
}

} // namespace detail

// --- histogram: how many samples are in each bin ---------------------------------------------------------------------

template <class On, class In, detail::counter Counter, detail::bins_for<detail::element_t<In>> Bins>
    requires(!detail::sample_range<In>)
void histogram(const On& on, const In& in, std::uint64_t n, Counter* counts, const Bins& bins,
               update mode = update::overwrite) {
    using S = detail::element_t<In>;
    const detail::one_channel<decltype(detail::prepare(bins, S{}))> of{detail::prepare(bins, S{}), bins.count()};
    detail::histogram_engine<On>::count(on, in, n, counts, of, mode, "histogram");
}

// The counts, when they are there.
template <class On, class In, detail::bins_for<detail::element_t<In>> Bins>
    requires(!detail::sample_range<In>)
[[nodiscard]] std::vector<std::uint64_t> histogram(const On& on, const In& in, std::uint64_t n, const Bins& bins) {
    return detail::histogram_engine<On>::values(
        on, bins.count(), [&](std::uint64_t* counts) { warpfold::histogram(on, in, n, counts, bins); }, "histogram");
}

// --- weighted_histogram: the sum of the weights of the samples in each bin -------------------------------------------
// weights[k] is the weight of in[k], of any arithmetic type; it is converted to the type of the sums. Sums are of 32 or
// 64 bits; those of integers wrap. Sums of floating-point numbers on the host are the same for any number of threads;
// on a GPU their order is that of arrival, and the last bits may differ from run to run: give integers where that
// matters.

template <class On, class In, class Weights, detail::weight_sum Sum, detail::bins_for<detail::element_t<In>> Bins>
requires(!detail::sample_range<In>) void weighted_histogram(const On& on, const In& in, const Weights& weights,
                                                            std::uint64_t n, Sum* sums, const Bins& bins,
                                                            update mode = update::overwrite) {
    using S = detail::element_t<In>;
    const detail::one_channel<decltype(detail::prepare(bins, S{}))> of{detail::prepare(bins, S{}), bins.count()};
    detail::histogram_engine<On>::weigh(on, in, weights, n, sums, of, mode, "weighted_histogram");
}

// --- histogram_channels: one histogram of each channel, in one pass --------------------------------------------------
// Of n pixels of `Channels` samples each, one behind the other: in[k * Channels + c] is channel c of pixel k. The first
// `Active` channels are counted, by bins[c], all of one type. The counts of a channel stand behind those of the channel
// before: counts[0 .. bins[0].count()), and so on.

template <unsigned Channels, class On, class In, detail::counter Counter, detail::bins_for<detail::element_t<In>> Bins,
          std::size_t Active>
    requires(!detail::sample_range<In> && Active >= 1 && Active <= Channels && Channels <= 256)
void histogram_channels(const On& on, const In& in, std::uint64_t n, Counter* counts,
                        const std::array<Bins, Active>& bins, update mode = update::overwrite) {
    using S = detail::element_t<In>;
    const detail::several_channels<decltype(detail::prepare(bins[0], S{})), Channels, Active> of(bins, S{});
    detail::histogram_engine<On>::count(on, in, n * Channels, counts, of, mode, "histogram_channels");
}

// --- the same of ranges ----------------------------------------------------------------------------------------------

template <class On, detail::sample_range Range, class Counts, class Bins>
    requires detail::bins_for<Bins, detail::element_t<decltype(std::data(std::declval<const Range&>()))>>
void histogram(const On& on, const Range& range, Counts&& counts, const Bins& bins, update mode = update::overwrite) {
    if constexpr (detail::count_range<std::remove_reference_t<Counts>>) {
        detail::need_room(std::size(counts), bins.count(), "histogram");
        warpfold::histogram(on, std::data(range), std::uint64_t{std::size(range)}, std::data(counts), bins, mode);
    } else {
        warpfold::histogram(on, std::data(range), std::uint64_t{std::size(range)}, counts, bins, mode);
    }
}
template <class On, detail::sample_range Range, class Bins>
    requires detail::bins_for<Bins, detail::element_t<decltype(std::data(std::declval<const Range&>()))>>
[[nodiscard]] std::vector<std::uint64_t> histogram(const On& on, const Range& range, const Bins& bins) {
    return warpfold::histogram(on, std::data(range), std::uint64_t{std::size(range)}, bins);
}

} // namespace warpfold
