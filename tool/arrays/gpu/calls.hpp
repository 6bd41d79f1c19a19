// SPDX-License-Identifier: MIT
// The calls on a GPU, each in a file of its own.
#pragma once

#include "tool/arrays/calls.hpp"

namespace warpfold::calls {

[[nodiscard]] int gpu_count();
[[nodiscard]] std::string gpu_name(const rank_setup& rank);
[[nodiscard]] std::string gpu_sum(const rank_setup& rank, const sum_request& request);
[[nodiscard]] std::string gpu_reduce(const rank_setup& rank, const reduce_request& request);
void gpu_scan(const rank_setup& rank, const scan_request& request);
void gpu_histogram(const rank_setup& rank, const histogram_request& request);
void gpu_convolve(const rank_setup& rank, const convolve_request& request);

} // namespace warpfold::calls
