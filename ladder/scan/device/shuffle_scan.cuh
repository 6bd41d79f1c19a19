// SPDX-License-Identifier: MIT
// Scans of a warp and of a block by shuffles.
#pragma once

namespace warpfold::ladder::scan {

__device__ inline int warp_inclusive_scan(int value) {
    const unsigned lane = threadIdx.x % 32;
    for (unsigned stride = 1; stride < 32; stride *= 2) {
        const int before = __shfl_up_sync(0xffffffffu, value, stride);
        if (lane >= stride) {
            value += before;
        }
    }
    return value;
}

// Of a block of whole warps; `totals` has an element for each.
__device__ inline int block_inclusive_scan(int value, int* totals) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned warp = threadIdx.x / 32;
    const unsigned warps = blockDim.x / 32;
    value = warp_inclusive_scan(value);
    if (lane == 31) {
        totals[warp] = value;
    }
    __syncthreads();
    if (warp == 0) {
        const int total = warp_inclusive_scan(lane < warps ? totals[lane] : 0);
        if (lane < warps) {
            totals[lane] = total;
        }
    }
    __syncthreads();
    return warp == 0 ? value : value + totals[warp - 1];
}

} // namespace warpfold::ladder::scan
