// SPDX-License-Identifier: MIT
// Reduction over the threads of a block.
#pragma once

#include "warpfold/warp/reduce.cuh"

namespace warpfold::block {

// Shared memory that reduce() needs for a block of `Threads` threads.
template <class A, unsigned Threads>
struct reduce_storage {
    static_assert(Threads % warp::lanes == 0 && Threads <= 1024, "a multiple of 32, at most 1024");
    static constexpr unsigned warps = Threads / warp::lanes;

    alignas(A) unsigned char value[warps * sizeof(A)];
};

// op over the values of all threads, in their order; only thread 0's result means something. All `Threads` threads of a
// one-dimensional block have to call it, and to meet at a barrier before `storage` is used again. One barrier.
template <unsigned Threads, class A, class Op>
__device__ A reduce(A value, const Op& op, reduce_storage<A, Threads>& storage) {
    constexpr unsigned warps = reduce_storage<A, Threads>::warps;
    auto* const of_warp = reinterpret_cast<A*>(storage.value);
    value = warp::reduce(value, op);
    if constexpr (warps > 1) {
        if (threadIdx.x % warp::lanes == 0) {
            of_warp[threadIdx.x / warp::lanes] = value;
        }
        __syncthreads();
        if (threadIdx.x < warp::lanes) {
            // Lanes beyond the last warp repeat its value; nothing of theirs reaches lane 0.
            value = of_warp[threadIdx.x < warps ? threadIdx.x : warps - 1];
#pragma unroll
            for (unsigned distance = 1; distance < warps; distance *= 2) {
                const A other = warp::shuffle_down(value, distance);
                if (threadIdx.x + distance < warps) {
                    value = op(value, other);
                }
            }
        }
    }
    return value;
}

} // namespace warpfold::block
