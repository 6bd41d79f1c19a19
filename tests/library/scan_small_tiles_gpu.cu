// SPDX-License-Identifier: MIT
// The tests of scan_gpu.cu with tiles so small that there are several districts of them.
#define WARPFOLD_TUNING_SCAN 64, 32, 1, 1, 1
#define WARPFOLD_TUNING_SCAN_ONCE 64, 1, 1, 3
#define WARPFOLD_TUNING_SCAN_STREAM 64, 2, 4, 1, 2
#include "tests/library/scan_gpu.cu"
