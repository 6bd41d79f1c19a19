// SPDX-License-Identifier: MIT
// Calls on data that a GPU, or the host, does not hold all at once: for nvcc. The calls are described in stream.hpp.
#pragma once

#include "warpfold/exact_sum.cuh"
#include "warpfold/gpu/stream.cuh"
#include "warpfold/histogram.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"
#include "warpfold/stream.hpp"
