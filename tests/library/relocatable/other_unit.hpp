// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace warpfold::tests {

// The sum, by a kernel that another unit has too.
float exact_sum_in_other_unit(const float* in, std::uint64_t n);

} // namespace warpfold::tests
