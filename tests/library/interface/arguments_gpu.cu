// SPDX-License-Identifier: MIT
// Operations of <functional> on a GPU, with no option of nvcc for them, and ranges that lie there.
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "tests/library/interface/standard_cases.hpp"
#include "warpfold/chunked.cuh"
#include "warpfold/exact_sum.cuh"
#include "warpfold/histogram.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"
#include "warpfold/segmented_reduce.cuh"

using namespace warpfold;
using tests::on_device;

namespace {

template <class T, class Op>
void by(const Op& op) {
    static_assert(tests::in_any_order_v<Op, T>);
    for (const std::uint64_t n : {0, 1, 33, 4099}) {
        const std::vector<T> data = tests::numbers_for<T, Op>(n);
        const on_device<T> in(data), out(n);
        const std::uint64_t middle = n / 3;
        const on_device<std::uint64_t> bounds(std::vector<std::uint64_t>{0, middle, middle, n});
        for (const T initial : {T(0), T(1), T(3)}) {
            EXPECT_EQ(reduce(gpu{}, in.data(), n, op, initial), tests::folded(data, 0, n, op, initial));
            const on_device<T> sums(3);
            segmented_reduce(gpu{}, in.data(), bounds.data(), 3, sums.data(), op, initial);
            EXPECT_EQ(sums.read(), (std::vector<T>{tests::folded(data, 0, middle, op, initial), initial,
                                                   tests::folded(data, middle, n, op, initial)}));
            exclusive_scan(gpu{}, in.data(), n, out.data(), op, initial);
            const std::vector<T> scanned = out.read();
            for (std::uint64_t k = 0; k < n; k += 1 + n / 7) {
                EXPECT_EQ(scanned[k], tests::folded(data, 0, k, op, initial));
            }
        }
    }
}

TEST(arguments, ranges) {
    const std::vector<int> data = tests::small_numbers<int>(5000, 1);
    const on_device<int> there(data), running(5000);
    const std::span<const int> in(there.data(), data.size());
    EXPECT_EQ(reduce(gpu{}, in, std::plus<long>{}), reduce(host{1}, data));
    EXPECT_EQ(chunked_reduce(gpu{}, data, std::plus<>{}), reduce(host{1}, data));
    inclusive_scan(gpu{}, in, std::span(running.data(), data.size()), std::plus<>{});
    EXPECT_EQ(running.read().back(), reduce(host{1}, data));

    const std::vector<int> bounds{0, 7, 7, 5000};
    const on_device<int> bounds_there(bounds);
    const on_device<std::int64_t> sums(3);
    std::vector<std::int64_t> expected(3);
    segmented_reduce(host{1}, data, bounds, expected);
    segmented_reduce(gpu{}, in, std::span(bounds_there.data(), bounds.size()), std::span(sums.data(), 3));
    EXPECT_EQ(sums.read(), expected);
    segmented_reduce(gpu{}, in, bounds_there.data(), 3, sums.data(), maximum{}, -100);

    const auto bins = even_bins(-8, 8, 4);
    const on_device<std::uint64_t> counts(4);
    histogram(gpu{}, in, std::span(counts.data(), 4), bins);
    EXPECT_EQ(counts.read(), histogram(host{1}, data, bins));
    histogram_channels<2>(gpu{}, in, std::span(counts.data(), 4), std::array{even_bins(-8, 8, 2), even_bins(-8, 8, 2)});
    std::vector<std::uint64_t> by_channel(4);
    histogram_channels<2>(host{1}, data, by_channel, std::array{even_bins(-8, 8, 2), even_bins(-8, 8, 2)});
    EXPECT_EQ(counts.read(), by_channel);
    weighted_histogram(gpu{}, in, in, std::span(sums.data(), 3), even_bins(-9, 9, 3));
    weighted_histogram(host{1}, data, data, expected, even_bins(-9, 9, 3));
    EXPECT_EQ(sums.read(), expected);
}

TEST(arguments, nothing_there) {
    const on_device<int> there(std::vector<int>(100, 1));
    const int* const in = there.data();
    const int* const none = nullptr;
    const float* const no_floats = nullptr;
    std::int64_t* const nowhere = nullptr;
    const int minus = -1;
    EXPECT_EQ(reduce(gpu{}, none, 0), 0);
    tests::expect_invalid_argument([&] { (void)reduce(gpu{}, none, 3); },
                                   "reduce: a null pointer stands for an array of 3 elements");
    tests::expect_invalid_argument([&] { reduce(gpu{}, in, 3, nowhere); },
                                   "reduce: a null pointer stands for an array of 1 element");
    tests::expect_invalid_argument([&] { (void)reduce(gpu{}, in, minus); },
                                   "reduce: 18446744073709551615 elements, more than 2^60");
    tests::expect_invalid_argument([&] { (void)exact_sum(gpu{}, no_floats, 3); }, "exact_sum: a null pointer");
    tests::expect_invalid_argument([&] { inclusive_scan(gpu{}, in, 3, nowhere); }, "inclusive_scan: a null pointer");
    tests::expect_invalid_argument([&] { inclusive_scan(gpu{}, in, minus, nowhere); },
                                   "inclusive_scan: 18446744073709551615");
    tests::expect_invalid_argument([&] { segmented_reduce(gpu{}, in, none, 3, nowhere); },
                                   "segmented_reduce: a null pointer");
    tests::expect_invalid_argument([&] { segmented_reduce(gpu{}, in, in, 3, nowhere); },
                                   "segmented_reduce: a null pointer");
    tests::expect_invalid_argument([&] { segmented_reduce(gpu{}, none, equal_segments{2}, 3, there.base); },
                                   "array of 6 elements");
    tests::expect_invalid_argument([&] { histogram(gpu{}, in, 3, nowhere, even_bins(0, 1, 1)); },
                                   "histogram: a null pointer");
    tests::expect_invalid_argument([&] { (void)histogram(gpu{}, in, 3, edge_bins(none, 3)); }, "array of 3 elements");
    EXPECT_EQ(reduce(gpu{}, in, 100), 100);
}

TEST(arguments, standard_operations_of_int) {
    tests::each_standard_operation<std::int32_t>([](const auto& op) { by<std::int32_t>(op); });
}
TEST(arguments, standard_operations_of_float) {
    tests::each_standard_operation<float>([](const auto& op) { by<float>(op); });
}

} // namespace
