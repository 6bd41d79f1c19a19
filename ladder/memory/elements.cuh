// SPDX-License-Identifier: MIT
// Which element a thread has, and which one it reads where each lane reads at any place.
#pragma once

#include <cstdint>

namespace warpfold::ladder::memory {

__device__ inline std::uint64_t index() { return threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x; }

// A place below n for each i, as good as random.
__host__ __device__ inline std::uint64_t random_place(std::uint64_t i, std::uint64_t n) {
    std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    return (z ^ (z >> 27)) % n;
}

} // namespace warpfold::ladder::memory
