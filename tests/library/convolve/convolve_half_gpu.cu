// SPDX-License-Identifier: MIT
// The tests of convolve_types_gpu.cu with other samples.
#define WARPFOLD_TEST_SAMPLE warpfold::half
#include "tests/library/convolve/convolve_types_gpu.cu"
