// SPDX-License-Identifier: MIT
// Histograms of 8-bit samples: their values are counted, and the bins of the 256 values are found at the end.
#pragma once

#include <cstdint>

#include "warpfold/block/histogram.cuh"
#include "warpfold/gpu/histogram/grid_stride.cuh"
#include "warpfold/gpu/histogram/layout.cuh"
#include "warpfold/gpu/histogram/packed_counters.cuh"

namespace warpfold::detail {

// A counter per value, in 64 copies, so that each lane of a warp has its own bank. A thread's counters are 256 bytes
// apart, so one instruction makes the offset of a sample's counter.
template <class In>
struct count_bytes {
    __device__ void one(const element_t<In>& x, unsigned /*channel*/) {
        count(static_cast<unsigned char>(x) * 256u + offset);
    }
    template <class T>
    __device__ void many(const uint4& vector, unsigned /*channel*/) {
        const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
        for (unsigned w = 0; w < 4; ++w) {
#pragma unroll
            for (unsigned j = 0; j < 4; ++j) { // bytes: the offset's own, the sample, two zeros
                count(__byte_perm(words[w], offset, 0x5504 | j << 4));
            }
        }
    }
    __device__ void count(unsigned place) { atomicAdd(reinterpret_cast<unsigned*>(counters + place), 1u); }

    unsigned char* counters;
    unsigned offset; // of the thread's copy, below 256
};

inline constexpr unsigned value_copies = 64;

// Few samples. One warp clears the counts, or waits until they are cleared, while the others count in 32 copies.
template <class Kernels, class S, class Count, class Code, class Counter>
__global__ void __launch_bounds__(Kernels::value.few_bytes_block_threads + 32)
    histogram_few_values_kernel(const S* in, Count number, Code code, Counter* counts, histogram_layout layout,
                                histogram_control* control) {
    const std::uint64_t n = number.value();
    constexpr unsigned counting = Kernels::value.few_bytes_block_threads, copies = 32, each = 256 * copies / counting;
    static_assert(counting % 256 == 0 && each % 4 == 0);
    __shared__ uint4 counters[256 * copies / 4];
    const bool counts_too = threadIdx.x < counting;
    const vector_view<S> view(in, n);
    const std::uint64_t threads = std::uint64_t{gridDim.x} * counting;
    const std::uint64_t thread = std::uint64_t{blockIdx.x} * counting + threadIdx.x;
    uint4 first{};
    if (counts_too) {
        if (thread < view.vectors) {
            first = load_vector<cache_hint::keep>(view.data + thread);
        }
#pragma unroll
        for (unsigned k = 0; k < each / 4; ++k) {
            counters[k * counting + threadIdx.x] = uint4{};
        }
    } else {
        zero_counts_by_warp(counts, layout, control);
    }
    __syncthreads();
    if (counts_too) {
        const unsigned copy = static_cast<unsigned>(__cvta_generic_to_shared(counters)) + threadIdx.x % copies * 4;
        const auto count = [&](unsigned value) {
            asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(copy + value * (copies * 4)) : "memory");
        };
        const auto count_vector = [&](const uint4& vector) {
            const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
            for (unsigned j = 0; j < 16; ++j) {
                count(words[j / 4] >> j % 4 * 8 & 0xff);
            }
        };
        if (thread < view.vectors) {
            count_vector(first);
        }
        view.template for_rounds<1, cache_hint::keep>(
            thread + threads, view.vectors, threads, threads,
            [&](const uint4& vector, std::uint64_t) { count_vector(vector); });
        view.for_edges(n, thread, threads, [&](std::uint64_t k) { count(static_cast<unsigned char>(in[k])); });
    }
    wait_for_zeroed_counts(layout, control, counting);
    if (!counts_too) {
        return;
    }
    constexpr unsigned sharing = counting / 256, words = copies / sharing / 4; // threads per value, vectors of each
    const unsigned value = threadIdx.x / sharing;
    unsigned total = 0;
#pragma unroll
    for (unsigned k = 0; k < words; ++k) {
        const uint4 part = counters[value * (copies / 4) + threadIdx.x % sharing * words + (k + value) % words];
        total += part.x + part.y + part.z + part.w;
    }
#pragma unroll
    for (unsigned distance = 1; distance < sharing; distance *= 2) {
        total += __shfl_xor_sync(0xffffffffu, total, distance);
    }
    if (threadIdx.x % sharing == 0 && total != 0) {
        const unsigned bin = code.bin(value);
        if (bin != outside) {
            add_to_count(counts + bin, total);
        }
    }
}

template <class Kernels, class In, class Count, class Code, class Counter>
__global__ void __launch_bounds__(Kernels::value.block_threads, Kernels::value.resident_blocks)
    histogram_values_kernel(In in, Count number, Code code, Counter* counts, histogram_layout layout,
                            histogram_control* control) {
    const std::uint64_t n = number.value();
    extern __shared__ __align__(16) unsigned char histogram_shared[];
    zero_counts(counts, layout, control);
    auto* const words = reinterpret_cast<unsigned*>(histogram_shared);
    for (unsigned k = threadIdx.x; k < 256 * value_copies; k += blockDim.x) {
        words[k] = 0;
    }
    __syncthreads();
    const histogram_share share(layout, 256);
    grid_stride_loop<1, Kernels::value.byte_vector_loads_in_flight>(
        in, n, share.thread, share.threads, layout.once,
        count_bytes<In>{histogram_shared, threadIdx.x % value_copies * 4});
    wait_for_zeroed_counts(layout, control);
    // A warp adds the copies of a value. Neighbouring threads then add neighbouring values to the counts: coalesced
    // atomics are 20 times as fast.
    for (unsigned value = threadIdx.x / 32; value < 256; value += blockDim.x / 32) {
        unsigned total =
            words[value * value_copies + threadIdx.x % 32] + words[value * value_copies + threadIdx.x % 32 + 32];
#pragma unroll
        for (unsigned distance = 16; distance != 0; distance /= 2) {
            total += __shfl_xor_sync(0xffffffffu, total, distance);
        }
        if (threadIdx.x % 32 == 0) {
            words[value * value_copies + value % 32] = total; // the copies have been read; banks differ
        }
    }
    __syncthreads();
    for (unsigned value = threadIdx.x; value < 256; value += blockDim.x) {
        const unsigned total = words[value * value_copies + value % 32];
        const unsigned bin = total == 0 ? outside : code.bin(value);
        if (bin != outside) {
            add_to_count(counts + bin, total);
        }
    }
}

} // namespace warpfold::detail
