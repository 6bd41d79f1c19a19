// SPDX-License-Identifier: MIT
// Reduction on a GPU in one launch. Every block folds its share and publishes the value; the last block collects and
// folds the values. The order depends on the number of elements and the device only, so results have the same bits in
// every run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "warpfold/block/reduce.cuh"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/gpu/core/flagged_slot.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/resident_blocks.cuh"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/core/vector_load.cuh"
#include "warpfold/gpu/reduce/fold_ordered.cuh"
#include "warpfold/gpu/reduce/packed_candidate.cuh"
#include "warpfold/tuning/reduce.hpp"

namespace warpfold::detail {

// True if the array is read in vectors of 16 bytes. Long arrays then have a kernel of their own: more code would slow
// down short ones.
template <class In, class Op>
inline constexpr bool by_vectors_v = std::is_pointer_v<In>&& fits_vectors_v<element_t<In>>&& is_commutative_v<Op>;

// The thread's partial value of n elements, in an order that suits memory. Short arrays (Many false): a grid-stride
// loop over vectors. Long arrays: `ahead` vectors in flight per thread, with the vectors of a block contiguous, read
// past the caches.
template <class Kernels, class A, bool Many, class In, class Map, class Op>
__device__ A fold_strided(const In& in, std::uint64_t n, const Map& map, const Op& op, unsigned loads_in_flight) {
    using T = element_t<In>;
    const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
    A mine = Op::template identity<A>();
    const auto take = [&](const T& x, std::uint64_t index) {
        mine = op(mine, static_cast<A>(detail::mapped(map, x, index)));
    };
    if constexpr (by_vectors_v<In, Op>) {
        const vector_view<T> view(in, n);
        constexpr unsigned width = vector_view<T>::width;
        const auto take_vector = [&](const uint4& vector, std::uint64_t k) {
#pragma unroll
            for (unsigned j = 0; j < width; ++j) {
                take(element_of<T>(vector, j), view.head + k * width + j);
            }
        };
        // Vectors k, k + stride, ...: rounds of `loads` in flight, then the rest one by one.
        const auto take_vectors = [&](auto count, std::uint64_t k, std::uint64_t stride) {
            constexpr unsigned loads = decltype(count)::value;
            constexpr cache_hint hint = Many ? cache_hint::stream : cache_hint::keep;
            k = view.template for_rounds<loads, hint>(k, view.vectors, stride, threads, take_vector);
            view.template for_rounds<1, cache_hint::keep>(k, view.vectors, stride, stride, take_vector);
        };
        using short_loads = std::integral_constant<unsigned, Kernels::value.vector_loads_in_flight>;
        using long_loads = std::integral_constant<unsigned, Kernels::value.longest_vector_loads_in_flight>;
        [[maybe_unused]] const std::uint64_t tile = (thread - threadIdx.x) * loads_in_flight + threadIdx.x;
        if constexpr (!Many) {
            take_vectors(short_loads{}, thread, threads);
        } else if (loads_in_flight == short_loads::value) {
            take_vectors(short_loads{}, tile, blockDim.x);
        } else {
            take_vectors(long_loads{}, tile, blockDim.x);
        }
        view.for_edges(n, thread, threads, [&](std::uint64_t k) { take(in[k], k); });
    } else {
#pragma unroll 4
        for (std::uint64_t k = thread; k < n; k += threads) {
            take(in[k], k);
        }
    }
    return mine;
}

// Of a multiprocessor. Folding in order takes twice the registers.
template <class Kernels, class Op>
inline constexpr unsigned resident_blocks_v = is_commutative_v<Op> ? Kernels::value.resident_blocks
                                                                   : (Kernels::value.resident_blocks + 1) / 2;

template <class Kernels, class A, bool Many, class In, class Count, class Map, class Op, class Result, class Out>
__global__ void __launch_bounds__(Kernels::value.max_block_threads,
                                  bounded_blocks_v<Kernels::value.max_block_threads, resident_blocks_v<Kernels, Op>>)
    reduce_kernel(In in, Count count, Map map, Op op, Result result, Out out, flagged_slot<A>* slots,
                  unsigned loads_in_flight) {
    __shared__ block::reduce_storage<A> storage;

    check_map<Map, element_t<In>>();
    check_operation<Op, A>();
    pdl_trigger();
    pdl_wait();
    const std::uint64_t n = count.value();
    A mine;
    if constexpr (is_commutative_v<Op>) {
        mine = fold_strided<Kernels, A, Many>(in, n, map, op, loads_in_flight);
    } else {
        mine = fold_ordered<A>(in, n, map, op);
    }
    mine = block::reduce(mine, op, storage);
    const unsigned last = gridDim.x - 1;
    if (blockIdx.x != last) {
        if (threadIdx.x == 0) {
            detail::publish(&slots[blockIdx.x], mine);
        }
        return;
    }
    if (last != 0) {
        // Blocks start in the order of their index: all other blocks have started, and none waits for another.
        if (threadIdx.x == 0) {
            detail::publish(&slots[last], mine);
        }
        const unsigned each = (gridDim.x + blockDim.x - 1) / blockDim.x;
        const unsigned end = min((threadIdx.x + 1) * each, gridDim.x);
        mine = Op::template identity<A>();
        for (unsigned k = threadIdx.x * each; k < end; ++k) {
            mine = op(mine, detail::take_slot(&slots[k]));
        }
        __syncthreads();
        mine = block::reduce(mine, op, storage);
    }
    if (threadIdx.x == 0) {
        *out = result(mine);
    }
}

struct reduce_shape {
    unsigned blocks = 1;
    unsigned threads = 32;
    std::size_t bytes = 0;        // of slots
    unsigned loads_in_flight = 0; // vectors per thread, of arrays larger than the L2 cache; 0 for others
};

// Enough threads for all elements, but no more blocks than are resident at once. `weight`: the work per element
// relative to a sum.
template <class A, class T, class Op = sum, class Policy>
reduce_shape shape_of_reduce(const Policy& policy, std::uint64_t n, unsigned weight) {
    constexpr std::uint64_t each = sizeof(T) >= 16 ? 1 : 16 / sizeof(T);
    const std::uint64_t vectors = (n + each - 1) / each;
    reduce_shape shape;
    if (vectors * weight <= policy.one_block_max_vectors && n * weight <= policy.one_block_max_elements) {
        const std::uint64_t each_warp = 32ull * policy.one_block_vectors_per_thread;
        const std::uint64_t warps = (vectors + each_warp - 1) / each_warp;
        shape.threads =
            static_cast<unsigned>(std::clamp<std::uint64_t>(warps * 32, 32, Policy::kernels.max_block_threads));
        return shape;
    }
    unsigned most_blocks = policy.blocks_per_multiprocessor;
    if constexpr (!is_commutative_v<Op>) {
        most_blocks = std::min(most_blocks, resident_blocks_v<kernels_of<Policy>, Op>);
    }
    const std::uint64_t most = std::uint64_t{device_attribute<cudaDevAttrMultiProcessorCount>()} * most_blocks;
    const unsigned share = weight > 1 ? 1 : policy.short_block_vectors_per_thread;
    const bool is_short = vectors <= most * policy.short_block_threads * share;
    shape.threads = is_short ? policy.short_block_threads : policy.block_threads;
    const std::uint64_t each_block = std::uint64_t{shape.threads} * (is_short ? share : 1);
    shape.blocks = static_cast<unsigned>(std::min(most, (vectors + each_block - 1) / each_block));
    shape.bytes = shape.blocks * sizeof(flagged_slot<A>);
    if (n * sizeof(T) >
        std::uint64_t{device_attribute<cudaDevAttrL2CacheSize>()} / 16 * policy.long_min_l2_sixteenths) {
        const bool longest = sizeof(T) >= 4 && n * sizeof(T) >= policy.longest_min_bytes;
        shape.loads_in_flight =
            longest ? Policy::kernels.longest_vector_loads_in_flight : Policy::kernels.vector_loads_in_flight;
    }
    return shape;
}

template <gpu_target On>
struct reduce_engine<On> {
    using policy = policy_t<tuning::reduce_policy<>, On>;

