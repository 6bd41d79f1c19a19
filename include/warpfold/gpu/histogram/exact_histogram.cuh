// SPDX-License-Identifier: MIT
// Exact weighted histograms on a GPU: the limbs of each bin in global memory (detail/exact/exact_integer.hpp), to which
// blocks add by integer atomics, whose order does not matter; then a thread for each bin rounds its sum. If there are samples
// enough for the bins, blocks have words of their own in shared memory (exact_words.cuh), for all bins or, in groups of blocks that
// read the same samples, for a part of them each. Weights that these do not hold go to the limbs.
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
#include "warpfold/gpu/histogram/exact_words.cuh"
#include "warpfold/gpu/histogram/histogram.cuh"
#include "warpfold/gpu/histogram/layout.cuh"
#include "warpfold/operation.hpp"
#include "warpfold/warp/reduce.cuh"

namespace warpfold::detail {

inline constexpr unsigned exact_histogram_threads = 1024;                        // of a block; one for a multiprocessor
inline constexpr unsigned exact_histogram_parts = 8;                             // blocks that share the bins, at most
inline constexpr unsigned exact_histogram_copies_bytes = 64 * 1024;              // of a block's words, with copies
inline constexpr std::uint64_t exact_histogram_samples = std::uint64_t{1} << 30; // limbs hold twice as many

// Adds a weight to its bin in global memory.
// static: in relocatable code a kernel with a limit of registers can call no external function that takes more.
template <class T>
static __device__ __noinline__ void add_to_table(T weight, exact_limbs<T>* to) {
    unsigned met = 0;
    add_term(weight, global_limbs{to->limb}, met);
    if (met != 0) {
        atomicOr(&to->met, static_cast<unsigned long long>(met));
    }
}

// The first limb of a block's words: around its largest weight among the first ones. Contains barriers.
template <class T, class Weights>
__device__ unsigned choose_first_limb(const Weights& weights, std::uint64_t k, std::uint64_t end) {
    __shared__ unsigned top;
    if (threadIdx.x == 0) {
        top = 0;
    }
    __syncthreads();
    const number_parts<T> first = parts_of(k < end ? static_cast<T>(weights[k]) : T(0));
    const unsigned most = warp::reduce(first.special ? 0 : first.place, maximum{});
    if (threadIdx.x % warp::lanes == 0) {
        atomicMax(&top, most);
    }
    __syncthreads();
    return exact_words<T>::first_limb(top);
}

// Adds the samples from `begin` to `end`. A block has words for its part of the bins, or adds all to the table if
// layout.part_codes is 0.
template <class In, class Weights, class Count, class Of, class T>
__global__ void __launch_bounds__(exact_histogram_threads)
    exact_histogram_kernel(In in, Weights weights, Count number, std::uint64_t begin, std::uint64_t end, Of of,
                           exact_limbs<T>* table, histogram_layout layout) {
    using words = exact_words<T>;
    extern __shared__ __align__(16) unsigned char histogram_shared[];
    auto* const word = reinterpret_cast<unsigned*>(histogram_shared);
    binner_checks<typename Of::binner, element_t<In>>::run();
    detail::load_bins(of);
    const histogram_share share(layout, of.bins);
    const unsigned apart = share.count * layout.copies, copy = threadIdx.x & (layout.copies - 1);
    const std::uint64_t n = number.value(), last = end < n ? end : n;
    std::uint64_t k = begin + share.thread;
    unsigned first_limb = 0;
    if (share.count != 0) {
        for (unsigned j = threadIdx.x; j < words::count * apart; j += exact_histogram_threads) {
            word[j] = words::middle;
        }
        first_limb = choose_first_limb<T>(weights, k, last);
    }
    const auto add = [&](unsigned bin, T weight) {
        const unsigned of_part = bin - share.first;
        if (bin >= of.bins || (of_part >= share.count && share.count != 0)) {
            return;
        }
        const number_parts<T> p = parts_of(weight);
        const unsigned place = p.place - 32 * first_limb;
        if (share.count == 0 || p.special || place >= 32 * words::places) {
            add_to_table(weight, table + bin);
        } else {
            words::add(word + of_part * layout.copies + copy, apart, p.mantissa, place, p.negative,
                       [&](std::int64_t carry) { global_limbs{table[bin].limb}(first_limb + words::count, carry); });
        }
    };
    constexpr unsigned batch = 4;
    for (; k < last; k += batch * share.threads) {
        unsigned bin[batch];
        T weight[batch];
#pragma unroll
        for (unsigned j = 0; j < batch; ++j) {
            const std::uint64_t at = k + j * share.threads;
            bin[j] = at < last ? of(in[at], 0) : of.bins;
            weight[j] = at < last ? static_cast<T>(weights[at]) : T(0);
        }
#pragma unroll
        for (unsigned j = 0; j < batch; ++j) {
            add(bin[j], weight[j]);
        }
    }
    __syncthreads();
    for (unsigned j = threadIdx.x; j < words::count * share.count; j += exact_histogram_threads) {
        const unsigned which = j % words::count, unrotated = j / words::count + share.rotation;
        const unsigned bin = unrotated < share.count ? unrotated : unrotated - share.count;
        std::int64_t sum = 0;
        for (unsigned c = 0; c < layout.copies; ++c) {
            sum += word[which * apart + bin * layout.copies + ((c + j) & (layout.copies - 1))];
        }
        global_limbs{table[share.first + bin].limb}(first_limb + which,
                                                    sum - std::int64_t{layout.copies} * words::middle);
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

template <class T, class Sum>
__global__ void round_histogram_kernel(exact_limbs<T>* table, unsigned bins, Sum* sums, bool adds) {
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
    table[bin] = {};
    if (adds) {
        add_term(static_cast<T>(sums[bin]), to_limbs{limb}, met);
    }
    sums[bin] = rounded<Sum>(limb, layout::limbs, layout::lowest, met);
}

struct exact_histogram_plan {
    unsigned blocks = 1;
    unsigned shared = 0; // bytes per block
    histogram_layout layout;
};

template <class T>
exact_histogram_plan plan_exact_histogram(const histogram_facts& facts, std::uint64_t n, unsigned bins) {
    constexpr std::uint64_t threads = exact_histogram_threads, of_bin = exact_words<T>::count * sizeof(unsigned);
    constexpr unsigned few_bins = 1024; // whose sums in global memory many samples would wait for
    exact_histogram_plan plan;
    const unsigned room = facts.shared_of_block - 256; // the kernel has a few bytes besides
    const std::uint64_t parts = divided_up(bins * of_bin, room), part_bins = divided_up(bins, parts);
    const std::uint64_t bytes = part_bins * of_bin;
    // A group of blocks has samples for more than it adds to the table at its end.
    const std::uint64_t groups = std::clamp<std::uint64_t>(n / std::max<std::uint64_t>(8 * threads, 2 * bins), 1,
                                                           std::max<std::uint64_t>(facts.multiprocessors / parts, 1));
    if (parts > exact_histogram_parts || (bins > few_bins && 2 * groups * parts < facts.multiprocessors)) {
        plan.blocks = static_cast<unsigned>(std::clamp<std::uint64_t>(n / (2 * threads), 1, facts.multiprocessors));
        return plan;
    }
    plan.layout.parts = static_cast<unsigned>(parts);
    plan.layout.part_codes = static_cast<unsigned>(part_bins);
    while (plan.layout.copies < 32 && bytes * plan.layout.copies * 2 <= exact_histogram_copies_bytes) {
        plan.layout.copies *= 2;
    }
    plan.blocks = static_cast<unsigned>(groups * parts);
    plan.shared = static_cast<unsigned>(bytes * plan.layout.copies);
    return plan;
}

template <gpu_target On>
struct exact_histogram_engine<On> {
    template <class In, class Weights, class N, class Sum, class Of>
    static void weigh(const On& on, const In& in, const Weights& weights, const N& number, Sum* sums, const Of& of,
                      update mode, const char* call) {
        const call_device scope;
        weigh_as(histogram_facts::of_device(), on, in, weights, number, sums, of, mode, call);
    }

    // As on a device with these facts.
    template <class In, class Weights, class N, class Sum, class Of>
    static void weigh_as(const histogram_facts& facts, const On& on, const In& in, const Weights& weights,
                         const N& number, Sum* sums, const Of& of, update mode, const char* call) {
        const auto count = detail::checked_count(number, call);
        detail::check_array(in, count.most, call);
        detail::check_array(weights, count.most, call);
        detail::check_array(sums, of.bins, call);
        check_edge_arrays(of, call);
        using T = computed_t<Sum>;
        const call_memory memory(on, of.bins * sizeof(exact_limbs<T>), 0, call);
        auto* const table = static_cast<exact_limbs<T>*>(memory.slots()); // zero again by the last launch
        constexpr unsigned threads = exact_histogram_threads, of_bins = 128;
        const unsigned each = divided_up(of.bins, of_bins);
        const auto kernel = exact_histogram_kernel<In, Weights, std::remove_cv_t<decltype(count)>, Of, T>;
        for (std::uint64_t begin = 0; begin < count.most; begin += exact_histogram_samples) {
            const std::uint64_t end = std::min(count.most, begin + exact_histogram_samples);
            const exact_histogram_plan plan = plan_exact_histogram<T>(facts, end - begin, of.bins);
            if (begin != 0) {
                carry_histogram_kernel<<<each, of_bins, 0, on.stream>>>(table, of.bins);
                WARPFOLD_CHECK_CUDA(cudaGetLastError());
            }
            need_shared(kernel, plan.shared);
            kernel<<<plan.blocks, threads, plan.shared, on.stream>>>(in, weights, count, begin, end, of, table,
                                                                     plan.layout);
            WARPFOLD_CHECK_CUDA(cudaGetLastError());
        }
        round_histogram_kernel<<<each, of_bins, 0, on.stream>>>(table, of.bins, sums, mode == update::add);
        WARPFOLD_CHECK_CUDA(cudaGetLastError());
    }
};

} // namespace warpfold::detail
