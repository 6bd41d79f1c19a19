// SPDX-License-Identifier: MIT
// Histograms in several dimensions, of a range in memory, and on a logarithmic scale, on the host's cores.
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/histogram/histogram_nd_cases.hpp"
#include "tests/message_of.hpp"
#include "warpfold/histogram.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold {

namespace {

TEST(HistogramNdOnHost, ThreeDimensions) {
    for (const std::uint64_t n : {0u, 1u, 1009u, 70001u}) {
        const tests::nd_samples of(n);
        const std::tuple bins{even_bins(-5, 5, 10), edge_bins(tests::nd_edges()),
                              function_bins(tests::digit_sum{}, 40)};
        const auto right = tests::nd_counts(of);
        std::vector<std::uint64_t> counts(right.size(), 7);
        histogram_nd(host{2}, std::tuple{of.x.data(), of.y.data(), of.z.data()}, n, counts, bins);
        EXPECT_EQ(counts, right) << n;
        histogram_nd(host{2}, std::tuple{of.x.data(), of.y.data(), of.z.data()}, n, counts.data(), bins, update::add);
        for (std::size_t k = 0; k < right.size(); ++k) {
            ASSERT_EQ(counts[k], 2 * right[k]) << n << ": " << k;
        }
    }
}

TEST(HistogramNdOnHost, Weights) {
    for (const std::uint64_t n : {0u, 1u, 1009u, 70001u}) {
        const tests::nd_samples of(n);
        const std::tuple bins{even_bins(-5, 5, 10), edge_bins(tests::nd_edges()),
                              function_bins(tests::digit_sum{}, 40)};
        const std::tuple in{of.x.data(), of.y.data(), of.z.data()};
        const auto weights = tests::nd_weights(n);
        const auto right = tests::nd_counts(of, weights);
        std::vector<std::int64_t> sums(right.size(), 7);
        std::vector<double> halves(right.size(), 0.5);
        weighted_histogram_nd(host{2}, in, weights.data(), n, sums, bins);
        weighted_histogram_nd(host{2}, in, weights.begin(), n, halves.data(), bins, update::add);
        for (std::size_t k = 0; k < right.size(); ++k) {
            ASSERT_EQ(sums[k], static_cast<std::int64_t>(right[k])) << n << ": " << k;
            ASSERT_EQ(halves[k], static_cast<double>(sums[k]) + 0.5) << n << ": " << k;
        }
    }
}

TEST(HistogramNdOnHost, OneAndFourDimensions) {
    const tests::nd_samples of(5003);
    const even_bins bins(-5, 5, 10);
    std::vector<std::uint64_t> one(10), four(10000);
    histogram_nd(host{}, std::tuple{of.x.data()}, of.x.size(), one, std::tuple{bins});
    EXPECT_EQ(one, histogram(host{}, of.x, bins));
    const auto* x = of.x.data();
    histogram_nd(host{}, std::tuple{x, x, x, x}, of.x.size(), four, std::tuple{bins, bins, bins, bins});
    for (std::size_t k = 0; k < four.size(); ++k) {
        EXPECT_EQ(four[k], k % 1111 == 0 ? one[k / 1111] : 0) << k;
    }
}

TEST(HistogramNdOnHost, BadArguments) {
    const std::vector<float> x(10, 1.0f), edges{0, 2, 1};
    std::vector<std::uint32_t> counts(20);
    const std::tuple in{x.data(), x.data()};
    const even_bins<float> ten(0, 2, 10), two(0, 2, 2), many(0, 2, 1u << 20);
    EXPECT_THROW(histogram_nd(host{}, in, 10, counts, std::tuple{ten, ten}), invalid_argument);
    EXPECT_THROW(histogram_nd(host{}, in, 10, counts.data(), std::tuple{many, many}), invalid_argument);
    EXPECT_THROW(
        weighted_histogram_nd(host{}, in, static_cast<const float*>(nullptr), 10, counts, std::tuple{ten, two}),
        invalid_argument);
    EXPECT_THROW(weighted_histogram_nd(host{}, in, x.data(), 10, counts, std::tuple{ten, ten}), invalid_argument);
    const std::vector<float> one_weight(1);
    EXPECT_THROW(weighted_histogram_nd(host{}, in, one_weight, 10, counts, std::tuple{ten, two}), invalid_argument);
    EXPECT_THROW(histogram_nd(host{}, in, 10, counts.data(), std::tuple{ten, edge_bins(edges)}), invalid_argument);
    EXPECT_THROW(histogram_nd(host{}, std::tuple{x.data(), static_cast<const float*>(nullptr)}, 10, counts,
                              std::tuple{ten, two}),
                 invalid_argument);
    EXPECT_THROW(histogram(host{}, x, counts.data(), range_bins(static_cast<const extremes<float>*>(nullptr), 5)),
                 invalid_argument);
}

template <class T>
void ranges() {
    const T infinity = std::numeric_limits<T>::infinity();
    auto data = tests::odd_numbers<T>(9001, 3);
    const extremes<T> range{T(-10.5), T(9.25)};
    data[5] = range.largest;
    data[6] = range.smallest;
    for (const std::uint32_t bins : {1u, 7u, 1000u}) {
        EXPECT_EQ(histogram(host{}, data, range_bins(&range, bins)),
                  tests::range_counts(data, range.smallest, range.largest, bins));
    }
    // Of the samples themselves, as from min_max: none is dropped.
    for (T& x : data) {
        x = std::isfinite(x) ? x : T(1);
    }
    const extremes<T> own = min_max(host{}, data);
    const auto counts = histogram(host{}, data, range_bins(&own, 33));
    EXPECT_EQ(reduce(host{}, counts), data.size());
    EXPECT_GE(counts.back(), 1u);
    // Ranges that are none.
    const T most = std::numeric_limits<T>::max(), nan = std::numeric_limits<T>::quiet_NaN();
    const extremes<T> none[] = {{infinity, -infinity}, {nan, nan}, {T(-1), infinity}, {-most, most}, {T(2), T(1)}};
    for (const extremes<T>& one : none) {
        EXPECT_EQ(histogram(host{}, data, range_bins(&one, 2)), (std::vector<std::uint64_t>{0, 0}));
    }
    const extremes<T> single{T(1), T(1)};
    EXPECT_EQ(histogram(host{}, std::vector<T>{1, 2, 1, 0}, range_bins(&single, 3)),
              (std::vector<std::uint64_t>{2, 0, 0}));
}
TEST(RangeBinsOnHost, Floats) { ranges<float>(); }
TEST(RangeBinsOnHost, Doubles) { ranges<double>(); }

TEST(LogEdges, AreEvenlySpacedLogarithms) {
    const auto edges = log_edges(1e-3, 1e5, 8);
    ASSERT_EQ(edges.size(), 9u);
    EXPECT_EQ(edges.front(), 1e-3);
    EXPECT_EQ(edges.back(), 1e5);
    for (int k = 0; k <= 8; ++k) {
        const double right = std::pow(10.0, k - 3);
        EXPECT_NEAR(edges[static_cast<std::size_t>(k)], right, right * 0x1p-40);
    }
    const auto floats = log_edges(std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max(), 5000);
    EXPECT_TRUE(std::is_sorted(floats.begin(), floats.end()));
    EXPECT_EQ(histogram(host{}, std::vector<double>{0.5e-3, 1e-3, 2e-3, 5, 1e5}, edge_bins(edges)),
              (std::vector<std::uint64_t>{2, 0, 0, 1, 0, 0, 0, 0}));
    EXPECT_THROW((void)log_edges(0.0, 1.0, 5), invalid_argument);
    EXPECT_THROW((void)log_edges(2.0, 1.0, 5), invalid_argument);
    EXPECT_THROW((void)log_edges(1.0f, INFINITY, 5), invalid_argument);
    EXPECT_THROW((void)log_edges(std::nan(""), 1.0, 5), invalid_argument);
    EXPECT_EQ(tests::message_of<invalid_argument>([] { (void)log_edges(1.0, 2.0, 0); }),
              "warpfold: log_edges: 0 bins, and there may be 1 to 2^30");
}

} // namespace
} // namespace warpfold
