// SPDX-License-Identifier: MIT
// The tests of scan_gpu.cu with tiles so small that there are several districts of them.
#define WARPFOLD_TUNING_SCAN 64, 32, 1, 1, 1
#define WARPFOLD_TUNING_SCAN_ONCE 1, 2, 2, 1, 3, 5, 5, 2, 4, 9, 4
#define WARPFOLD_TUNING_SCAN_STREAM 128, 4, 4, 1, 2
#include "tests/library/scan_gpu.cu"
