// SPDX-License-Identifier: MIT
// The calls on a GPU, each in a file of its own.
#pragma once

#include "tool/arrays/calls.hpp"

namespace warpfold::calls {

[[nodiscard]] std::string gpu_name();
[[nodiscard]] std::string gpu_sum(const sum_request& request);
[[nodiscard]] std::string gpu_reduce(const reduce_request& request);
void gpu_scan(const scan_request& request);
void gpu_histogram(const histogram_request& request);
void gpu_convolve(const convolve_request& request);

} // namespace warpfold::calls
