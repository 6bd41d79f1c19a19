// SPDX-License-Identifier: MIT
// Calls whose policy is another one than policy_gpu.cu's.
#pragma once

#include <cstdint>

namespace warpfold::tests {

float sum_in_one_block(const float* data, std::uint64_t n);
unsigned blocks_of_sum(std::uint64_t n);

} // namespace warpfold::tests
