// SPDX-License-Identifier: MIT
// The library's reduce on a GPU, for the command.
#include "tool/arrays/gpu/calls.hpp"
#include "tool/arrays/gpu/memory.cuh"
#include "tool/arrays/run_reduce.hpp"
#include "warpfold/chunked.cuh"
#include "warpfold/ranks.cuh"

namespace warpfold::calls {

int gpu_count() {
    int count = 0;
    WARPFOLD_CHECK_CUDA(cudaGetDeviceCount(&count));
    return count;
}

std::string gpu_name(const rank_setup& rank) {
    gpu_memory::use(rank.place);
    int device = 0;
    cudaDeviceProp facts{};
    WARPFOLD_CHECK_CUDA(cudaGetDevice(&device));
    WARPFOLD_CHECK_CUDA(cudaGetDeviceProperties(&facts, device));
    return facts.name;
}

std::string gpu_reduce(const rank_setup& rank, const reduce_request& q) {
    const memory_over<gpu_memory> memory(rank);
    return run_reduce(memory, q);
}

} // namespace warpfold::calls
