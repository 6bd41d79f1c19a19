// SPDX-License-Identifier: MIT
// Exact mean, variance and norm on a GPU and on the host, for nvcc. The calls are described in exact_moments.hpp.
#pragma once

#include <cstddef>

#include "warpfold/exact_moments.hpp"
#include "warpfold/exact_sum.cuh"
#include "warpfold/gpu/exact_sum/finish.cuh"

namespace warpfold {

// Bytes of a workspace for these calls, of any type.
[[nodiscard]] inline std::size_t exact_moments_workspace() {
    return sizeof(detail::exact_finish_memory<double>) + 2 * 16; // slots and a result, of a complex number at most
}

} // namespace warpfold
