// SPDX-License-Identifier: MIT
// The tree's iterations from the block's size down to 64 elements, unrolled by template (steps 6 to 8).
#pragma once

namespace warpfold::ladder::reduce {

// Reduces scratch[0] to scratch[size - 1] into the first 64. Every thread of the block must call it.
template <unsigned size, class T, class Op>
__device__ void unrolled_tree_to_64(T* scratch, unsigned tid) {
    const Op op;
    if constexpr (size >= 1024) {
        if (tid < 512) {
            scratch[tid] = op(scratch[tid], scratch[tid + 512]);
        }
        __syncthreads();
    }
    if constexpr (size >= 512) {
        if (tid < 256) {
            scratch[tid] = op(scratch[tid], scratch[tid + 256]);
        }
        __syncthreads();
    }
    if constexpr (size >= 256) {
        if (tid < 128) {
            scratch[tid] = op(scratch[tid], scratch[tid + 128]);
        }
        __syncthreads();
    }
    if constexpr (size >= 128) {
        if (tid < 64) {
            scratch[tid] = op(scratch[tid], scratch[tid + 64]);
        }
        __syncthreads();
    }
}

// What a thread of the cascading steps (7 on) adds up alone: its elements at the stride of the whole grid, two by two.
template <class T, class Op>
__device__ T add_at_grid_stride(const T* input, std::uint64_t n) {
    const Op op;
    const std::uint64_t grid_size = std::uint64_t{blockDim.x} * 2 * gridDim.x;
    std::uint64_t i = std::uint64_t{blockIdx.x} * (blockDim.x * 2) + threadIdx.x;
    T mine = Op::identity();
    for (; i + blockDim.x < n; i += grid_size) {
        mine = op(mine, op(input[i], input[i + blockDim.x]));
    }
    if (i < n) {
        mine = op(mine, input[i]);
    }
    return mine;
}

} // namespace warpfold::ladder::reduce
