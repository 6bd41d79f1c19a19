// SPDX-License-Identifier: MIT
// Exact sums on a GPU in one launch. Every block adds its share in windows at a fixed place and publishes a few
// integers; the last block adds and rounds them. Only a block with numbers that the window cannot hold has a long
// accumulator, which it adds to the one in global memory, with a fence.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/check.hpp"
#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/exact_sum/block_accumulator.cuh"
#include "warpfold/gpu/exact_sum/fixed_window.cuh"
#include "warpfold/gpu/exact_sum/rounded_sums.cuh"
#include "warpfold/gpu/exact_sum/terms.cuh"

namespace warpfold::detail {

// The most threads of a block; fewer for sums of products of doubles, which need more registers.
template <unsigned MaxBlockThreads, class T, unsigned Factors>
inline constexpr unsigned exact_threads = sizeof(T) == 8 && Factors == 2
                                              ? std::max(MaxBlockThreads * 3 / 4 / 32 * 32, 32u)
                                              : MaxBlockThreads;

// In global memory, all zero between calls.
template <class T, unsigned Factors>
struct exact_memory {
    static constexpr unsigned words = window_parameters<T, Factors>::levels;

    unsigned long long limb[exact_layout<T, Factors>::limbs];
    unsigned long long met;
    unsigned long long slot[1]; // `words` per block: its sums * 4, + 1, + 2 if it added to the limbs

