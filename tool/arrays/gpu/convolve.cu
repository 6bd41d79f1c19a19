// SPDX-License-Identifier: MIT
// The library's convolve on a GPU, for the command.
#include "tool/arrays/gpu/calls.hpp"
#include "tool/arrays/gpu/memory.cuh"
#include "tool/arrays/run_convolve.hpp"
#include "warpfold/convolve.cuh"

namespace warpfold::calls {

void gpu_convolve(const convolve_request& q) {
    gpu_memory memory;
    run_convolve(memory, q);
}

} // namespace warpfold::calls
