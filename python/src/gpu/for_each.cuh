// SPDX-License-Identifier: MIT
// A function of an index on a GPU.
#pragma once

#include <algorithm>
#include <cstdint>

#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/target.hpp"

namespace warpfold::python::on_gpu {

template <class Work>
__global__ void for_each_kernel(std::uint64_t n, Work work) {
    for (std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n;
         k += std::uint64_t{gridDim.x} * blockDim.x) {
        work(k);
    }
}

// work(k) for all k below n, in any order.
template <class Work>
void for_each(const gpu& on, std::uint64_t n, const Work& work) {
    constexpr unsigned threads = 256;
    const std::uint64_t most = std::uint64_t{detail::device_attribute<cudaDevAttrMultiProcessorCount>()} * 8; // blocks
    if (n != 0) {
        detail::pdl_launch({}, for_each_kernel<Work>,
                           static_cast<unsigned>(std::min((n + threads - 1) / threads, most)), threads, 0, on.stream, n,
                           work);
    }
}

} // namespace warpfold::python::on_gpu