    static std::size_t bytes(unsigned blocks) {
        return sizeof(exact_memory) + std::size_t{blocks} * words * sizeof(unsigned long long);
    }
};

// Adds terms to a window until the end, or until the window cannot hold the next ones. The window is empty afterwards.
template <class Window, class T, unsigned Factors, class Terms>
__device__ void add_batches(Window& window, block_accumulator<T, Factors>* outliers, Terms& terms) {
    bool full;
    do {
        terms.feed(window);
        full = !terms.done() && window.full(Terms::width);
        window.flush(outliers);
    } while (full);
}

// Adds the terms that the first fixed_window left: by others if it was only `full`, by a window that moves and, if that
// does not help, digit by digit.
template <class T, unsigned Factors, class Terms>
__device__ void add_rest_of_warp(block_accumulator<T, Factors>* outliers, Terms& terms, bool full) {
    if (full) {
        fixed_window<T, Factors> window;
        detail::add_batches(window, outliers, terms);
    }
    if (!terms.done()) {
        moving_window<T, Factors> window;
        const auto number = [&](unsigned f, unsigned j) { return terms.number(f, j); };
        for (unsigned moves = 0; moves < 4 && !terms.done() && window.move(Terms::count, number); ++moves) {
            detail::add_batches(window, outliers, terms);
        }
    }
    if (!terms.done()) {
        digit_counter<T, Factors> any(outliers);
        terms.feed(any);
    }
}

// Moves the block's digits to its limbs. Called by the whole block, between barriers.
template <class T, unsigned Factors>
__device__ void collect_digits(block_accumulator<T, Factors>& block) {
    for (unsigned k = threadIdx.x; k < block_accumulator<T, Factors>::digits; k += blockDim.x) {
        long long sum = 0;
        for (unsigned lane = 0; lane < 32; ++lane) {
            sum += static_cast<int>(block.digit[k * 32 + (lane + k) % 32]);
        }
        if (sum != 0) {
            add_integer(sum, 16 * k, block.adder());
        }
    }
    if (threadIdx.x == 0) {
        block.touched = 1;
    }
    __syncwarp();
    __syncthreads();
}

// Adds the terms that the block's warps left. Called by the whole block, after a barrier.
// static: in relocatable code a kernel with a limit of registers can call no external function that takes more.
template <class T, unsigned Factors, class Terms>
static __device__ __noinline__ void add_remaining(block_accumulator<T, Factors>* outliers, Terms terms, bool full) {
    outliers->clear();
    __syncthreads();
    if (!terms.done()) {
        add_rest_of_warp(outliers, terms, full);
    }
    __syncwarp();
    __syncthreads();
    if (outliers->counted != 0) {
        collect_digits(*outliers);
    }
}

// The block's share of the terms: the sums of its warps go to `storage`. Returns true if `outliers` holds more.
template <class T, unsigned Factors, class Terms>
__device__ bool add_terms(block_accumulator<T, Factors>* outliers,
                          sum_storage<window_parameters<T, Factors>::levels>* storage, Terms terms) {
    fixed_window<T, Factors> window;
    terms.feed(window);
    level_sums<window_parameters<T, Factors>::levels> warp_sums = window.levels_as_integers();
    sum_windows(warp_sums);
    const bool remaining = share_warp_sums(warp_sums, *storage, !terms.done());
    if (remaining) {
        add_remaining<T, Factors, Terms>(outliers, terms, window.full(Terms::width));
    }
    return remaining;
}
// Not inlined: for a kind of terms that few inputs need.
template <class T, unsigned Factors, class Terms>
static __device__ __noinline__ bool add_terms_noinline(block_accumulator<T, Factors>* outliers,
                                                       sum_storage<window_parameters<T, Factors>::levels>* storage,
                                                       Terms terms) {
    return detail::add_terms(outliers, storage, terms);
}

// The block's share of n terms, by the kind of terms that fits the inputs.
template <class Kernels, class T, unsigned Levels, class In>
__device__ bool add_share(block_accumulator<T, 1>* outliers, sum_storage<Levels>* storage, std::uint64_t n,
                          const In& in) {
    if constexpr (std::is_pointer_v<In>) {
        const T* const arrays[1] = {in};
        return detail::add_terms(outliers, storage, vector_terms<Kernels, T, 1>(arrays, n));
    } else {
        const auto read = [=](unsigned, std::uint64_t k) { return static_cast<T>(in[k]); };
        return detail::add_terms(outliers, storage, element_terms<T, 1, decltype(read)>(read, n));
    }
}
template <class Kernels, class T, unsigned Levels, class A, class B>
__device__ bool add_share(block_accumulator<T, 2>* outliers, sum_storage<Levels>* storage, std::uint64_t n, const A& a,
                          const B& b) {
    const auto read = [=](unsigned f, std::uint64_t k) { return f == 0 ? static_cast<T>(a[k]) : static_cast<T>(b[k]); };
    using elements = element_terms<T, 2, std::remove_const_t<decltype(read)>>;
    if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
        if ((reinterpret_cast<std::uintptr_t>(a) - reinterpret_cast<std::uintptr_t>(b)) % 16 == 0) {
            const T* const arrays[2] = {a, b};
            return detail::add_terms(outliers, storage, vector_terms<Kernels, T, 2>(arrays, n));
        }
        return detail::add_terms_noinline(outliers, storage, elements(read, n));
    } else {
        return detail::add_terms(outliers, storage, elements(read, n));
    }
}

// Adds the sums that the other blocks published and resets their slots. Sets `limbs_too` if any of them added to the
// limbs in global memory.
template <unsigned Words, unsigned Halves>
__device__ void collect_sums(unsigned long long* slots, unsigned count, level_sums<Words * Halves>& to,
                             bool& limbs_too) {
    for (unsigned k = threadIdx.x; k < count; k += blockDim.x) {
        unsigned long long word[Words];
        unsigned long long all;
        do {
            all = 1;
#pragma unroll
            for (unsigned w = 0; w < Words; ++w) {
                asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                             : "=l"(word[w])
                             : "l"(__cvta_generic_to_global(slots + k * Words + w))
                             : "memory");
                all &= word[w];
            }
        } while (all == 0);
#pragma unroll
        for (unsigned w = 0; w < Words; ++w) {
            asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(slots + k * Words + w)),
                         "l"(0ull)
                         : "memory");
            const long long sum = static_cast<long long>(word[w]) >> 2;
            if constexpr (Halves == 1) {
                to.of[w] += sum;
            } else {
                to.of[2 * w] += sum & 0xffffffff;
                to.of[2 * w + 1] += sum >> 32;
            }
            limbs_too = limbs_too || (word[w] & 2) != 0;
        }
    }
}

