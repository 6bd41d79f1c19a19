// SPDX-License-Identifier: MIT
// Chunked calls on a GPU and on the host, for nvcc. The calls are described in chunked.hpp.
#pragma once

#include "warpfold/chunked.hpp"
#include "warpfold/exact_sum.cuh"
#include "warpfold/gpu/chunked/chunked.cuh"
#include "warpfold/histogram.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"
