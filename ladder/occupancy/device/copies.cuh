// SPDX-License-Identifier: MIT
// The copy that the laboratory varies: how many bytes each thread has under way.
#pragma once

#include <cstdint>

namespace warpfold::ladder::occupancy {

// Copies n vectors; every thread has `Loads` of them under way at once.
template <class Vector, unsigned Loads>
__global__ void copy_in_flight(Vector* out, const Vector* in, std::uint64_t n) {
    const std::uint64_t stride = std::uint64_t{blockDim.x} * gridDim.x;
#pragma unroll 1
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += Loads * stride) {
        Vector under_way[Loads];
#pragma unroll
        for (unsigned k = 0; k < Loads; ++k) {
            if (i + k * stride < n) {
                under_way[k] = in[i + k * stride];
            }
        }
#pragma unroll
        for (unsigned k = 0; k < Loads; ++k) {
            if (i + k * stride < n) {
                out[i + k * stride] = under_way[k];
            }
        }
    }
}

} // namespace warpfold::ladder::occupancy
