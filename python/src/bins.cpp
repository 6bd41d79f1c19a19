// SPDX-License-Identifier: MIT
// Histograms by NumPy's rules.
#include <algorithm>
#include <cstdint>

#include "python/src/bin_of.hpp"
#include "python/src/calls.hpp"
#include "python/src/plain_bools.hpp"
#include "python/src/segments.hpp"
#include "warpfold/histogram.hpp"

namespace warpfold::python {

namespace {

template <class Samples, class F>
void fill(const Samples& samples, std::uint64_t n, const F& bin_of, const array* weights, const array& sums) {
    const function_bins bins(bin_of, sums.size());
    if (weights == nullptr) {
        warpfold::histogram(host{}, samples, n,
                            reinterpret_cast<std::uint64_t*>(sums.required<std::int64_t>(element::int64)), bins);
    } else if (sums.type == element::int64) {
        weighted_histogram(host{}, samples, weights->required<const std::int64_t>(element::int64), n,
                           sums.required<std::int64_t>(element::int64), bins);
    } else {
        weighted_histogram(host{}, samples, weights->required<const double>(element::float64), n,
                           sums.required<double>(element::float64), bins);
    }
}

// Samples that are compared as E.
template <class E, class F>
void fill_as(const array& samples, const F& bin_of, const array* weights, const array& sums) {
    const bool done = with_common_type(samples.type, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_floating_point_v<E> || std::is_integral_v<T>) {
            if (const T* const from = samples.contiguous<const T>(samples.type); from != nullptr) {
                fill(from, samples.size(), bin_of, weights, sums);
                return true;
            }
        }
        return false;
    });
    if (!done) {
        fill(elements<E>(samples), samples.size(), bin_of, weights, sums);
    }
}

// work(bin_of) with the bin of samples between edges: with a table where bins are so unequal that guesses are often wrong.
template <class E, class Work>
void with_bin_of(const array& edges, std::uint64_t samples, const Work& work) {
    constexpr double most_misfit = 1.0 / 16;
    const E* const first = edges.required<const E>(edges.type);
    const std::uint64_t bins = edges.size() - 1;
    const between<E> bin_of(first, bins);
    if (samples < 4 * bins || bin_of.misfit() < most_misfit) {
        work(bin_of);
        return;
    }
    const cells_of_bins<E> cells(first, bins);
    work(bin_of.with(cells));
}

template <class E>
void fill_between(const array& samples, const array& edges, const array* weights, const array& sums) {
    with_bin_of<E>(edges, samples.size(), [&](const auto& bin_of) { fill_as<E>(samples, bin_of, weights, sums); });
}

// work(k, sample) for every sample.
template <class E, class Work>
void for_samples(const array& samples, const Work& work) {
    constexpr std::uint64_t block = 1024;
    const elements<E> from(samples);
    for_groups((samples.size() + block - 1) / block, block, [&](std::uint64_t unit) {
        E room[block];
        const std::uint64_t first = unit * block, count = std::min(block, samples.size() - first);
        from.read(first, count, room);
        for (std::uint64_t j = 0; j < count; ++j) {
            work(first + j, room[j]);
        }
    });
}

} // namespace

void ranks(const array& samples, const array& edges, bool less, const array& out) {
    auto* const to = out.required<std::int64_t>(element::int64);
    with_edge_type(edges, [&](auto zero) {
        using E = decltype(zero);
        const E* const sorted = edges.required<const E>(edges.type);
        for_samples<E>(samples, [&](std::uint64_t k, E x) { to[k] = rank_between(sorted, edges.size(), less, x); });
    });
}

void append_bins(const array& samples, const array& edges, const array& out) {
    auto* const to = out.required<std::int64_t>(element::int64);
    const auto bins = static_cast<std::int64_t>(edges.size()) - 1;
    with_edge_type(edges, [&](auto zero) {
        using E = decltype(zero);
        with_bin_of<E>(edges, samples.size(), [&](const auto& bin_of) {
            for_samples<E>(samples, [&](std::uint64_t k, E x) {
                to[k] = place_in_grid(to[k], to[k] < 0 ? no_bin : bin_of(x), bins);
            });
        });
    });
}

void histogram(const array& samples, const array& edges, const array* weights, const array& sums) {
    with_plain_bools(samples, [&](const array& plain) {
        with_edge_type(edges, [&](auto zero) { fill_between<decltype(zero)>(plain, edges, weights, sums); });
    });
}

void count_values(const array& samples, const array* weights, const array& sums) {
    with_plain_bools(samples, [&](const array& plain) { fill_as<std::int64_t>(plain, by_value{}, weights, sums); });
}

} // namespace warpfold::python
