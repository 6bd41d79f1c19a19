// SPDX-License-Identifier: MIT
// exact_accumulator on a GPU and on the host, for nvcc; see exact_accumulator.hpp.
#pragma once

#include "warpfold/exact_accumulator.hpp"
#include "warpfold/gpu/exact_sum/accumulator.cuh"
