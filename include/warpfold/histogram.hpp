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
#include <concepts>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include "warpfold/bins.hpp"
#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/channels.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/error.hpp"
#include "warpfold/host/histogram/histogram.hpp"

namespace warpfold {

namespace detail {

template <class Range>
concept count_range = requires(Range& r) {
    *std::data(r) = 0;
    std::size(r);
};

// A range, but no C array, which is a pointer where a number of samples stands before it.
template <class Counts>
concept count_container = !std::is_array_v<Counts> && count_range<Counts>;

template <class C>
concept counter = std::is_integral_v<C> &&(sizeof(C) == 4 || sizeof(C) == 8);

template <class C>
concept weight_sum = std::is_arithmetic_v<C> &&(sizeof(C) == 4 || sizeof(C) == 8);

inline void check_room_for_counts(std::uint64_t have, std::uint64_t bins, const char* call) {
    if (have != bins) {
        throw invalid_argument(std::string("warpfold: ") + call + ": there is room for " + std::to_string(have) +
                               " counts, and there are " + std::to_string(bins) + " bins");
    }
}

template <class Bins, std::size_t Active>
std::uint64_t all_bins(const std::array<Bins, Active>& bins) {
    std::uint64_t all = 0;
    for (const Bins& of_channel : bins) {
        all += of_channel.count();
    }
    return all;
}

// What is behind the place of the counts, a pointer or a range with room for all of them.
template <class Counts>
auto count_place(Counts& counts, std::uint64_t bins, const char* call) {
    if constexpr (count_range<Counts>) {
        check_room_for_counts(std::size(counts), bins, call);
        return std::data(counts);
    } else {
        return counts;
    }
}

} // namespace detail

// --- histogram: how many samples are in each bin ---------------------------------------------------------------------

template <class On, class In, detail::counter Counter, detail::bins_for<detail::element_t<In>> Bins>
requires(!detail::array_like<In>) void histogram(const On& on, const In& in, std::uint64_t n, Counter* counts,
                                                 const Bins& bins, update mode = update::overwrite) {
    detail::count_samples(on, in, n, counts, bins, mode, "histogram");
}

template <class On, class In, class Counts, detail::bins_for<detail::element_t<In>> Bins>
requires(!detail::array_like<In> && detail::count_container<std::remove_reference_t<Counts>>) void histogram(
    const On& on, const In& in, std::uint64_t n, Counts&& counts, const Bins& bins, update mode = update::overwrite) {
    warpfold::histogram(on, in, n, detail::count_place(counts, bins.count(), "histogram"), bins, mode);
}

// The counts, when they are there.
template <class On, class In, detail::bins_for<detail::element_t<In>> Bins>
requires(!detail::array_like<In>)
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
requires(!detail::array_like<In> &&
         !std::is_array_v<Weights>) void weighted_histogram(const On& on, const In& in, const Weights& weights,
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
requires(!detail::array_like<In> && Active >= 1 && Active <= Channels &&
         Channels <= 256) void histogram_channels(const On& on, const In& in, std::uint64_t n, Counter* counts,
                                                  const std::array<Bins, Active>& bins,
                                                  update mode = update::overwrite) {
    using S = detail::element_t<In>;
    const detail::several_channels<decltype(detail::prepare(bins[0], S{})), Channels, Active> of(bins, S{});
    detail::histogram_engine<On>::count(on, in, n * Channels, counts, of, mode, "histogram_channels");
}

// --- the same of ranges, and of C arrays and their number ------------------------------------------------------------
// The samples and their weights; a range of counts has as many elements as there are bins.

namespace detail {

template <class Range>
using sample_t = element_t<decltype(std::data(std::declval<const Range&>()))>;

} // namespace detail

template <class On, detail::array_like Range, class Counts, detail::bins_for<detail::sample_t<Range>> Bins>
requires(!std::integral<std::remove_cvref_t<Counts>>) void histogram(const On& on, const Range& range, Counts&& counts,
                                                                     const Bins& bins,
                                                                     update mode = update::overwrite) {
    warpfold::histogram(on, std::data(range), std::uint64_t{std::size(range)},
                        detail::count_place(counts, bins.count(), "histogram"), bins, mode);
}
template <class On, detail::array_like Range, detail::bins_for<detail::sample_t<Range>> Bins>
[[nodiscard]] std::vector<std::uint64_t> histogram(const On& on, const Range& range, const Bins& bins) {
    return warpfold::histogram(on, std::data(range), std::uint64_t{std::size(range)}, bins);
}
template <class On, class T, std::size_t N, class Counts, detail::bins_for<T> Bins>
void histogram(const On& on, const T (&in)[N], std::uint64_t n, Counts&& counts, const Bins& bins,
               update mode = update::overwrite) {
    warpfold::histogram(on, static_cast<const T*>(in), n, counts, bins, mode);
}
template <class On, class T, std::size_t N, detail::bins_for<T> Bins>
[[nodiscard]] std::vector<std::uint64_t> histogram(const On& on, const T (&in)[N], std::uint64_t n, const Bins& bins) {
    return warpfold::histogram(on, static_cast<const T*>(in), n, bins);
}

template <class On, detail::array_like Range, detail::array_like Weights, class Sums,
          detail::bins_for<detail::sample_t<Range>> Bins>
requires(!std::integral<std::remove_cvref_t<Sums>>) void weighted_histogram(const On& on, const Range& range,
                                                                            const Weights& weights, Sums&& sums,
                                                                            const Bins& bins,
                                                                            update mode = update::overwrite) {
    if (std::size(range) != std::size(weights)) {
        throw invalid_argument("warpfold: weighted_histogram: there are " + std::to_string(std::size(range)) +
                               " samples, and " + std::to_string(std::size(weights)) + " weights");
    }
    warpfold::weighted_histogram(on, std::data(range), std::data(weights), std::uint64_t{std::size(range)},
                                 detail::count_place(sums, bins.count(), "weighted_histogram"), bins, mode);
}
template <class On, class In, class Weights, class Sums, class Bins>
requires(std::is_array_v<In> ||
         std::is_array_v<Weights>) void weighted_histogram(const On& on, const In& in, const Weights& weights,
                                                           std::uint64_t n, Sums* sums, const Bins& bins,
                                                           update mode = update::overwrite) {
    warpfold::weighted_histogram(on, detail::decayed(in), detail::decayed(weights), n, sums, bins, mode);
}

template <unsigned Channels, class On, detail::array_like Range, class Counts,
          detail::bins_for<detail::sample_t<Range>> Bins, std::size_t Active>
requires(!std::integral<std::remove_cvref_t<Counts>>) void histogram_channels(const On& on, const Range& range,
                                                                              Counts&& counts,
                                                                              const std::array<Bins, Active>& bins,
                                                                              update mode = update::overwrite) {
    if (std::size(range) % Channels != 0) {
        throw invalid_argument("warpfold: histogram_channels: " + std::to_string(std::size(range)) +
                               " samples are no whole number of pixels of " + std::to_string(Channels));
    }
    warpfold::histogram_channels<Channels>(on, std::data(range), std::uint64_t{std::size(range)} / Channels,
                                           detail::count_place(counts, detail::all_bins(bins), "histogram_channels"),
                                           bins, mode);
}
template <unsigned Channels, class On, class T, std::size_t N, class Counter, class Bins, std::size_t Active>
void histogram_channels(const On& on, const T (&in)[N], std::uint64_t n, Counter* counts,
                        const std::array<Bins, Active>& bins, update mode = update::overwrite) {
    warpfold::histogram_channels<Channels>(on, static_cast<const T*>(in), n, counts, bins, mode);
}

} // namespace warpfold
