// SPDX-License-Identifier: MIT
// Exact sums along axes on a GPU and on the host, for nvcc. The call is described in exact_sum_along.hpp.
#pragma once

#include "warpfold/exact_sum.cuh"
#include "warpfold/exact_sum_along.hpp"
#include "warpfold/gpu/along_axis/exact_sum.cuh"
