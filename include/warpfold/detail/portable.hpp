// SPDX-License-Identifier: MIT
// Differences between nvcc and a plain C++ compiler.
#pragma once

#include "warpfold/detail/standard.hpp"

#if defined(__CUDACC__)
#define WARPFOLD_HD __host__ __device__
#else
#define WARPFOLD_HD
#endif

namespace warpfold::detail {

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

} // namespace warpfold::detail
