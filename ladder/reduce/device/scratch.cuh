// SPDX-License-Identifier: MIT
// The block's scratch in shared memory. Kernels that halve a stride, or whose last warp adds unconditionally, need a power of
// two of elements, the last warp 64 or more. Elements that no thread loads are filled with the identity, so that a block may
// have any number of threads.
#pragma once

#include <cstddef>

namespace warpfold::ladder::reduce {

template <class T>
__device__ T* shared_scratch() {
    extern __shared__ __align__(16) unsigned char bytes[];
    return reinterpret_cast<T*>(bytes);
}

// Elements of scratch for a block of so many threads: a power of two, no less than `least`, which is one.
[[nodiscard]] __host__ __device__ constexpr unsigned padded(unsigned threads, unsigned least = 1) {
    unsigned power = least;
    while (power < threads) {
        power *= 2;
    }
    return power;
}

// Fills the elements from blockDim.x up to `size` with the identity; __syncthreads is up to the caller.
template <class T, class Op>
__device__ void fill_padding(T* scratch, unsigned size) {
    for (unsigned k = threadIdx.x + blockDim.x; k < size; k += blockDim.x) {
        scratch[k] = Op::identity();
    }
}

} // namespace warpfold::ladder::reduce
