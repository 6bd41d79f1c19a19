// SPDX-License-Identifier: MIT
// The library's reduce on a GPU, for the command.
#include "tool/arrays/gpu/calls.hpp"
#include "tool/arrays/gpu/memory.cuh"
#include "tool/arrays/run_reduce.hpp"
#include "warpfold/reduce.cuh"

namespace warpfold::calls {

std::string gpu_name() {
    int device = 0;
    cudaDeviceProp facts{};
    WARPFOLD_CHECK_CUDA(cudaGetDevice(&device));
    WARPFOLD_CHECK_CUDA(cudaGetDeviceProperties(&facts, device));
    return facts.name;
}

std::string gpu_reduce(const reduce_request& q) {
    gpu_memory memory;
    return run_reduce(memory, q);
}

} // namespace warpfold::calls