// The sum of n terms of type T, rounded to R, by the blocks with one blockIdx.y, written to *out by the last of them. Called by whole blocks; a
// block may call it again after a barrier, with other memory unless it is alone.
template <class Kernels, class T, class R, class Out, class... Ins>
__device__ void exact_sum_of_blocks(std::uint64_t n, const Out& out, exact_memory<T, sizeof...(Ins)>* memory,
                                    const Ins&... ins) {
    constexpr unsigned factors = sizeof...(Ins);
    using kind = window_parameters<T, factors>;
    using layout = exact_layout<T, factors>;
    constexpr unsigned levels = kind::levels;
    __shared__ block_accumulator<T, factors> outliers;
    __shared__ sum_storage<levels> storage, storage_of_all;
    __shared__ sum_storage<2 * levels> wide_storage;

    const bool remaining = detail::add_share<Kernels>(&outliers, &storage, n, ins...);
    level_sums<levels> block_sums = sum_of_block(storage);
    const bool touched = remaining && outliers.touched != 0;
    const unsigned last = gridDim.x - 1;
    if (blockIdx.x != last) {
        if (touched) {
            for (unsigned k = threadIdx.x; k < layout::limbs; k += blockDim.x) {
                const long long part = outliers.carried(k);
                if (part != 0) {
                    atomicAdd(&memory->limb[k], static_cast<unsigned long long>(part));
                }
            }
            if (threadIdx.x == 0 && outliers.met != 0) {
                atomicOr(&memory->met, static_cast<unsigned long long>(outliers.met));
            }
            __threadfence();
            __syncthreads();
        }
        if (threadIdx.x == 0) {
#pragma unroll
            for (unsigned w = 0; w < levels; ++w) {
                const unsigned long long word =
                    static_cast<unsigned long long>(block_sums.of[w]) << 2 | (touched ? 3 : 1);
                asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(
                                 __cvta_generic_to_global(memory->slot + blockIdx.x * levels + w)),
                             "l"(word)
                             : "memory");
            }
        }
        return;
    }
    // Blocks start in the order of their index: all other blocks have started, and none waits for another.
    level_sums<2 * levels> sums{};
    bool limbs_too = false;
    constexpr std::uint64_t few = std::uint64_t{1} << 22; // terms whose sums fit in 64 bits
    if (last == 0 || n <= few) {
        if (last != 0) {
            if (threadIdx.x != 0) {
                block_sums = {};
            }
            bool other_limbs = false;
            collect_sums<levels, 1>(memory->slot, last, block_sums, other_limbs);
            __syncwarp();
            sum_lanes(block_sums);
            limbs_too = share_warp_sums(block_sums, storage_of_all, other_limbs);
            block_sums = sum_of_block(storage_of_all);
        }
        sums = in_halves<T, factors>(block_sums);
    } else {
        if (threadIdx.x == 0) {
            sums = in_halves<T, factors>(block_sums);
        }
        bool other_limbs = false;
        collect_sums<levels, 2>(memory->slot, last, sums, other_limbs);
        __syncwarp();
        sum_lanes(sums);
        limbs_too = share_warp_sums(sums, wide_storage, other_limbs);
        sums = sum_of_block(wide_storage);
    }

    if (!touched && !limbs_too) {
        if (threadIdx.x == 0) {
            *out = rounded_sums<R, T, factors>(sums);
        }
        return;
    }
    if (!remaining) {
        outliers.clear();
        __syncthreads();
    }
    if (limbs_too) {
        __threadfence();
        for (unsigned k = threadIdx.x; k < layout::limbs; k += blockDim.x) {
            outliers.limb[k] += atomicExch(&memory->limb[k], 0ull);
        }
        if (threadIdx.x == 0) {
            outliers.met |= static_cast<unsigned>(atomicExch(&memory->met, 0ull));
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        *out = rounded_sums<R>(sums, outliers);
    }
}

