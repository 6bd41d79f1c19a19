// SPDX-License-Identifier: MIT
// Exact weighted histograms on a GPU: the limbs of each bin in global memory (detail/exact/exact_integer.hpp), to which
// blocks add by integer atomics, whose order does not matter; then a thread for each bin rounds its sum. Blocks of few bins
// have limbs of their own in shared memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/bins/channels.hpp"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/exact/exact_integer.hpp"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/exact_sum/accumulator.cuh"
#include "warpfold/gpu/histogram/histogram.cuh"

namespace warpfold::detail {

inline constexpr unsigned exact_histogram_threads = 256;
inline constexpr unsigned exact_histogram_shared = 48 * 1024;                    // bytes, of every device
inline constexpr std::uint64_t exact_histogram_samples = std::uint64_t{1} << 30; // limbs hold twice as many

// Adds the samples from `begin` to `end`. `near`: the limbs of all bins fit the block's shared memory.
template <class In, class Weights, class Count, class Of, class T>
__global__ void __launch_bounds__(exact_histogram_threads)
    exact_histogram_kernel(In in, Weights weights, Count number, std::uint64_t begin, std::uint64_t end, Of of,
                           exact_limbs<T>* table, bool near) {
    extern __shared__ __align__(16) unsigned char histogram_shared[];
    binner_checks<typename Of::binner, element_t<In>>::run();
    detail::load_bins(of);
    constexpr unsigned words = sizeof(exact_limbs<T>) / 8;
    auto* const held = reinterpret_cast<unsigned long long*>(histogram_shared);
    const unsigned held_words = near ? of.bins * words : 0;
    for (unsigned k = threadIdx.x; k < held_words; k += exact_histogram_threads) {
        held[k] = 0;
    }
    __syncthreads();
    auto* const to = near ? reinterpret_cast<exact_limbs<T>*>(histogram_shared) : table;
    const std::uint64_t n = number.value(), last = end < n ? end : n;
    const std::uint64_t threads = std::uint64_t{gridDim.x} * exact_histogram_threads;
    for (std::uint64_t k = begin + std::uint64_t{blockIdx.x} * exact_histogram_threads + threadIdx.x; k < last;
         k += threads) {
        const unsigned bin = of(in[k], 0);
        if (bin < of.bins) {
            unsigned met = 0;
            add_term(static_cast<T>(weights[k]), global_limbs{to[bin].limb}, met);
            if (met != 0) {
                atomicOr(&to[bin].met, static_cast<unsigned long long>(met));
            }
        }
    }
    __syncthreads();
    for (unsigned k = threadIdx.x; k < held_words; k += exact_histogram_threads) {
        const unsigned long long what = held[k];
        auto* const word = reinterpret_cast<unsigned long long*>(table) + k;
        if (what != 0 && k % words == words - 1) {
            atomicOr(word, what);
        } else if (what != 0) {
            atomicAdd(word, what);
        }
    }
}

// Carries until all limbs but the highest are in [0, 2^32).
template <class T>
__global__ void carry_histogram_kernel(exact_limbs<T>* table, unsigned bins) {
    const unsigned bin = blockIdx.x * blockDim.x + threadIdx.x;
    if (bin >= bins) {
        return;
    }
    long long* const limb = table[bin].limb;
    long long carry = 0;
    for (unsigned k = 0; k + 1 < exact_limbs<T>::count; ++k) {
        const long long v = limb[k] + carry;
        limb[k] = v & 0xffffffff;
        carry = v >> 32;
    }
    limb[exact_limbs<T>::count - 1] += carry;
}

template <class T>
__global__ void round_histogram_kernel(exact_limbs<T>* table, unsigned bins, T* sums, bool adds) {
    const unsigned bin = blockIdx.x * blockDim.x + threadIdx.x;
    if (bin >= bins) {
        return;
    }
    using layout = exact_layout<T, 1>;
    std::int64_t limb[layout::limbs];
    for (unsigned k = 0; k < layout::limbs; ++k) {
        limb[k] = table[bin].limb[k];
    }
    auto met = static_cast<unsigned>(table[bin].met);
    if (adds) {
        add_term(sums[bin], to_limbs{limb}, met);
    }
    sums[bin] = rounded<T>(limb, layout::limbs, layout::lowest, met);
}

template <gpu_target On>
struct exact_histogram_engine<On> {
    template <class In, class Weights, class N, class Sum, class Of>
    static void weigh(const On& on, const In& in, const Weights& weights, const N& number, Sum* sums, const Of& of,
                      update mode, const char* call) {
        const auto count = detail::checked_count(number, call);
        detail::check_array(in, count.most, call);
        detail::check_array(weights, count.most, call);
        detail::check_array(sums, of.bins, call);
        check_edge_arrays(of, call);
        const call_device scope;
        const call_memory memory(on, 0, of.bins * sizeof(exact_limbs<Sum>), call);
        auto* const table = static_cast<exact_limbs<Sum>*>(memory.data());
        constexpr unsigned threads = exact_histogram_threads;
        const unsigned each = divided_up(of.bins, threads);
        const std::uint64_t bytes = of.bins * sizeof(exact_limbs<Sum>);
        const bool near = bytes <= exact_histogram_shared;
        const unsigned resident = 4 * device_attribute<cudaDevAttrMultiProcessorCount>();
        for (std::uint64_t begin = 0; begin < count.most; begin += exact_histogram_samples) {
            const std::uint64_t end = std::min(count.most, begin + exact_histogram_samples);
            // A block in shared memory has samples for more than it adds to the table at its end.
            const std::uint64_t of_block = near ? std::max<std::uint64_t>(8 * threads, 4 * of.bins) : 4 * threads;
            const auto blocks = static_cast<unsigned>(std::clamp<std::uint64_t>((end - begin) / of_block, 1, resident));
            if (begin != 0) {
                carry_histogram_kernel<<<each, threads, 0, on.stream>>>(table, of.bins);
                WARPFOLD_CHECK_CUDA(cudaGetLastError());
            }
            exact_histogram_kernel<<<blocks, threads, near ? static_cast<unsigned>(bytes) : 0, on.stream>>>(
                in, weights, count, begin, end, of, table, near);
            WARPFOLD_CHECK_CUDA(cudaGetLastError());
        }
        round_histogram_kernel<<<each, threads, 0, on.stream>>>(table, of.bins, sums, mode == update::add);
        WARPFOLD_CHECK_CUDA(cudaGetLastError());
    }
};

} // namespace warpfold::detail
