// SPDX-License-Identifier: MIT
// Histograms on a GPU of every kind of bins, of weights and of channels, captured, and of bad arguments; a block's
// histogram in a kernel of one's own.
#include "warpfold/histogram.cuh"

#include <array>
#include <numeric>
#include <vector>

#include "tests/library/captured_calls.hpp"
#include "tests/library/cases.hpp"
#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "tests/library/histogram/histogram_cases.hpp"
#include "warpfold/block/histogram.cuh"

using namespace warpfold;

namespace {

using tests::on_device;

// Floating-point samples: the same as on the host, bin by bin.
template <class T>
void floating() {
    for (const std::uint64_t n : {7u, 30011u}) {
        const auto data = tests::odd_numbers<T>(n, 3);
        const on_device<T> there(data);
        for (const unsigned bins : {1u, 10u, 997u}) {
            const even_bins<T> even(T{-10}, T{10}, bins);
            EXPECT_EQ(histogram(gpu{}, there.data(), n, even), histogram(host{1}, data, even));
        }
        for (const std::size_t edges : {2u, 3u, 700u}) {
            std::vector<T> edge(edges);
            for (std::size_t k = 0; k < edges; ++k) {
                edge[k] = static_cast<T>(static_cast<double>(k * k / 2) / 16 - 11);
            }
            const on_device<T> edges_there(edge);
            EXPECT_EQ(histogram(gpu{}, there.data(), n, edge_bins(edges_there.data(), edges)),
                      tests::counted_between(data, edge));
        }
    }
}

struct squares {
    WARPFOLD_HD std::uint64_t operator[](std::uint64_t k) const { return k * k; }
};

TEST(histogram_kinds, functions_and_iterators) {
    const auto data = tests::any_numbers<std::int16_t>(50021, 9);
    const on_device<std::int16_t> there(data);
    const function_bins sums(tests::digit_sum{}, 30);
    EXPECT_EQ(histogram(gpu{}, there.data(), data.size(), sums), histogram(host{1}, data, sums));
    const even_bins<std::uint64_t> even(0, std::uint64_t{1} << 33, 300);
    EXPECT_EQ(histogram(gpu{}, squares{}, 100003, even), histogram(host{1}, squares{}, 100003, even));
}

template <class Sum, class Weight>
void weighted(unsigned bins) {
    const std::uint64_t n = 30011;
    const auto data = tests::any_numbers<std::int32_t>(n, 4);
    const auto weights = tests::small_numbers<Weight>(n, 5);
    const on_device<std::int32_t> there(data);
    const on_device<Weight> weights_there(weights);
    std::vector<Sum> expected(bins);
    const even_bins<std::int64_t> even(-(std::int64_t{1} << 30), std::int64_t{1} << 31, bins);
    weighted_histogram(host{2}, data.data(), weights.data(), n, expected.data(), even);
    const on_device<Sum> sums(std::vector<Sum>(bins, Sum{3}));
    weighted_histogram(gpu{}, there.data(), weights_there.data(), n, sums.base, even);
    EXPECT_EQ(sums.read(), expected);
    workspace memory(histogram_workspace());
    weighted_histogram(gpu{nullptr, &memory}, there.data(), weights_there.data(), n, sums.base, even, update::add);
    weighted_histogram(host{2}, data.data(), weights.data(), n, expected.data(), even, update::add);
    EXPECT_EQ(sums.read(), expected);
}

TEST(histogram_kinds, channels) {
    const std::uint64_t pixels = 20011;
    const auto bytes = tests::any_numbers<std::uint8_t>(pixels * 4, 1);
    const on_device<std::uint8_t> there(bytes);
    const std::array bins{even_bins(0, 256, 256), even_bins(0, 128, 7), even_bins(100, 200, 100)};
    std::vector<std::uint32_t> expected(256 + 7 + 100);
    const on_device<std::uint32_t> counts(expected);
    histogram_channels<4>(host{2}, bytes.data(), pixels, expected.data(), bins);
    histogram_channels<4>(gpu{}, there.data(), pixels, counts.base, bins);
    EXPECT_EQ(counts.read(), expected);
    const auto shorts = tests::any_numbers<std::int16_t>(pixels * 3, 1);
    const on_device<std::int16_t> shorts_there(shorts);
    const std::array same{even_bins(-32768, 32768, 100), even_bins(0, 32768, 163), even_bins(-5, 5000, 100)};
    histogram_channels<3>(host{2}, shorts.data(), pixels, expected.data(), same);
    histogram_channels<3>(gpu{}, shorts_there.data(), pixels, counts.base, same);
    EXPECT_EQ(counts.read(), expected);
    for (const unsigned many : {0u, 1u, 7777u, 20011u, 20012u}) { // the number of pixels on the device
        const on_device<unsigned> number(std::vector<unsigned>{many});
        const std::uint64_t counted = std::min<std::uint64_t>(many, pixels);
        histogram_channels<3>(host{2}, shorts.data(), counted, expected.data(), same);
        histogram_channels<3>(gpu{}, shorts_there.data(), count_at(number.data(), pixels), counts.base, same);
        EXPECT_EQ(counts.read(), expected) << many;
    }
}

// A captured call runs again and again on what its memory holds by then, and leaves its workspace as it found it.
TEST(histogram_kinds, captured) {
    const std::uint64_t n = 100000;
    const on_device<std::int32_t> there(std::vector<std::int32_t>(n, 0));
    const on_device<std::uint32_t> counts(std::vector<std::uint32_t>(100, 1));
    workspace memory(histogram_workspace());
    const even_bins even(-1000000000, 1000000000, 100);
    const tests::captured_calls captured([&](cudaStream_t stream) {
        histogram(gpu{stream, &memory}, there.data(), n, counts.base, even);
    });
    for (unsigned k = 0; k < 3; ++k) {
        const auto data = tests::any_numbers<std::int32_t>(n, 10 + k);
        CUDA(cudaMemcpy(there.base, data.data(), n * 4, cudaMemcpyHostToDevice));
        captured.run();
        std::vector<std::uint32_t> expected(100);
        histogram(host{1}, data, expected, even);
        EXPECT_EQ(counts.read(), expected);
    }
}

// Each block counts its own part of the samples by the last digit of their squares.
__global__ void count_digits(const unsigned* samples, unsigned each, unsigned copies, unsigned* counts) {
    __shared__ unsigned counters[block::histogram::words(10, 32)];
    block::histogram digits(counters, 10, copies, threadIdx.x, blockDim.x);
    digits.clear();
    __syncthreads();
    for (unsigned k = threadIdx.x; k < each; k += blockDim.x) {
        const unsigned x = samples[blockIdx.x * each + k];
        digits.count(x % 7 == 0 ? 0xffffffffu : x * x % 10);
    }
    __syncthreads();
    if (blockIdx.x == 0) {
        digits.add_to(counts, 3);
    } else if (threadIdx.x < 10) {
        atomicAdd(&counts[threadIdx.x], digits.total(threadIdx.x));
    }
}

TEST(histogram_kinds, block_histogram) {
    std::vector<unsigned> data(3 * 700);
    std::iota(data.begin(), data.end(), 5u);
    std::vector<unsigned> expected(10);
    for (const unsigned x : data) {
        expected[x * x % 10] += x % 7 != 0;
    }
    const on_device<unsigned> there(data);
    for (const unsigned copies : {1u, 8u, 32u}) {
        const on_device<unsigned> counts(std::vector<unsigned>(10));
        count_digits<<<3, 128>>>(there.data(), 700, copies, counts.base);
        EXPECT_EQ(counts.read(), expected);
    }
}

TEST(histogram_kinds, bad_arguments) {
    const on_device<int> there(std::vector<int>(100000, 1));
    const on_device<unsigned> counts(std::vector<unsigned>(16));
    const int* const askew = reinterpret_cast<const int*>(reinterpret_cast<const char*>(there.data()) + 2);
    auto* const askew_counts = reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(counts.base) + 4);
    const even_bins even(0, 16, 16);
    tests::expect_invalid_argument([&] { histogram(gpu{}, askew, 10, counts.base, even); },
                                   "histogram: the array is not aligned to the 4 bytes");
    tests::expect_invalid_argument([&] { histogram(gpu{}, there.data(), 10, askew_counts, even_bins(0, 2, 2)); },
                                   "not aligned to the 8 bytes");
    workspace nothing(0);
    tests::expect_invalid_argument(
        [&] {
            histogram(gpu{nullptr, &nothing}, there.data(), 100000, counts.base, even);
        },
        "the workspace has 0 bytes");
    histogram(gpu{}, there.data(), 100000, counts.base, even);
    EXPECT_EQ(counts.read()[1], 100000);
}

TEST(histogram_kinds, floating_samples) {
    floating<float>();
    floating<double>();
}
TEST(histogram_kinds, weighted) {
    weighted<std::int64_t, std::int16_t>(100);
    weighted<float, double>(1000);
    weighted<double, float>(40000);
}

} // namespace
