// SPDX-License-Identifier: MIT
// The library's convolve on a GPU, for the command.
#include "tool/arrays/gpu/calls.hpp"
#include "tool/arrays/gpu/memory.cuh"
#include "tool/arrays/run_convolve.hpp"
#include "warpfold/convolve.cuh"
#include "warpfold/ranks.cuh"

namespace warpfold::calls {

void gpu_convolve(const rank_setup& rank, const convolve_request& q) {
    memory_over<gpu_memory> memory(rank);
    run_convolve(memory, q);
}

} // namespace warpfold::calls
