// SPDX-License-Identifier: MIT
// Exact sums of segments on a GPU in one launch. A segment has a row of the grid: one block, or several if there are
// fewer segments than blocks run at once. Blocks of a row exchange their sums as those of exact_sum do. If there are more
// segments than rows, a row, of one block then, has every so many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/check.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/indexed.hpp"
#include "warpfold/detail/segments.hpp"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/exact_sum/exact_sum.cuh"
#include "warpfold/tuning/exact_sum.hpp"

namespace warpfold::detail {

template <class Out>
struct place_of_element {
    __device__ decltype(auto) operator*() const { return out[k]; }

    Out out;
    std::uint64_t k;
};

// `memory_bytes`: of the exact_memory of a row.
template <class Kernels, class T, class R, class In, class Offsets, class Out>
__global__ void __launch_bounds__(exact_threads<Kernels::value.max_block_threads, T, 1>, Kernels::value.resident_blocks)
    exact_segments_kernel(In in, Offsets offsets, std::uint64_t segments, Out out, unsigned char* memory,
                          std::size_t memory_bytes) {
    pdl_trigger();
    pdl_wait();
    // Clamped to the elements, in case offsets decrease.
    const auto least = static_cast<std::uint64_t>(offsets[0]), most = static_cast<std::uint64_t>(offsets[segments]);
    for (std::uint64_t s = blockIdx.y; s < segments; s += gridDim.y) {
        const std::uint64_t begin = min(max(static_cast<std::uint64_t>(offsets[s]), least), most);
        const std::uint64_t end = min(max(static_cast<std::uint64_t>(offsets[s + 1]), begin), most);
        auto* const of_row = reinterpret_cast<exact_memory<T, 1>*>(memory + s * memory_bytes);
        const place_of_element<Out> place{out, s};
        if constexpr (std::is_pointer_v<In>) {
            exact_sum_of_blocks<Kernels, T, R>(end - begin, place, of_row, in + begin);
        } else {
            exact_sum_of_blocks<Kernels, T, R>(end - begin, place, of_row, elements_from<In>{in, begin});
        }
        __syncthreads();
    }
}

struct exact_segments_shape {
    dim3 blocks;
    unsigned threads;
    std::size_t row_bytes; // of memory; 0 if a row has one block
};

template <class Policy>
std::uint64_t resident_exact_blocks(const Policy& policy) {
    return std::uint64_t{device_attribute<cudaDevAttrMultiProcessorCount>()} * policy.blocks_per_multiprocessor;
}

// The blocks of a row depend on the device, the policy and the number of segments only.
template <class T, class Policy>
exact_segments_shape shape_of_exact_segments(const Policy& policy, std::uint64_t segments) {
    constexpr std::uint64_t rounds = 32, most_rows = 65535;
    constexpr unsigned most_threads = exact_threads<Policy::kernels.max_block_threads, T, 1>;
    const std::uint64_t resident = resident_exact_blocks(policy);
    const auto of_row = static_cast<unsigned>(std::max<std::uint64_t>(resident / segments, 1));
    const auto rows = static_cast<unsigned>(std::min({segments, rounds * resident, most_rows}));
    return {dim3(of_row, rows), of_row == 1 ? std::min(policy.segment_block_threads, most_threads) : most_threads,
            of_row == 1 ? 0 : exact_memory<T, 1>::bytes(of_row)};
}

template <gpu_target On>
struct segmented_exact_engine<On> {
    using policy = policy_t<tuning::exact_sum_policy<>, On>;

    template <class T, class R, class In, class Offsets, class Out>
    static void into(const On& on, const In& in, const Offsets& offsets, std::uint64_t segments, const Out& out,
                     const char* call) {
        detail::check_segments(in, offsets, segments, out, call);
        if (segments == 0) {
            return;
        }
        const call_device scope;
        const exact_segments_shape shape =
            shape_of_exact_segments<T>(policy_of<tuning::exact_sum_policy<>>(on), segments);
        const call_memory memory(on, shape.row_bytes == 0 ? 0 : shape.row_bytes * segments, 0, call);
        constexpr auto kernel = &exact_segments_kernel<kernels_of<policy>, T, R, In, Offsets, Out>;
        pdl_launch(properties_of<kernel>(), kernel, shape.blocks, shape.threads, 0, on.stream, in, offsets, segments,
                   out, static_cast<unsigned char*>(memory.slots()), shape.row_bytes);
    }
};

} // namespace warpfold::detail
