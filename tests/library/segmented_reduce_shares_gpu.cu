// SPDX-License-Identifier: MIT
// Segmented reductions with large shares for few warps, however few segments there are: long stretches without an end
// and segments that go through many warps and blocks, in little time.
#define WARPFOLD_TUNING_SEGMENTED_REDUCE 64, 1, 64, 16, 5000, 4, 2, 1, 1, 256, 16000, 64, 4096, 1024, 0
#include "tests/library/segmented_reduce_gpu.cu"
