// SPDX-License-Identifier: MIT
// The library's exact_sum on a GPU, for the command.
#include "tool/arrays/gpu/calls.hpp"
#include "tool/arrays/run_sum.hpp"
#include "warpfold/chunked.cuh"

namespace warpfold::calls {

std::string gpu_sum(const sum_request& q) { return run_sum(gpu{}, q); }

} // namespace warpfold::calls
