// SPDX-License-Identifier: MIT
// Histograms on a GPU whose samples are sorted by partitions of the bins, here small ones, in small tiles and chunks.
#include "warpfold/histogram.cuh"

#include <array>
#include <new>
#include <tuple>
#include <vector>

#include "tests/library/captured_calls.hpp"
#include "tests/library/cases.hpp"
#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "tests/library/histogram/histogram_cases.hpp"

using namespace warpfold;

namespace {

using tests::on_device;

constexpr tuning::histogram_kernels kernels{.block_threads = 64,
                                            .few_bytes_block_threads = 256,
                                            .partition_block_threads = 64,
                                            .partition_samples_per_thread = 32,
                                            .partition_resident_blocks = 1};

// Tiles of 2,048 samples, chunks of 5,008.
auto policy(unsigned bins) {
    tuning::histogram_policy<kernels> made;
    made.partition_min_packed_blocks = 0;
    made.partition_min_samples = 1;
    made.partition_max_bins = bins;
    made.partition_chunk_samples = 5000;
    return made;
}
gpu with_memory(workspace& memory) { return {nullptr, &memory}; }

std::size_t memory_of(std::uint64_t n, unsigned bins, unsigned of_partition) {
    const auto partitions =
        detail::plan_partitions(detail::histogram_facts::of_device(), n, bins, policy(of_partition));
    return partitions ? detail::partition_bytes(*partitions, n) : 0;
}

// Every length and start, few partitions and many, counts overwritten and added to, with a workspace and without.
template <class T, class Counter>
void integers() {
    const std::int64_t half = std::int64_t{1} << (8 * sizeof(T) - 1) % 63;
    for (const std::uint64_t n : {1u, 17u, 2039u, 2047u, 2048u, 2049u, 5007u, 5008u, 5009u, 11003u}) {
        const std::size_t skip = n % 5;
        const auto data = tests::any_numbers<T>(n, static_cast<unsigned>(n));
        const on_device<T> there(data, skip);
        for (const unsigned of_partition : {4u, 100u, 5000u}) {
            const unsigned bins = of_partition == 4 ? 191 : 997; // a fifth of the samples has none
            const even_bins<std::int64_t> even(-half, half / 2, bins);
            const auto expected = histogram(host{1}, data, even);
            const std::size_t bytes = memory_of(n, bins, of_partition);
            ASSERT_NE(bytes, 0);
            workspace memory(bytes);
            const on_device<Counter> counts(std::vector<Counter>(bins, Counter{77}));
            histogram(with_memory(memory).with(policy(of_partition)), there.data(), n, counts.base, even);
            const auto once = counts.read();
            EXPECT_TRUE(std::equal(once.begin(), once.end(), expected.begin(), expected.end())) << n;
            histogram(gpu{}.with(policy(of_partition)), there.data(), n, counts.base, even, update::add);
            const auto twice = counts.read();
            for (unsigned k = 0; k < bins; ++k) {
                ASSERT_EQ(static_cast<std::uint64_t>(twice[k]), 2 * expected[k]) << n << " samples, bin " << k;
            }
            tests::expect_zero(memory);
        }
    }
}
TEST(HistogramSorted, SamplesOf16Bits) { integers<std::int16_t, std::uint32_t>(); }
TEST(HistogramSorted, SamplesOf32Bits) { integers<std::int32_t, std::int64_t>(); }
TEST(HistogramSorted, SamplesOf64Bits) { integers<std::int64_t, std::uint32_t>(); }

// Constant samples, hot bins, sorted samples, and none that has a bin: runs of a tile from none to all of it.
TEST(HistogramSorted, SkewedSamples) {
    const std::uint64_t n = 9001;
    for (const unsigned kind : {0u, 1u, 2u, 3u}) {
        std::vector<std::int32_t> data(n);
        for (std::size_t k = 0; k < n; ++k) {
            const std::size_t mixed = k * 2654435761u >> 7;
            data[k] = static_cast<std::int32_t>(kind == 0   ? 503
                                                : kind == 1 ? (mixed % 3 == 0 ? mixed % 991 : 500 + mixed % 5)
                                                : kind == 2 ? k * 991 / n
                                                            : 5000 + mixed % 100);
        }
        const on_device<std::int32_t> there(data);
        for (const unsigned of_partition : {16u, 400u}) {
            const even_bins<int> even(0, 991, 991);
            EXPECT_EQ(histogram(gpu{}.with(policy(of_partition)), there.data(), n, even),
                      histogram(host{1}, data, even));
        }
    }
}

struct squares {
    WARPFOLD_HD std::uint64_t operator[](std::uint64_t k) const { return k * k; }
};

TEST(HistogramSorted, KindsOfSamplesAndBins) {
    const auto on = gpu{}.with(policy(100));
    const std::uint64_t n = 7001;
    const auto numbers = tests::odd_numbers<double>(n, 3);
    const on_device<double> numbers_there(numbers, 1);
    const even_bins<double> even(-10, 10, 997);
    EXPECT_EQ(histogram(on, numbers_there.data(), n, even), histogram(host{1}, numbers, even));
    std::vector<double> edges(700);
    for (std::size_t k = 0; k < edges.size(); ++k) {
        edges[k] = static_cast<double>(k * k / 2) / 16 - 11;
    }
    const on_device<double> edges_there(edges);
    EXPECT_EQ(histogram(on, numbers_there.data(), n, edge_bins(edges_there.data(), edges.size())),
              tests::counted_between(numbers, edges));

    const even_bins<std::uint64_t> wide(0, std::uint64_t{1} << 23, 300);
    EXPECT_EQ(histogram(on, squares{}, n, wide), histogram(host{1}, squares{}, n, wide));
    const auto shorts = tests::any_numbers<std::int16_t>(n * 3, 1);
    const on_device<std::int16_t> shorts_there(shorts);
    const function_bins sums(tests::digit_sum{}, 230);
    EXPECT_EQ(histogram(on, shorts_there.data(), n, sums), histogram(host{1}, shorts.data(), n, sums));
    const std::array of_channels{even_bins(-32768, 32768, 100), even_bins(0, 32768, 163), even_bins(-5, 5000, 100)};
    std::vector<std::uint32_t> expected(363);
    const on_device<std::uint32_t> counts(expected);
    histogram_channels<3>(host{1}, shorts.data(), n, expected.data(), of_channels);
    histogram_channels<3>(on, shorts_there.data(), n, counts.base, of_channels);
    EXPECT_EQ(counts.read(), expected);
    const std::tuple joint{even_bins(-32768, 32768, 20), even_bins(-32768, 32768, 30)};
    std::vector<std::uint32_t> expected_nd(600);
    const on_device<std::uint32_t> counts_nd(expected_nd);
    histogram_nd(host{1}, std::tuple{shorts.data(), shorts.data() + n}, n, expected_nd.data(), joint);
    histogram_nd(on, std::tuple{shorts_there.data(), shorts_there.data() + n}, n, counts_nd.base, joint);
    EXPECT_EQ(counts_nd.read(), expected_nd);
}

// A captured call, whose number of samples is on the device, for different samples.
TEST(HistogramSorted, CapturedAndCounted) {
    const std::uint64_t most = 10100;
    const unsigned bins = 500;
    const on_device<std::int32_t> there(std::vector<std::int32_t>(most, 0));
    const on_device<std::uint64_t> number(1);
    const on_device<std::uint32_t> counts(std::vector<std::uint32_t>(bins, 1));
    workspace memory(memory_of(most, bins, 64));
    const even_bins even(-1000000000, 1000000000, bins);
    const tests::captured_calls captured([&](cudaStream_t stream) {
        histogram(gpu{stream, &memory}.with(policy(64)), there.data(), count_at(number.data(), most), counts.base,
                  even);
    });
    for (const std::uint64_t n : {most, std::uint64_t{5008}, std::uint64_t{1500}, std::uint64_t{0}, most + 9}) {
        auto data = tests::any_numbers<std::int32_t>(most, static_cast<unsigned>(n));
        CUDA(cudaMemcpy(there.base, data.data(), most * 4, cudaMemcpyHostToDevice));
        CUDA(cudaMemcpy(number.base, &n, sizeof n, cudaMemcpyHostToDevice));
        captured.run();
        data.resize(std::min(n, most));
        std::vector<std::uint32_t> expected(bins);
        histogram(host{1}, data, expected, even);
        EXPECT_EQ(counts.read(), expected) << n;
    }
    tests::expect_zero(memory);
}

// With the defaults: the memory of the fastest method, or another method.
TEST(HistogramSorted, Workspaces) {
    const std::uint64_t n = tuning::histogram_policy<>{}.partition_min_samples;
    EXPECT_EQ(histogram_workspace(n, 256), histogram_workspace());
    EXPECT_EQ(histogram_workspace(n - 1, 1 << 20), histogram_workspace());
    EXPECT_EQ(histogram_workspace(n, std::uint64_t{1} << 31), histogram_workspace());
    EXPECT_GT(histogram_workspace(n, 1 << 20), 2 * n);
    EXPECT_EQ(histogram_workspace(std::uint64_t{1} << 28, 1 << 20),
              histogram_workspace(std::uint64_t{1} << 34, 1 << 20));
    const std::uint64_t few = 5001;
    const auto data = tests::any_numbers<std::int32_t>(few, 9);
    const on_device<std::int32_t> there(data);
    const even_bins even(-2000000000, 2000000000, 700);
    workspace memory(histogram_workspace());
    const on_device<std::uint64_t> counts(std::vector<std::uint64_t>(700, 1));
    histogram(with_memory(memory).with(policy(100)), there.data(), few, counts.base, even);
    EXPECT_EQ(counts.read(), histogram(host{1}, data, even));
}

// Has no memory, and says so by an exception of its own.
template <class Failure>
struct without_memory {
    void* allocate(cudaStream_t, std::size_t, std::size_t) {
        ++asked;
        throw Failure(failure);
    }
    void deallocate(cudaStream_t, void*, std::size_t, std::size_t) noexcept {}