    template <class A, class In, class N, class Map, class Op, class Result>
    static auto value(const On& on, const In& in, const N& n, const Map& map, const Op& op, const Result& result,
                      const char* call) {
        using R = std::remove_cvref_t<decltype(result(std::declval<const A&>()))>;
        R host_result;
        run<A>(on, in, detail::checked_count(n, call), map, op, result, static_cast<R*>(nullptr), &host_result, call);
        return host_result;
    }
    template <class A, class In, class N, class Map, class Op, class Result, class Out>
    static void into(const On& on, const In& in, const N& n, const Map& map, const Op& op, const Result& result,
                     const Out& out, const char* call) {
        run<A>(on, in, detail::checked_count(n, call), map, op, result, out, nullptr, call);
    }

private:
    // Writes the result to *out or, if `got` is not null, to *got.
    template <class A, class In, class Count, class Map, class Op, class Result, class Out, class HostResult>
    static void run(const On& on, const In& in, const Count& count, const Map& map, const Op& op, const Result& result,
                    const Out& out, const HostResult& host_result, const char* call) {
        detail::check_array(in, least_of(count), call);
        if constexpr (std::is_null_pointer_v<HostResult>) {
            detail::check_array(out, 1, call);
        }
        if constexpr (packs_into_word_v<Op, A>) {
            if (count.most <= most_packed_elements) {
                launch<std::uint64_t>(on, in, count, pack_candidate<Op::smallest>{}, minimum{},
                                      unpack_candidate<Op::smallest, Result, A>{result}, out, host_result, call);
                return;
            }
        }
        launch<A>(on, in, count, map, op, result, out, host_result, call);
    }

