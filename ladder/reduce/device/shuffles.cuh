// SPDX-License-Identifier: MIT
// Reductions of a warp and of a block by shuffles, for blocks of any number of threads (steps 9, 11 and 12).
#pragma once

namespace warpfold::ladder::reduce {

// Lane 0 gets the reduction over the first `lanes` lanes of the warp, which must be all that it has, and all call it.
template <class T, class Op>
__device__ T warp_reduce(T mine, unsigned lanes) {
    const Op op;
    if (lanes == 32) {
#pragma unroll
        for (unsigned offset = 16; offset > 0; offset /= 2) {
            mine = op(mine, __shfl_down_sync(0xffffffffu, mine, offset));
        }
        return mine;
    }
    const unsigned lane = threadIdx.x % 32;
    const unsigned mask = (1u << lanes) - 1;
#pragma unroll
    for (unsigned offset = 16; offset > 0; offset /= 2) {
        const unsigned source = lane + offset;
        const T theirs = __shfl_sync(mask, mine, static_cast<int>(source < lanes ? source : lane));
        if (source < lanes) {
            mine = op(mine, theirs);
        }
    }
    return mine;
}

// Thread 0 gets the reduction over the block. `scratch` has 32 elements; every thread must call it.
template <class T, class Op>
__device__ T block_reduce(T mine, T* scratch) {
    const unsigned warp = threadIdx.x / 32;
    const unsigned lane = threadIdx.x % 32;
    const unsigned left = blockDim.x - warp * 32;
    const unsigned lanes = left < 32 ? left : 32;
    mine = warp_reduce<T, Op>(mine, lanes);
    if (lane == 0) {
        scratch[warp] = mine;
    }
    __syncthreads();
    if (warp == 0) {
        const unsigned warps = (blockDim.x + 31) / 32;
        mine = warp_reduce<T, Op>(lane < warps ? scratch[lane] : Op::identity(), lanes);
    }
    return mine;
}

} // namespace warpfold::ladder::reduce
