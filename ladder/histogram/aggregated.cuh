// SPDX-License-Identifier: MIT
// Counting bytes by warps: lanes with the same byte find each other, and one of them adds for all.
#pragma once

#include "ladder/histogram/steps.hpp"

namespace warpfold::ladder::histogram {

namespace {

__global__ void count_bytes_aggregated(const unsigned char* buffer, std::uint64_t size, int* histo) {
    __shared__ int bins[byte_bins];
    for (unsigned k = threadIdx.x; k < byte_bins; k += blockDim.x) {
        bins[k] = 0;
    }
    __syncthreads();
    const std::uint64_t stride = std::uint64_t{blockDim.x} * gridDim.x;
    const unsigned lane = threadIdx.x % 32;
    // Whole warps go round together.
    for (std::uint64_t i = threadIdx.x - lane + std::uint64_t{blockIdx.x} * blockDim.x; i < size; i += stride) {
        const bool mine = i + lane < size;
        const unsigned bin = mine ? buffer[i + lane] : byte_bins;
        const unsigned same = __match_any_sync(0xffffffffu, bin);
        if (mine && lane == static_cast<unsigned>(__ffs(static_cast<int>(same)) - 1)) {
            atomicAdd(&bins[bin], __popc(same));
        }
    }
    __syncthreads();
    for (unsigned k = threadIdx.x; k < byte_bins; k += blockDim.x) {
        atomicAdd(&histo[k], bins[k]);
    }
}

} // namespace

} // namespace warpfold::ladder::histogram
