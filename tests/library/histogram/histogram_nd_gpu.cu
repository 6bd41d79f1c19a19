// SPDX-License-Identifier: MIT
// Histograms in several dimensions and of a range in device memory, on a GPU, the software one or a real one.
#include <cstdint>
#include <tuple>
#include <vector>

#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "tests/library/histogram/histogram_nd_cases.hpp"
#include "warpfold/histogram.cuh"
#include "warpfold/reduce.cuh"

using namespace warpfold;

namespace {

using tests::on_device;

TEST(HistogramNd, ThreeDimensions) {
    const on_device<float> edges(tests::nd_edges());
    workspace memory(histogram_workspace());
    for (const std::uint64_t n : {0u, 1u, 1009u, 40009u}) {
        const tests::nd_samples of(n);
        const on_device<std::int32_t> x(of.x, n % 3);
        const on_device<float> y(of.y);
        const on_device<std::int16_t> z(of.z);
        const std::tuple bins{even_bins(-5, 5, 10), edge_bins(edges.data(), edges.count),
                              function_bins(tests::digit_sum{}, 40)};
        const auto right = tests::nd_counts(of);
        const on_device<std::uint64_t> counts(right.size());
        histogram_nd(gpu{nullptr, &memory}, std::tuple{x.data(), y.data(), z.data()}, n, counts.data(), bins);
        EXPECT_EQ(counts.read(), right) << n;
        const auto weights = tests::nd_weights(n);
        const on_device<std::int16_t> weights_there(weights);
        weighted_histogram_nd(gpu{nullptr, &memory}, std::tuple{x.data(), y.data(), z.data()}, weights_there.data(), n,
                              counts.data(), bins);
        EXPECT_EQ(counts.read(), tests::nd_counts(of, weights)) << n;
        const on_device<double> sums(right.size());
        weighted_histogram_nd(gpu{}, std::tuple{x.data(), y.data(), z.data()}, weights_there.data(), n, sums.data(),
                              bins);
        const auto got = sums.read();
        const auto wrapped = counts.read();
        for (std::size_t k = 0; k < right.size(); ++k) { // integers: exact in any order
            ASSERT_EQ(got[k], static_cast<double>(static_cast<std::int64_t>(wrapped[k]))) << n << ": " << k;
        }
    }
    tests::expect_zero(memory);
    tests::expect_invalid_argument(
        [&] {
            histogram_nd(gpu{}, std::tuple{edges.data()}, 5, static_cast<std::uint64_t*>(nullptr),
                         std::tuple{even_bins<float>(0, 1, 2)});
        },
        "histogram_nd: a null pointer");
}

// The range of the samples without a round trip, in few bins, in more than one block has and in still more.
TEST(RangeBins, OfTheSamples) {
    auto data = tests::odd_numbers<float>(30011, 3);
    for (float& x : data) {
        x = std::isfinite(x) ? x : 1.0f;
    }
    const on_device<float> there(data);
    const on_device<extremes<float>> range(1);
    const extremes<float> right = min_max(host{}, data);
    for (const std::uint32_t bins : {1u, 100u, 70001u, 2000003u}) {
        const on_device<std::uint32_t> counts(bins);
        min_max(gpu{}, there.data(), data.size(), range.data());
        histogram(gpu{}, there.data(), data.size(), counts.data(), range_bins(range.data(), bins));
        std::vector<std::uint32_t> on_host(bins);
        histogram(host{}, data, on_host, range_bins(&right, bins));
        EXPECT_EQ(counts.read(), on_host) << bins;
    }
    tests::expect_invalid_argument(
        [&] {
            histogram(gpu{}, there.data(), 5, reinterpret_cast<std::uint32_t*>(range.data()),
                      range_bins(static_cast<const extremes<float>*>(nullptr), 2));
        },
        "histogram: a null pointer");
}

} // namespace