    template <class A, class In, class Count, class Map, class Op, class Result, class Out, class HostResult>
    static void launch(const On& on, const In& in, const Count& count, const Map& map, const Op& op,
                       const Result& result, const Out& out, const HostResult& host_result, const char* call) {
        constexpr bool has_place =
            std::is_same_v<Map, pack_candidate<true>> || std::is_same_v<Map, pack_candidate<false>>;
        const call_device scope;
        const reduce_shape shape = shape_of_reduce<A, element_t<In>, Op>(policy_of<tuning::reduce_policy<>>(on),
                                                                         count.most, has_place ? 2 : 1);
        constexpr bool returns_value = !std::is_null_pointer_v<HostResult>;
        using R = std::remove_reference_t<decltype(*std::declval<Out>())>;
        const call_memory memory(on, shape.bytes, returns_value ? sizeof(R) : 0, call,
                                 std::max<std::size_t>(alignof(R), 16));
        Out place = out;
        if constexpr (returns_value) {
            place = static_cast<Out>(memory.data());
        }
        const auto go = [&](const kernel_properties& facts, auto kernel) {
            pdl_launch(facts, kernel, shape.blocks, shape.threads, 0, on.stream, in, count, map, op, result, place,
                       static_cast<flagged_slot<A>*>(memory.slots()), shape.loads_in_flight);
        };
        constexpr auto short_kernel = &reduce_kernel<kernels_of<policy>, A, false, In, Count, Map, Op, Result, Out>;
        if constexpr (by_vectors_v<In, Op>) {
            if (shape.loads_in_flight != 0) {
                constexpr auto long_kernel =
                    &reduce_kernel<kernels_of<policy>, A, true, In, Count, Map, Op, Result, Out>;
                go(properties_of<long_kernel>(), long_kernel);
            } else {
                go(properties_of<short_kernel>(), short_kernel);
            }
        } else {
            go(properties_of<short_kernel>(), short_kernel);
        }
        if constexpr (returns_value) {
            WARPFOLD_CHECK_CUDA(
                cudaMemcpyAsync(host_result, place, sizeof(*host_result), cudaMemcpyDeviceToHost, on.stream));
            WARPFOLD_CHECK_CUDA(cudaStreamSynchronize(on.stream));
        }
    }
};

} // namespace warpfold::detail
