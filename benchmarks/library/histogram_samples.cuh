// SPDX-License-Identifier: MIT
// Samples of the histogram benchmarks.
#pragma once

#include <cstdint>

namespace warpfold::bench {

enum class shape { uniform, skewed, constant, zipf };
inline constexpr const char* shape_names[] = {"uniform", "skewed", "constant", "Zipf"};

// Unordered numbers u in [0, 1). Skewed: u^8; a share of (1 / bins)^(1/8) is in the first bin. Numbers are multiplied by
// `times`. Zipf: times^u - 1, so that bin k of `times` has a share of nearly 1 / (k + 1).
template <class T>
__global__ void fill(T* data, std::uint64_t n, double times, shape which) {
    for (std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n;
         k += std::uint64_t{gridDim.x} * blockDim.x) {
        std::uint64_t mixed = (k + 1) * 0x9E3779B97F4A7C15ull;
        mixed = (mixed ^ mixed >> 31) * 0xD6E8FEB86659FD93ull;
        double u = static_cast<double>((mixed ^ mixed >> 32) >> 11) * 0x1p-53;
        if (which == shape::skewed) {
            u *= u;
            u *= u;
            u *= u;
        }
        if (which == shape::constant) {
            u = 0.4;
        }
        const T x = static_cast<T>(which == shape::zipf ? exp(u * log(times)) - 1 : u * times);
        data[k] = static_cast<double>(x) < times ? x : T{0}; // a float may have been rounded up
    }
}

} // namespace warpfold::bench
