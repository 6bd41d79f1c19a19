// SPDX-License-Identifier: MIT
// Counting bytes into a block's own bins in shared memory, which are then added to those of all.
#pragma once

#include "ladder/histogram/steps.hpp"

namespace warpfold::ladder::histogram {

namespace {

__global__ void count_bytes_privately(const unsigned char* buffer, std::uint64_t size, int* histo) {
    __shared__ int bins[byte_bins];
    for (unsigned k = threadIdx.x; k < byte_bins; k += blockDim.x) {
        bins[k] = 0;
    }
    __syncthreads();
    const std::uint64_t stride = std::uint64_t{blockDim.x} * gridDim.x;
    for (std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x; i < size; i += stride) {
        atomicAdd(&bins[buffer[i]], 1);
    }
    __syncthreads();
    for (unsigned k = threadIdx.x; k < byte_bins; k += blockDim.x) {
        atomicAdd(&histo[k], bins[k]);
    }
}

} // namespace

} // namespace warpfold::ladder::histogram
