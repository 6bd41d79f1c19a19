// SPDX-License-Identifier: MIT
// The library's scan on a GPU, for the command.
#include "tool/arrays/gpu/calls.hpp"
#include "tool/arrays/run_scan.hpp"
#include "warpfold/chunked.cuh"

namespace warpfold::calls {

void gpu_scan(const scan_request& q) { run_scan(gpu{}, q); }

} // namespace warpfold::calls
