// SPDX-License-Identifier: MIT
// More elements than 32 bits count: 2^31 + 7 and 2^33 of them, with results that are known beforehand. Needs a GPU with
// 40 GiB; run by `./dev gpu 9 library`.
#include <cstdint>
#include <vector>

#include "tests/library/gpu_test.hpp"
#include "warpfold/exact_sum.cuh"
#include "warpfold/histogram.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"
#include "warpfold/segmented_reduce.cuh"

using namespace warpfold;

namespace {

constexpr unsigned period = 7; // element k is k modulo 7

template <class T>
__global__ void fill(T* data, std::uint64_t n) {
    for (std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n;
         k += std::uint64_t{gridDim.x} * blockDim.x) {
        data[k] = static_cast<T>(k % period);
    }
}

// The sum of the elements 0 to k.
__host__ __device__ std::uint64_t sum_to(std::uint64_t k) {
    const std::uint64_t whole = (k + 1) / period, rest = (k + 1) % period;
    return whole * 21 + (rest == 0 ? 0 : rest * (rest - 1) / 2);
}

struct is_running_sum {
    template <class T>
    __host__ __device__ bool operator()(const T& x, std::uint64_t k) const {
        return x == static_cast<T>(sum_to(k));
    }
};

// Of segments of `length` elements, a multiple of the period: the sum from the segment's first element to k, or, in
// reversed order, from its last one.
struct is_sum_of_segment {
    template <class T>
    __host__ __device__ bool operator()(const T& x, std::uint64_t k) const {
        const std::uint64_t begin = k / length * length, end = begin + length < n ? begin + length : n;
        const std::uint64_t sum = reverse ? sum_to(end - 1 - begin) - (k == begin ? 0 : sum_to(k - begin - 1))
                                          : (k == begin && !inclusive ? 0 : sum_to(k - begin - (inclusive ? 0 : 1)));
        return x == static_cast<T>(sum);
    }
    std::uint64_t n, length;
    bool reverse, inclusive;
};

struct begins_every {
    __host__ __device__ bool operator[](std::uint64_t k) const { return k % length == 0; }
    std::uint64_t length;
};

struct is_zero {
    __host__ __device__ bool operator()(std::uint8_t x) const { return x == 0; }
};

template <class T>
struct array {
    explicit array(std::uint64_t n) { CUDA(cudaMalloc(&data, n * sizeof(T))); }
    array(const array&) = delete;
    array& operator=(const array&) = delete;
    ~array() { (void)cudaFree(data); }
    T* data = nullptr;
};

void bytes(std::uint64_t n) {
    const array<std::uint8_t> in(n), out(n);
    fill<<<4096, 256>>>(in.data, n);
    const gpu on;
    EXPECT_EQ(reduce(on, in.data, n), sum_to(n - 1));
    EXPECT_EQ(count_if(on, in.data, n, is_zero{}), (n + period - 1) / period);
    const auto counts = histogram(on, in.data, n, even_bins<int>(0, period, period));
    for (unsigned b = 0; b < period; ++b) {
        EXPECT_EQ(counts[b], (n + period - 1 - b) / period);
    }
    inclusive_scan(on, in.data, n, out.data);
    EXPECT_EQ(count_if(on, out.data, n, is_running_sum{}), n);
    inclusive_scan(on, in.data, n, in.data); // in place
    EXPECT_EQ(count_if(on, in.data, n, is_running_sum{}), n);
    fill<<<4096, 256>>>(in.data, n);
    const std::uint8_t most = 200;
    CUDA(cudaMemcpy(in.data + n - 5, &most, 1, cudaMemcpyHostToDevice));
    const auto found = arg_max(on, in.data, n);
    EXPECT_TRUE(found.value == most && found.index == n - 5);
    const auto both = min_max(on, in.data, n);
    EXPECT_TRUE(both.smallest == 0 && both.largest == most);
    fill<<<4096, 256>>>(in.data, n);

    const std::uint64_t length = period * 100'000'001ull, segments = n / length;
    const array<std::uint64_t> sums(segments);
    segmented_reduce(on, in.data, equal_segments{length}, segments, sums.data);
    std::vector<std::uint64_t> got(segments);
    CUDA(cudaMemcpy(got.data(), sums.data, segments * 8, cudaMemcpyDeviceToHost));
    for (const std::uint64_t one : got) {
        EXPECT_EQ(one, 21 * 100'000'001ull);
    }
}

// Scans in other orders than the plain one, of arrays that begin where they like.
void scans(std::uint64_t n) {
    const array<std::uint8_t> memory(n + 1), out_memory(n + 3);
    std::uint8_t *const in = memory.data + 1, *const out = out_memory.data + 3;
    fill<<<4096, 256>>>(in, n);
    const gpu on;
    inclusive_scan(on, in, n, out, sum{}, reversed);
    EXPECT_EQ(count_if(on, out, n, is_sum_of_segment{n, n + period - n % period, true, true}), n);
    const std::uint64_t length = period * 200'000'003ull;
    std::vector<std::uint64_t> begins;
    for (std::uint64_t k = 0; k < n; k += length) {
        begins.push_back(k);
    }
    const array<std::uint64_t> there(begins.size());
    CUDA(cudaMemcpy(there.data, begins.data(), begins.size() * 8, cudaMemcpyHostToDevice));
    exclusive_scan(on, in, n, out, sum{}, offsets(there.data, begins.size()));
    EXPECT_EQ(count_if(on, out, n, is_sum_of_segment{n, length, false, false}), n);
    inclusive_scan(on, in, n, in, sum{}, heads(begins_every{length})); // in place
    EXPECT_EQ(count_if(on, in, n, is_sum_of_segment{n, length, false, true}), n);
    fill<<<4096, 256>>>(in, n);
    inclusive_scan(on, in, n, in, sum{}, reversed, offsets(there.data, begins.size()));
    EXPECT_EQ(count_if(on, in, n, is_sum_of_segment{n, length, true, true}), n);
}

void wider(std::uint64_t n) {
    const array<std::int32_t> in(n);
    const array<std::uint64_t> out(n);
    fill<<<4096, 256>>>(in.data, n);
    inclusive_scan(gpu{}, in.data, n, out.data);
    EXPECT_EQ(count_if(gpu{}, out.data, n, is_running_sum{}), n);
    inclusive_scan(gpu{}, in.data, n, in.data, sum{}, reversed); // in place
    EXPECT_EQ(count_if(gpu{}, in.data, n, is_sum_of_segment{n, n + period - n % period, true, true}), n);
}

void floats(std::uint64_t n) {
    const array<float> in(n);
    fill<<<4096, 256>>>(in.data, n);
    EXPECT_EQ(exact_sum(gpu{}, in.data, n), static_cast<float>(sum_to(n - 1)));
    EXPECT_EQ(arg_max(gpu{}, in.data, n).index, period - 1);
}

constexpr std::uint64_t beyond_31_bits = (std::uint64_t{1} << 31) + 7;

TEST(large, bytes) { bytes(beyond_31_bits); }
TEST(large, bytes_beyond_32_bits) { bytes(std::uint64_t{1} << 33); }
TEST(large, scans_of_unaligned_bytes_in_other_orders) { scans(beyond_31_bits); }
TEST(large, integers_into_64_bits) { wider(beyond_31_bits); }
TEST(large, floats) { floats(beyond_31_bits); }

} // namespace
