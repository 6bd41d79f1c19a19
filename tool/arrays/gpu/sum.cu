// SPDX-License-Identifier: MIT
// The library's exact_sum on a GPU, for the command.
#include "tool/arrays/gpu/calls.hpp"
#include "tool/arrays/gpu/memory.cuh"
#include "tool/arrays/run_sum.hpp"
#include "warpfold/chunked.cuh"
#include "warpfold/ranks.cuh"

namespace warpfold::calls {

std::string gpu_sum(const rank_setup& rank, const sum_request& q) {
    memory_over<gpu_memory> memory(rank);
    return run_sum(memory, q);
}

} // namespace warpfold::calls
