// SPDX-License-Identifier: MIT
// Reduction over the threads of a block.
#pragma once

#include "warpfold/operation.hpp"
#include "warpfold/warp/reduce.cuh"

namespace warpfold::block {

// Shared memory that reduce() needs, for a block of any size.
template <class A>
struct reduce_storage {
    alignas(A) unsigned char of_warp[warp::lanes * sizeof(A)];
};

// op over the values of all threads, in their order; only thread 0's result means something. The block is
// one-dimensional and has whole warps. All its threads have to call this, and to meet at a barrier before `storage` is
// used again. One barrier, where there is more than one warp.
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
        // Lanes beyond the last warp repeat its value; nothing of theirs reaches lane 0.
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
