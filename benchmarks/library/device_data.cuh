// SPDX-License-Identifier: MIT
// Data of the benchmarks on a GPU, and the comparison of results.
#pragma once

#include <cstdint>

namespace warpfold::bench {

// -1, 0 and 1 in an order without pattern: sums stay exact.
template <class T>
__global__ void fill(T* data, std::uint64_t n) {
    for (std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n;
         k += std::uint64_t{gridDim.x} * blockDim.x) {
        data[k] = static_cast<T>(static_cast<int>((k * 0x9E3779B97F4A7C15ull >> 40) % 3) - 1);
    }
}

// Whether an element differs from that of another array.
template <class T>
struct differs {
    __host__ __device__ bool operator()(T x, std::uint64_t k) const { return !(x == other[k]); }

    const T* other;
};

} // namespace warpfold::bench
