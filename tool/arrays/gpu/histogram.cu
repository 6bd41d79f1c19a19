// SPDX-License-Identifier: MIT
// The library's histogram on a GPU, for the command.
#include "tool/arrays/gpu/calls.hpp"
#include "tool/arrays/gpu/memory.cuh"
#include "tool/arrays/run_histogram.hpp"
#include "warpfold/chunked.cuh"
#include "warpfold/ranks.cuh"

namespace warpfold::calls {

void gpu_histogram(const rank_setup& rank, const histogram_request& q) {
    memory_over<gpu_memory> memory(rank);
    run_histogram(memory, q);
}

} // namespace warpfold::calls
