// SPDX-License-Identifier: MIT
// The library's histogram on a GPU, for the command.
#include "tool/arrays/gpu/calls.hpp"
#include "tool/arrays/gpu/memory.cuh"
#include "tool/arrays/run_histogram.hpp"
#include "warpfold/chunked.cuh"

namespace warpfold::calls {

void gpu_histogram(const histogram_request& q) {
    gpu_memory memory;
    run_histogram(memory, q);
}

} // namespace warpfold::calls
