// SPDX-License-Identifier: MIT
// The tests of scan_gpu.cu with tiles so small that there are several districts of them.
#define WARPFOLD_TUNING_SCAN 64, 32, 1, 1, 1
#include "tests/library/scan_gpu.cu"
