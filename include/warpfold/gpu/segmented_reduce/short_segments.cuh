// SPDX-License-Identifier: MIT
// Segments of one short length. A warp reads whole segments, up to 512 elements, into shared memory, and each lane
// folds its own segments there, in order. Segments of one element need no shared memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/fold.hpp"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/vector_load.cuh"
#include "warpfold/gpu/segmented_reduce/warp_tile.cuh"

namespace warpfold::detail {

template <class In>
struct short_segments {
    using T = element_t<In>;

    static constexpr bool possible = std::is_pointer_v<In> && (sizeof(T) == 4 || sizeof(T) == 8);
    static constexpr std::uint64_t longest = 16;
    static constexpr unsigned threads = 256;
    static constexpr unsigned blocks_per_multiprocessor = 4;
    static constexpr unsigned width = 16 / sizeof(T);
    static constexpr unsigned items = 16; // of a lane
    static constexpr unsigned groups = items / width;
    static constexpr unsigned line = 128 / sizeof(T); // elements, followed by one unused place
    static constexpr unsigned places = warp::lanes * items + warp::lanes * items / line;

    __device__ static unsigned place(unsigned k) { return k + k / line; }
};

template <class A, class In, class Map, class Op, class Result, class Out>
__global__ void __launch_bounds__(short_segments<In>::threads, short_segments<In>::blocks_per_multiprocessor)
    short_segments_kernel(In in, unsigned length, std::uint64_t segments, Map map, Op op, Result result, Out out) {
    using T = element_t<In>;
    using shape = short_segments<In>;
    constexpr unsigned warps = shape::threads / warp::lanes;
    __shared__ alignas(16) raw_value<T> all[warps][shape::places];
    check_operation<Op, A>();

    pdl_trigger();
    pdl_wait();
    raw_value<T>* const shared = all[threadIdx.x / warp::lanes];
    const unsigned lane = threadIdx.x % warp::lanes;
    const unsigned rounds = shape::items / length;
    const unsigned together = rounds * warp::lanes; // segments of a warp
    const unsigned elements = together * length;
    const std::uint64_t stride = std::uint64_t{gridDim.x} * warps * together;
    const bool aligned = reinterpret_cast<std::uintptr_t>(in) % 16 == 0;
    const auto is_whole = [&](std::uint64_t from) { return aligned && from < segments && segments - from >= together; };

    std::uint64_t first = (std::uint64_t{blockIdx.x} * warps + threadIdx.x / warp::lanes) * together;
    uint4 next[shape::groups];
    const auto load = [&](std::uint64_t from) {
        const uint4* const vectors = reinterpret_cast<const uint4*>(in + from * length);
#pragma unroll
        for (unsigned g = 0; g < shape::groups; ++g) {
            if ((g * warp::lanes + lane) * shape::width < elements) {
                next[g] = load_vector<cache_hint::stream>(vectors + g * warp::lanes + lane);
            }
        }
    };
    if (is_whole(first)) {
        load(first);
    }
    for (; first < segments; first += stride) {
        const auto here = static_cast<unsigned>(min(segments - first, std::uint64_t{together}));
        if (is_whole(first)) {
#pragma unroll
            for (unsigned g = 0; g < shape::groups; ++g) {
                const unsigned k = (g * warp::lanes + lane) * shape::width;
                if (k < elements) {
#pragma unroll
                    for (unsigned j = 0; j < shape::width; ++j) {
                        shared[shape::place(k + j)].put(element_of<T>(next[g], j));
                    }
                }
            }
        } else {
#pragma unroll 4
            for (unsigned k = lane; k < here * length; k += warp::lanes) {
                shared[shape::place(k)].put(in[first * length + k]);
            }
        }
        if (is_whole(first + stride)) {
            load(first + stride);
        }
        __syncwarp();
        for (unsigned s = lane; s < here; s += warp::lanes) {
            A mine = Op::template identity<A>();
#pragma unroll 4
            for (unsigned j = 0; j < length; ++j) {
                const unsigned k = s * length + j;
                mine = op(mine,
                          static_cast<A>(detail::mapped(map, shared[shape::place(k)].element(), first * length + k)));
            }
            out[first + s] = result(mine);
        }
        __syncwarp();
    }
}

// Segments of one element: a transform. On an H100 the fastest copy has blocks of 1,024 threads that each read and
// write 16 bytes once (docs/decisions). If fewer blocks are needed than are resident at once, smaller ones balance
// better.
template <class T>
struct unit_segments {
    static constexpr unsigned most_threads = 1024, least_threads = 256;
    static constexpr unsigned items = sizeof(T) >= 16 ? 1 : (sizeof(T) >= 4 ? 16 / sizeof(T) : 4); // of a thread
};

template <class A, class In, class Map, class Op, class Result, class Out>
__global__ void __launch_bounds__(unit_segments<element_t<In>>::most_threads)
    unit_segments_kernel(In in, std::uint64_t segments, Map map, Op op, Result result, Out out) {
    using T = element_t<In>;
    constexpr unsigned items = unit_segments<T>::items;

    pdl_trigger();
    pdl_wait();
    const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x * items + threadIdx.x;
    const auto write = [&](const T& x, std::uint64_t k) {
        const A one = static_cast<A>(detail::mapped(map, x, k));
        out[k] = result(static_cast<A>(op(Op::template identity<A>(), one)));
    };
    if (first + (items - 1) * blockDim.x < segments) {
        raw_value<T> x[items];
#pragma unroll
        for (unsigned j = 0; j < items; ++j) {
            x[j].put(in[first + j * blockDim.x]);
        }
#pragma unroll
        for (unsigned j = 0; j < items; ++j) {
            write(x[j].element(), first + j * blockDim.x);
        }
    } else {
        for (std::uint64_t k = first; k < segments; k += blockDim.x) {
            write(in[k], k);
        }
    }
}

} // namespace warpfold::detail
