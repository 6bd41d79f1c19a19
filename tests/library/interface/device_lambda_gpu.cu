// SPDX-License-Identifier: MIT
// Functions that only a device can call, lambdas with __device__ alone and objects of a class, wherever a call on a GPU
// takes one.
#include <cstdint>
#include <vector>

#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "warpfold/chunked.cuh"
#include "warpfold/histogram.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"
#include "warpfold/segmented_reduce.cuh"

using namespace warpfold;

namespace {

struct halved {
    __device__ double operator()(float x) const { return x / 2; }
};

// A lambda of the device cannot be defined in a member function, such as the body of a test.
void every_call_takes_functions_of_the_device() {
    constexpr std::uint64_t n = 5000;
    std::vector<float> data(n);
    std::uint64_t above = 0;
    double doubled = 0, by_index = 0, running = 0;
    float largest = -100;
    std::vector<std::uint64_t> of_bin(8);
    std::vector<double> sums(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        data[k] = static_cast<float>(static_cast<int>(k * 7919 % 31) - 15);
        above += data[k] > 4 ? 1 : 0;
        doubled += 2 * data[k];
        by_index += data[k] * static_cast<double>(k);
        largest = data[k] > largest ? data[k] : largest;
        of_bin[static_cast<std::size_t>((data[k] + 15) / 4)] += 1;
        sums[k] = running += data[k] / 2;
    }
    const tests::on_device<float> there(data);
    const float* const in = there.data();
    const float limit = 4;

    const auto is_above = [limit] __device__(float x) { return x > limit; };
    const auto twice = [] __device__(float x) -> double { return 2 * x; };
    const auto times_index = [] __device__(float x, std::uint64_t k) -> double { return x * static_cast<double>(k); };
    const auto larger = [] __device__(float a, float b) { return a < b ? b : a; };
    EXPECT_EQ(count_if(gpu{}, in, n, is_above), above);
    EXPECT_EQ(count_if(gpu{}, in, n, [limit] __device__(float x, std::uint64_t) { return x > limit; }), above);
    EXPECT_EQ(transform_reduce(gpu{}, in, n, twice), doubled);
    EXPECT_EQ(transform_reduce(gpu{}, in, n, times_index), by_index);
    EXPECT_EQ(transform_reduce(gpu{}, in, n, halved{}), running);
    EXPECT_EQ(reduce(gpu{}, in, n, larger, -100.0f), largest);
    EXPECT_EQ(reduce(gpu{}, in, n, commutes(larger), -100.0f), largest);
    EXPECT_EQ(chunked_count_if(gpu{}, data, is_above), above);
    EXPECT_EQ(chunked_transform_reduce(gpu{}, data, times_index), by_index);

    const tests::on_device<std::uint64_t> offsets(std::vector<std::uint64_t>{0, 1, n});
    const tests::on_device<float> of_segments(2);
    segmented_reduce(gpu{}, in, offsets.data(), 2, of_segments.data(), larger, -100.0f);
    EXPECT_EQ(of_segments.read(), (std::vector<float>{data[0], largest}));

    const tests::on_device<double> scanned(n);
    transform_inclusive_scan(gpu{}, in, n, scanned.data(), [] __device__(float x) -> double { return x / 2; });
    EXPECT_EQ(scanned.read(), sums);
    const tests::on_device<float> running_largest(n);
    inclusive_scan(gpu{}, in, n, running_largest.data(), larger);
    EXPECT_EQ(running_largest.read().back(), largest);

    const auto quarter = [] __device__(float x) { return (static_cast<int>(x) + 15) / 4; };
    EXPECT_EQ(histogram(gpu{}, in, n, function_bins(quarter, 8)), of_bin);
}

TEST(device_lambda, every_call_takes_functions_of_the_device) { every_call_takes_functions_of_the_device(); }

} // namespace
