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
