// SPDX-License-Identifier: MIT
// Exact sums that go on, on a GPU and on the host's cores: for nvcc. See exact_accumulator.hpp.
#pragma once

#include "warpfold/exact_accumulator.hpp"
#include "warpfold/gpu/exact_sum/accumulator.cuh"
