// SPDX-License-Identifier: MIT
#include "every_header.cuh"

#include "tests/library/relocatable/other_unit.hpp"

namespace warpfold::tests {

float exact_sum_in_other_unit(const float* in, std::uint64_t n) { return exact_sum(gpu{}, in, n); }

} // namespace warpfold::tests
