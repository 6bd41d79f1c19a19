// SPDX-License-Identifier: MIT
// Reduction over the threads of a block.
#pragma once

#include "warpfold/operation.hpp"
#include "warpfold/warp/reduce.cuh"

namespace warpfold::block {

// Shared memory of reduce(), for a block of any size.
template <class A>
struct reduce_storage {
    alignas(A) unsigned char of_warp[warp::lanes * sizeof(A)];
};

// Returns op over the values of all threads, in thread order, in thread 0 only. The block is one-dimensional and has
// whole warps. All threads call it, and a barrier is needed before `storage` is used again. One barrier if there is
// more than one warp.
template <class A, class Op>
__device__ A reduce(A value, const Op& op, reduce_storage<A>& storage) {
    auto* const of_warp = reinterpret_cast<A*>(storage.of_warp);
    const unsigned warps = blockDim.x / warp::lanes;
    value = warp::reduce(value, op);
    if (warps == 1) {
        return value;
    }
    if (threadIdx.x % warp::lanes == 0) {
        of_warp[threadIdx.x / warp::lanes] = value;
    }
    __syncthreads();
    if (threadIdx.x >= warp::lanes) {
        return value;
    }
    if constexpr (detail::has_identity<Op, A>) {
        value = threadIdx.x < warps ? of_warp[threadIdx.x] : static_cast<A>(Op::template identity<A>());
        return warp::reduce(value, op);
    } else {
        // Lanes after the last warp hold duplicates; their results are unused.
        value = of_warp[threadIdx.x < warps ? threadIdx.x : warps - 1];
#pragma unroll
        for (unsigned distance = 1; distance < warp::lanes; distance *= 2) {
            const A other = warp::shuffle_down(value, distance);
            if (threadIdx.x + distance < warps) {
                value = op(value, other);
            }
        }
        return value;
    }
}

} // namespace warpfold::block
