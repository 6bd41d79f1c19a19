// SPDX-License-Identifier: MIT
#include "warpfold/exact_histogram.cuh"

#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "tests/library/histogram/exact_histogram.hpp"

using namespace warpfold;

namespace {

template <class T>
using there = tests::on_device<T>;

TEST(ExactHistogram, Calls) { tests::exact_histogram_calls<there>(gpu{}); }

// On a device whose blocks have so little shared memory that several share the bins, or that none has bins of its own.
template <class T>
void by_parts(std::uint64_t n, unsigned bins, unsigned shared, unsigned parts) {
    const detail::histogram_facts facts{8, shared, 2 * shared, 1u << 20};
    EXPECT_EQ(detail::plan_exact_histogram<T>(facts, n, bins).layout.parts, parts);
    const auto weights = tests::spread<T>(n, -60, 60, bins);
    std::vector<int> samples(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        samples[k] = static_cast<int>(k * k * 31 % (bins + 40)) - 20;
    }
    const there<int> in(samples);
    const there<T> of_samples(weights), sums(bins);
    const detail::one_channel of{detail::prepare(even_bins<int>(0, static_cast<int>(bins), bins), 0), bins};
    detail::exact_histogram_engine<gpu>::weigh_as(facts, gpu{}, in.data(), of_samples.data(), n, sums.data(), of,
                                                  update::overwrite, "test");
    tests::expect_same_bits(sums.read(), tests::exact_bin_sums<T>(samples, weights, {}, 0, 1, bins));
}

TEST(ExactHistogram, OfManyBins) {
    by_parts<float>(20000, 700, 64 << 10, 1);
    by_parts<float>(20000, 700, 4096, 3);
    by_parts<double>(20000, 701, 4096, 4);
    by_parts<float>(20000, 3000, 4096, 1); // in global memory
}

TEST(ExactHistogram, InItsWorkspace) {
    workspace memory(exact_histogram_workspace<double>(300));
    tests::exact_histograms<double, double, there>(gpu{nullptr, &memory}, 5000, 300);
    tests::exact_histograms<float, float, there>(gpu{nullptr, &memory}, 5000, 300);
    tests::expect_zero(memory);
    const there<float> in(10), sums(400);
    tests::expect_invalid_argument(
        [&] {
            exact_weighted_histogram(gpu{nullptr, &memory}, in.data(), in.data(), 10, sums.data(),
                                     even_bins<float>(0, 1, 1u << 20));
        },
        "exact_weighted_histogram: the workspace has");
}

} // namespace