template <class Kernels, class T, class R, class Count, class Out, class... Ins>
__global__ void __launch_bounds__(exact_threads<Kernels::value.max_block_threads, T, sizeof...(Ins)>,
                                  Kernels::value.resident_blocks)
    exact_kernel(Count number, Out out, exact_memory<T, sizeof...(Ins)>* memory, Ins... ins) {
    pdl_trigger();
    pdl_wait();
    exact_sum_of_blocks<Kernels, T, R>(number.value(), out, memory, ins...);
}

struct exact_shape {
    unsigned blocks = 1;
    unsigned threads = 32;
};

template <class T, unsigned Factors, class Policy>
exact_shape shape_of_exact(const Policy& policy, std::uint64_t n) {
    constexpr std::uint64_t each = 16 / sizeof(T);
    const std::uint64_t vectors = (n + each - 1) / each;
    constexpr unsigned most_threads = exact_threads<Policy::kernels.max_block_threads, T, Factors>;
    exact_shape shape{1, most_threads};
    if (vectors <= policy.one_block_max_vectors && n <= policy.one_block_max_elements) {
        const std::uint64_t threads = std::min<std::uint64_t>((vectors + 31) / 32 * 32, most_threads);
        shape.threads = std::max(static_cast<unsigned>(threads), 32u);
        return shape;
    }
    const std::uint64_t multiprocessors = device_attribute<cudaDevAttrMultiProcessorCount>();
    std::uint64_t most = multiprocessors * policy.blocks_per_multiprocessor;
    if (vectors <= most * policy.short_block_threads) {
        shape.threads = std::min(policy.short_block_threads, most_threads);
    } else if (vectors <= multiprocessors * most_threads * policy.single_blocks_max_vectors) {
        most = multiprocessors;
    }
    shape.blocks = static_cast<unsigned>(std::min(most, (vectors + shape.threads - 1) / shape.threads));
    return shape;
}

template <gpu_target On>
struct exact_engine<On> {
    using policy = policy_t<tuning::exact_sum_policy<>, On>;

    template <class T, class N, class... Ins>
    static T value(const On& on, const N& number, const char* call, const Ins&... ins) {
        T got;
        const auto count = detail::checked_count(number, call);
        const call_device scope;
        const exact_shape shape =
            shape_of_exact<T, sizeof...(Ins)>(policy_of<tuning::exact_sum_policy<>>(on), count.most);
        const call_memory memory(on, bytes<T, sizeof...(Ins)>(shape), sizeof(T), call);
        T* const out = static_cast<T*>(memory.data());
        launch<T, T>(on, shape, memory, count, out, call, ins...);
        WARPFOLD_CHECK_CUDA(cudaMemcpyAsync(&got, out, sizeof(T), cudaMemcpyDeviceToHost, on.stream));
        WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(on.stream));
        return got;
    }
    template <class T, class R = T, class N, class Out, class... Ins>
    static void into(const On& on, const N& number, const Out& out, const char* call, const Ins&... ins) {
        detail::check_array(out, 1, call);
        const auto count = detail::checked_count(number, call);
        const call_device scope;
        const exact_shape shape =
            shape_of_exact<T, sizeof...(Ins)>(policy_of<tuning::exact_sum_policy<>>(on), count.most);
        const call_memory memory(on, bytes<T, sizeof...(Ins)>(shape), 0, call);
        launch<T, R>(on, shape, memory, count, out, call, ins...);
    }

private:
    template <class T, unsigned Factors>
    static std::size_t bytes(const exact_shape& shape) {
        return shape.blocks == 1 ? 0 : exact_memory<T, Factors>::bytes(shape.blocks);
    }
    template <class T, class R, class Count, class Out, class... Ins>
    static void launch(const On& on, const exact_shape& shape, const call_memory& memory, const Count& count,
                       const Out& out, const char* call, const Ins&... ins) {
        (detail::check_array(ins, count.most, call), ...);
        constexpr auto kernel = &exact_kernel<kernels_of<policy>, T, R, Count, Out, Ins...>;
        pdl_launch(properties_of<kernel>(), kernel, shape.blocks, shape.threads, 0, on.stream, count, out,
                   static_cast<exact_memory<T, sizeof...(Ins)>*>(memory.slots()), ins...);
    }
};

} // namespace warpfold::detail
