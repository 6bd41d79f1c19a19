// SPDX-License-Identifier: MIT
// The library's scan on a GPU, for the command.
#include "tool/arrays/gpu/calls.hpp"
#include "tool/arrays/gpu/memory.cuh"
#include "tool/arrays/run_scan.hpp"
#include "warpfold/chunked.cuh"
#include "warpfold/ranks.cuh"

namespace warpfold::calls {

void gpu_scan(const rank_setup& rank, const scan_request& q) {
    memory_over<gpu_memory> memory(rank);
    run_scan(memory, q);
}

} // namespace warpfold::calls
