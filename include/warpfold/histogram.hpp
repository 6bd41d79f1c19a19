// SPDX-License-Identifier: MIT
// Histograms. This header serves the host; histogram.cuh adds the GPU, with the same calls.
//
//  histogram(on, in, n, counts, bins, mode)                    counts[bin(x)] += 1
//  weighted_histogram(on, in, weights, n, sums, bins, mode)    sums[bin(x)] += weight
//  histogram_channels<Channels>(on, in, n, counts, bins, mode) one histogram per channel of interleaved samples
//  histogram_nd(on, std::tuple{x, y}, n, counts, std::tuple{bins_x, bins_y}, mode)
//                                                              counts[bin(x)][bin(y)] += 1, in up to 4 dimensions
//  weighted_histogram_nd(on, std::tuple{x, y}, weights, n, sums, std::tuple{bins_x, bins_y}, mode)
//                                                              sums[bin(x)][bin(y)] += weight
//
// Input. `on` is the target: host{} or gpu{stream}. `in` is a pointer, or any object with in[k], in the target's
// memory; n counts samples. In place of n, count_at(number, most) (detail/element_count.hpp) is read in the target's
// memory, in the target's order. A range with data() and size() replaces `in, n`.
// `bins` is even_bins, range_bins, edge_bins or function_bins (bins.hpp).
//
// Output. `counts` is a pointer in the target's memory or, on the host, a range of as many elements as there are bins.
// It must not overlap the samples. mode: update::overwrite (default) or update::add. Counts are exact: integers of 64
// bits, or of 32 bits, which wrap. On a GPU the call returns at once and counts are set in stream order. Without
// `counts` the call waits and returns a vector.
//
// Cost. O(n) for even bins, O(n log bins) for edges. On a GPU one launch, and before it a memset of the counts unless
// the kernel clears them: up to 65,536 counts with a workspace of histogram_workspace() bytes. With hundreds of thousands of
// bins and millions of samples two launches for each 2^27 samples, and 2 bytes of memory a sample: allocated, or in a
// workspace of histogram_workspace(n, bins) bytes; with less memory another method.
//
// Errors. Throws invalid_argument for null or misaligned pointers and sizes that do not match, and what the target
// throws.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "warpfold/bins.hpp"
#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/bins/channels.hpp"
#include "warpfold/detail/bins/joint_bins.hpp"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/exact/exact_half.hpp"
#include "warpfold/error.hpp"
#include "warpfold/float16.hpp"
#include "warpfold/host/histogram/histogram.hpp"
#include "warpfold/log_edges.hpp"

