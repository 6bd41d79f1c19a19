// SPDX-License-Identifier: MIT
// The library's exact_sum on a GPU, for the command.
#include "calls/gpu.hpp"
#include "calls/gpu_memory.cuh"
#include "calls/run_sum.hpp"
#include "warpfold/exact_sum.cuh"
#include "warpfold/reduce.cuh"

namespace warpfold::calls {

std::string gpu_sum(const sum_request& q) {
    gpu_memory memory;
    return run_sum(memory, q);
}

} // namespace warpfold::calls