    Failure failure;
    unsigned asked = 0;
};

TEST(HistogramSorted, WithoutMemory) {
    const auto data = tests::any_numbers<std::int32_t>(5001, 9);
    const on_device<std::int32_t> there(data);
    const even_bins even(-2000000000, 2000000000, 700);
    const auto check = [&](auto failure) {
        without_memory<decltype(failure)> none{failure};
        for (const update mode : {update::overwrite, update::add}) {
            std::vector<std::uint64_t> expected(700, 1);
            const on_device<std::uint64_t> counts(expected);
            histogram(gpu{}.with(policy(100)).with(none), there.data(), data.size(), counts.base, even, mode);
            histogram(host{1}, data, expected, even, mode);
            EXPECT_EQ(counts.read(), expected);
        }
        EXPECT_EQ(none.asked, 2);
    };
    check(out_of_memory(cudaErrorMemoryAllocation, "none"));
    check(std::bad_alloc());
}

// The partition of a bin at the edges of every partition, by the multiplication in place of a division.
__global__ void count_wrong_partitions(detail::partition_layout layout, unsigned* wrong) {
    for (unsigned part = threadIdx.x; part < layout.parts; part += blockDim.x) {
        const unsigned first = part * layout.bins;
        if (layout.part_of(first) != part || layout.part_of(first + layout.bins - 1) != part ||
            layout.part_of(first + layout.bins / 2) != part) {
            atomicAdd(wrong, 1u);
        }
    }
}
TEST(HistogramSorted, Partitions) {
    for (const unsigned shared : {48u << 10, 64u << 10, 99u << 10, 163u << 10, 227u << 10}) {
        for (const unsigned limit : {4u, 5u, 6u, 7u, 100u, 65536u}) {
            const auto of = [&](unsigned bins) {
                return detail::partition_layout::of(bins, shared, limit, 384, 12288, 1000);
            };
            const unsigned each = of(1).bins;
            EXPECT_TRUE(each <= limit && (each + detail::most_partitions) * 4 + 256 <= shared) << each;
            const auto layout = of(each * (detail::most_partitions - 1) + each / 2);
            EXPECT_EQ(layout.parts, detail::most_partitions);
            const on_device<unsigned> wrong(std::vector<unsigned>(1, 0));
            count_wrong_partitions<<<1, 256>>>(layout, wrong.base);
            EXPECT_EQ(wrong.read().front(), 0) << each;
        }
    }
}

} // namespace
