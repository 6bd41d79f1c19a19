// SPDX-License-Identifier: MIT
// Exact weighted histograms against exact sums of each bin's weights, on any target. `Place<T>` is an array of the target's
// memory: made of a vector and a number of elements to skip, with data() and read().
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "tests/library/cases.hpp"
#include "tests/library/exact_sum/exact_reference.hpp"
#include "warpfold/exact_histogram.hpp"

namespace warpfold::tests {

// The true sums: of weights whose samples are in the bin, and of what the sum was.
template <class Sum, class S, class W>
std::vector<Sum> exact_bin_sums(const std::vector<S>& samples, const std::vector<W>& weights,
                                const std::vector<Sum>& was, S lower, S width, std::size_t bins) {
    std::vector<Sum> sums;
    for (std::size_t b = 0; b < bins; ++b) {
        std::vector<Sum> of_bin;
        if (!was.empty()) {
            of_bin.push_back(was[b]);
        }
        const S from = lower + static_cast<S>(b) * width;
        for (std::size_t k = 0; k < samples.size(); ++k) {
            if (samples[k] >= from && samples[k] < from + width) {
                of_bin.push_back(static_cast<Sum>(weights[k]));
            }
        }
        sums.push_back(exact_sum(host{1}, of_bin));
    }
    return sums;
}

template <class T>
void expect_same_bits(const std::vector<T>& got, const std::vector<T>& right) {
    ASSERT_EQ(got.size(), right.size());
    for (std::size_t k = 0; k < got.size(); ++k) {
        EXPECT_TRUE(same_bits(got[k], right[k])) << k << ": " << got[k] << ", not " << right[k];
    }
}

// Bins of 16 from 0 on, in shared memory of a GPU or not.
template <class Sum, class W, template <class> class Place, class On>
void exact_histograms(const On& on, std::uint64_t n, std::size_t bins) {
    SCOPED_TRACE(n);
    const auto weights = spread<W>(n, -30, 30, static_cast<unsigned>(n));
    std::vector<int> samples(n);
    for (std::uint64_t k = 0; k < n; ++k) { // some are outside of all bins
        samples[k] = static_cast<int>(k * k * 31 % (16 * bins + 40)) - 20;
    }
    const even_bins<int> of(0, static_cast<int>(16 * bins), bins);
    const auto right = exact_bin_sums<Sum>(samples, weights, {}, 0, 16, bins);
    const Place<int> in(samples, 1);
    const Place<W> of_samples(weights, 0);
    const Place<Sum> sums(std::vector<Sum>(bins, 7), 0);
    exact_weighted_histogram(on, in.data(), of_samples.data(), n, sums.data(), of);
    expect_same_bits(sums.read(), right);
    exact_weighted_histogram(on, in.data(), of_samples.data(), n, sums.data(), of, update::add);
    expect_same_bits(sums.read(), exact_bin_sums<Sum>(samples, weights, right, 0, 16, bins));
    // The number in the target's memory, and edges.
    std::vector<int> edges(bins + 1);
    for (std::size_t b = 0; b <= bins; ++b) {
        edges[b] = static_cast<int>(16 * b);
    }
    const Place<int> edges_there(edges, 0);
    const Place<std::uint64_t> number(std::vector<std::uint64_t>{n / 2}, 0);
    exact_weighted_histogram(on, in.data(), of_samples.data(), count_at(number.data(), n), sums.data(),
                             edge_bins(edges_there.data(), edges.size()));
    samples.resize(n / 2);
    expect_same_bits(sums.read(), exact_bin_sums<Sum>(samples, weights, {}, 0, 16, bins));
}

template <template <class> class Place, class On>
void exact_histograms_of_special_values(const On& on) {
    const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    const double most = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::denorm_min();
    const std::vector<float> samples{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 6, 9};
    const std::vector<double> weights{inf, 1, inf, -inf, nan, 1, most, most, -0.0, -0.0, 1e300, least, -1e300, -inf, 3};
    const Place<float> in(samples, 0);
    const Place<double> of_samples(weights, 0), sums(std::vector<double>(8, 1), 0);
    exact_weighted_histogram(on, in.data(), of_samples.data(), samples.size(), sums.data(), even_bins<float>(0, 8, 8));
    const double one_nan = exact_sum(host{}, std::vector<double>{nan});
    expect_same_bits(sums.read(), {inf, one_nan, one_nan, inf, 0.0, least, -inf, 0.0});
    EXPECT_THROW(exact_weighted_histogram(on, in.data(), of_samples.data(), samples.size(),
                                          static_cast<double*>(nullptr), even_bins<float>(0, 8, 8)),
                 invalid_argument);
    EXPECT_THROW(exact_weighted_histogram(on, in.data(), static_cast<const double*>(nullptr), samples.size(),
                                          sums.data(), even_bins<float>(0, 8, 8)),
                 invalid_argument);
}

// After ordinary weights ones that are 2^33 times as large, of one sign in bin 0 and of the other in bin 1: their sums need more bits
// than what a block of a GPU holds of a bin. Bin 2 has weights of both signs, bin 3 any exponents.
template <class T, template <class> class Place, class On>
void exact_histograms_that_carry(const On& on) {
    constexpr std::size_t bins = 1000, n = 20011;
    std::vector<int> samples(n);
    std::vector<T> weights = spread<T>(n, -100, 100, 5);
    for (std::size_t k = 0; k < n; ++k) {
        const T large = k < n / 4 ? T(1) : static_cast<T>(0x1.fffffep33);
        samples[k] = static_cast<int>(k * k % 7 % 4);
        weights[k] =
            samples[k] == 3 ? weights[k] : (samples[k] == 0 || (samples[k] == 2 && k % 2 == 0) ? large : -large);
    }
    const Place<int> in(samples, 0);
    const Place<T> of_samples(weights, 0), sums(std::vector<T>(bins, 7), 0);
    exact_weighted_histogram(on, in.data(), of_samples.data(), n, sums.data(),
                             even_bins<int>(0, static_cast<int>(bins), bins));
    auto right = exact_bin_sums<T>(samples, weights, {}, 0, 1, 4);
    right.resize(bins);
    expect_same_bits(sums.read(), right);
}

// Of every kind above.
template <template <class> class Place, class On>
void exact_histogram_calls(const On& on) {
    for (const std::uint64_t n : {0u, 1u, 33u, 1000u, 20011u}) {
        exact_histograms<float, float, Place>(on, n, 37);
        exact_histograms<double, float, Place>(on, n, 5);
        exact_histograms<double, double, Place>(on, n, 300);
        exact_histograms<float, float, Place>(on, n, 700);
    }
    exact_histograms_that_carry<float, Place>(on);
    exact_histograms_that_carry<double, Place>(on);
    exact_histograms_of_special_values<Place>(on);
}

} // namespace warpfold::tests
