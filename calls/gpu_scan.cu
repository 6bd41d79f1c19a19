// SPDX-License-Identifier: MIT
// The library's scan on a GPU, for the command.
#include "calls/gpu.hpp"
#include "calls/gpu_memory.cuh"
#include "calls/run_scan.hpp"
#include "warpfold/scan.cuh"

namespace warpfold::calls {

void gpu_scan(const scan_request& q) {
    gpu_memory memory;
    run_scan(memory, q);
}

} // namespace warpfold::calls