namespace warpfold {

namespace detail {

template <class Range>
concept count_range = requires(Range& r) {
    *std::data(r) = 0;
    std::size(r);
};

// True for ranges other than C arrays, and iterators: a C array after a number of samples is a pointer.
template <class Counts>
concept count_container = pointer_like<Counts> ||(!std::is_array_v<Counts> && count_range<Counts>);

template <class Range>
using sample_t = element_t<decltype(detail::data_of(std::declval<const Range&>()))>;
template <class In>
using decayed_sample_t = element_t<decltype(detail::decayed(std::declval<const In&>()))>;

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

[[noreturn]] inline void refuse_weights(std::uint64_t samples, std::uint64_t weights, const char* call) {
    throw invalid_argument(std::string("warpfold: ") + call + ": there are " + std::to_string(samples) +
                           " samples, and " + std::to_string(weights) + " weights");
}

// Weights of 16 bits as floats; others as they are, and checked later.
template <class Weights, element_count N>
auto checked_weights(const Weights& weights, const N& n, const char* call) {
    using W = element_t<Weights>;
    if constexpr (is_float16_v<W>) {
        detail::check_array(weights, least_of(detail::checked_count(n, call)), call);
    }
    return detail::converted<computed_t<W>>(weights);
}

template <class Bins, std::size_t Active>
std::uint64_t all_bins(const std::array<Bins, Active>& bins) {
    std::uint64_t all = 0;
    for (const Bins& of_channel : bins) {
        all += of_channel.count();
    }
    return all;
}

// The pointer to the counts; throws if a range does not have one element per bin.
template <class On, class Counts>
auto count_place(const On& on, Counts& counts, std::uint64_t bins, const char* call) {
    return call_scope<On>::run(on, call, [&] {
        if constexpr (count_range<Counts>) {
            check_room_for_counts(std::size(counts), bins, call);
        }
        return detail::output_of(counts);
    });
}

} // namespace detail

// --- histogram: how many samples are in each bin ---------------------------------------------------------------------

template <class On, class In, detail::element_count N, detail::counter Counter,
          detail::bins_for<detail::element_t<In>> Bins>
requires(!detail::array_like<In>) void histogram(const On& on, const In& in, const N& n, Counter* counts,
                                                 const Bins& bins, update mode = update::overwrite) {
    detail::count_samples(on, in, n, counts, bins, mode, "histogram");
}

template <class On, class In, detail::element_count N, class Counts, detail::bins_for<detail::element_t<In>> Bins>
requires(!detail::array_like<In> && detail::count_container<std::remove_reference_t<Counts>>) void histogram(
    const On& on, const In& in, const N& n, Counts&& counts, const Bins& bins, update mode = update::overwrite) {
    warpfold::histogram(on, in, n, detail::count_place(on, counts, bins.count(), "histogram"), bins, mode);
}

// Waits and returns the counts.
template <class On, class In, detail::element_count N, detail::bins_for<detail::element_t<In>> Bins>
requires(!detail::array_like<In>)
    [[nodiscard]] std::vector<std::uint64_t> histogram(const On& on, const In& in, const N& n, const Bins& bins) {
    return detail::histogram_engine<On>::values(
        on, bins.count(), [&](std::uint64_t* counts) { warpfold::histogram(on, in, n, counts, bins); }, "histogram");
}

// --- weighted_histogram: the sum of the weights of the samples in each bin -------------------------------------------
// weights[k] is the weight of in[k], of any arithmetic type, half or bfloat16; it is converted to the type of the sums. Sums have 32 or
// 64 bits; integers wrap. Floating-point sums on the host have the same bits for any number of threads. On a GPU they
// are added by atomics in any order, so their last bits may differ from run to run; integer sums do not.

template <class On, class In, class Weights, detail::element_count N, detail::weight_sum Sum,
          detail::bins_for<detail::element_t<In>> Bins>
requires(!detail::array_like<In> &&
         !detail::decays<Weights>) void weighted_histogram(const On& on, const In& in, const Weights& weights,
                                                           const N& n, Sum* sums, const Bins& bins,
                                                           update mode = update::overwrite) {
    using S = detail::element_t<In>;
    const detail::one_channel<decltype(detail::prepare(bins, S{}))> of{detail::prepare(bins, S{}), bins.count()};
    constexpr const char* call = "weighted_histogram";
    const auto checked = detail::call_scope<On>::run(on, call, [&] {
        return detail::checked_weights(detail::data_of_at_least(n, weights, "weights", call), n, call);
    });
    detail::histogram_engine<On>::weigh(on, in, checked, n, sums, of, mode, call);
}

// --- histogram_channels: one histogram per channel, in one pass ------------------------------------------------------
// n counts pixels of `Channels` interleaved samples: in[k * Channels + c] is channel c of pixel k. The first `Active`
// channels are counted, channel c by bins[c]. The counts of the channels follow each other: counts[0 ..
// bins[0].count()), then those of channel 1, and so on.

template <unsigned Channels, class On, class In, detail::element_count N, detail::counter Counter,
          detail::bins_for<detail::element_t<In>> Bins, std::size_t Active>
requires(!detail::array_like<In> && Active >= 1 && Active <= Channels &&
         Channels <= 256) void histogram_channels(const On& on, const In& in, const N& n, Counter* counts,
                                                  const std::array<Bins, Active>& bins,
                                                  update mode = update::overwrite) {
    using S = detail::element_t<In>;
    const detail::several_channels<decltype(detail::prepare(bins[0], S{})), Channels, Active> of(bins, S{});
    detail::histogram_engine<On>::count(on, in, detail::multiplied<Channels>(n), counts, of, mode,
                                        "histogram_channels");
}

// --- histogram_nd: samples of up to 4 dimensions -------------------------------------------------------------------------
// in[d][k] is coordinate d of sample k, bins[d] are the bins of dimension d, of any kind. Counts are row-major: the last
// dimension is the fastest. A sample that is outside of the bins of one dimension is dropped. There may be 2^30 bins in
// all.

namespace detail {

// work(samples, of) gets the samples of all dimensions as one array of points, and their bins as one channel.
template <class On, class... In, class N, class... Bins, class Work>
void with_points(const On& on, const std::tuple<In...>& in, const N& number, const std::tuple<Bins...>& bins,
                 const char* call, const Work& work) {
    call_scope<On>::run(on, call, [&] {
        const std::uint64_t n = least_of(detail::checked_count(number, call));
        const auto samples = std::apply(
            [&](const auto&... each) {
                (detail::check_array(detail::data_of_at_least(number, each, "coordinates", call), n, call), ...);
                return detail::join_samples(detail::data_of(each)...);
            },
            in);
        using Point = typename std::remove_cv_t<decltype(samples)>::point;
        const auto bin = std::apply([](const auto&... each) { return detail::prepare_joint<Point>(each...); }, bins);
        work(samples, detail::one_channel<std::remove_cv_t<decltype(bin)>>{bin, bin.bins});
    });
}

template <class In, class Bins>
inline constexpr bool are_dimensions_v = false;
template <class... In, class... Bins>
requires(sizeof...(In) == sizeof...(Bins) && sizeof...(In) >= 1 &&
         sizeof...(In) <= 4) inline constexpr bool are_dimensions_v<std::tuple<In...>, std::tuple<Bins...>> =
    (... && bins_for<Bins, decayed_sample_t<In>>);

} // namespace detail

template <class On, class... In, detail::element_count N, class Counts, class... Bins>
requires detail::are_dimensions_v<std::tuple<In...>, std::tuple<Bins...>>
void histogram_nd(const On& on, const std::tuple<In...>& in, const N& n, Counts&& counts,
                  const std::tuple<Bins...>& bins, update mode = update::overwrite) {
    constexpr const char* call = "histogram_nd";
    detail::with_points(on, in, n, bins, call, [&](const auto& samples, const auto& of) {
        detail::histogram_engine<On>::count(on, samples, n, detail::count_place(on, counts, of.bins, call), of, mode,
                                            call);
    });
}

// The sums of the weights of the samples in each bin, as of weighted_histogram: weights[k] is the weight of sample k.
template <class On, class... In, class Weights, detail::element_count N, class Sums, class... Bins>
requires detail::are_dimensions_v<std::tuple<In...>, std::tuple<Bins...>>
void weighted_histogram_nd(const On& on, const std::tuple<In...>& in, const Weights& weights, const N& number,
                           Sums&& sums, const std::tuple<Bins...>& bins, update mode = update::overwrite) {
    constexpr const char* call = "weighted_histogram_nd";
    detail::with_points(on, in, number, bins, call, [&](const auto& samples, const auto& of) {
        auto* const place = detail::count_place(on, sums, of.bins, call);
        static_assert(detail::weight_sum<std::remove_pointer_t<decltype(place)>>, "sums have 32 or 64 bits");
        const auto checked =
            detail::checked_weights(detail::data_of_at_least(number, weights, "weights", call), number, call);
        detail::histogram_engine<On>::weigh(on, samples, checked, number, place, of, mode, call);
    });
}

// --- the same calls for ranges, and for C arrays with a number of samples --------------------------------------------
// A range of counts has as many elements as there are bins.

template <class On, detail::sized_range Range, class Counts, detail::bins_for<detail::sample_t<Range>> Bins>
requires(!detail::element_count<std::remove_cvref_t<Counts>>) void histogram(const On& on, const Range& range,
                                                                             Counts&& counts, const Bins& bins,
                                                                             update mode = update::overwrite) {
    warpfold::histogram(on, detail::data_of(range), std::uint64_t{std::size(range)},
                        detail::count_place(on, counts, bins.count(), "histogram"), bins, mode);
}
template <class On, detail::sized_range Range, detail::bins_for<detail::sample_t<Range>> Bins>
[[nodiscard]] std::vector<std::uint64_t> histogram(const On& on, const Range& range, const Bins& bins) {
    return warpfold::histogram(on, detail::data_of(range), std::uint64_t{std::size(range)}, bins);
}
template <class On, detail::decays In, detail::element_count N, class Counts,
          detail::bins_for<detail::decayed_sample_t<In>> Bins>
void histogram(const On& on, const In& in, const N& n, Counts&& counts, const Bins& bins,
               update mode = update::overwrite) {
    warpfold::histogram(on, detail::decayed(in), n, counts, bins, mode);
}
template <class On, detail::decays In, detail::element_count N, detail::bins_for<detail::decayed_sample_t<In>> Bins>
[[nodiscard]] std::vector<std::uint64_t> histogram(const On& on, const In& in, const N& n, const Bins& bins) {
    return warpfold::histogram(on, detail::decayed(in), n, bins);
}

template <class On, detail::sized_range Range, detail::sized_range Weights, class Sums,
          detail::bins_for<detail::sample_t<Range>> Bins>
requires(!detail::element_count<std::remove_cvref_t<Sums>>) void weighted_histogram(const On& on, const Range& range,
                                                                                    const Weights& weights, Sums&& sums,
                                                                                    const Bins& bins,
                                                                                    update mode = update::overwrite) {
    detail::call_scope<On>::run(on, "weighted_histogram", [&] {
        if (std::size(range) != std::size(weights)) {
            detail::refuse_weights(std::size(range), std::size(weights), "weighted_histogram");
        }
    });
    warpfold::weighted_histogram(on, detail::data_of(range), detail::data_of(weights), std::uint64_t{std::size(range)},
                                 detail::count_place(on, sums, bins.count(), "weighted_histogram"), bins, mode);
}
template <class On, class In, class Weights, detail::element_count N, class Sums, class Bins>
requires(
    !detail::array_like<In> && !detail::decays<Weights> &&
    detail::count_container<std::remove_reference_t<Sums>>) void weighted_histogram(const On& on, const In& in,
                                                                                    const Weights& weights, const N& n,
                                                                                    Sums&& sums, const Bins& bins,
                                                                                    update mode = update::overwrite) {
    warpfold::weighted_histogram(on, in, weights, n, detail::count_place(on, sums, bins.count(), "weighted_histogram"),
                                 bins, mode);
}
template <class On, class In, class Weights, detail::element_count N, class Sums, class Bins>
requires(detail::decays<In> || detail::decays<Weights>) void weighted_histogram(const On& on, const In& in,
                                                                                const Weights& weights, const N& n,
                                                                                Sums&& sums, const Bins& bins,
                                                                                update mode = update::overwrite) {
    warpfold::weighted_histogram(on, detail::decayed(in), detail::decayed(weights), n, sums, bins, mode);
}

template <unsigned Channels, class On, detail::sized_range Range, class Counts,
          detail::bins_for<detail::sample_t<Range>> Bins, std::size_t Active>
requires(!detail::element_count<std::remove_cvref_t<Counts>>) void histogram_channels(
    const On& on, const Range& range, Counts&& counts, const std::array<Bins, Active>& bins,
    update mode = update::overwrite) {
    if (std::size(range) % Channels != 0) {
        throw invalid_argument("warpfold: histogram_channels: " + std::to_string(std::size(range)) +
                               " samples are no whole number of pixels of " + std::to_string(Channels));
    }
    warpfold::histogram_channels<Channels>(
        on, detail::data_of(range), std::uint64_t{std::size(range)} / Channels,
        detail::count_place(on, counts, detail::all_bins(bins), "histogram_channels"), bins, mode);
}
template <unsigned Channels, class On, class In, detail::element_count N, class Counts, class Bins, std::size_t Active>
requires(!detail::array_like<In> && detail::count_container<std::remove_reference_t<Counts>>) void histogram_channels(
    const On& on, const In& in, const N& n, Counts&& counts, const std::array<Bins, Active>& bins,
    update mode = update::overwrite) {
    warpfold::histogram_channels<Channels>(
        on, in, n, detail::count_place(on, counts, detail::all_bins(bins), "histogram_channels"), bins, mode);
}
template <unsigned Channels, class On, detail::decays In, detail::element_count N, class Counts, class Bins,
          std::size_t Active>
void histogram_channels(const On& on, const In& in, const N& n, Counts&& counts, const std::array<Bins, Active>& bins,
                        update mode = update::overwrite) {
    warpfold::histogram_channels<Channels>(on, detail::decayed(in), n, counts, bins, mode);
}

} // namespace warpfold
