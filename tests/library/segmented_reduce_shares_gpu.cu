// SPDX-License-Identifier: MIT
// Segmented reductions with large shares for few warps and hardly a segment left to one of them: long stretches without
// an end and segments that go through many warps and blocks, in little time.
#define WARPFOLD_TUNING_SEGMENTED_REDUCE 64, 1, 64, 16, 5000, 64, 64
#include "tests/library/segmented_reduce_gpu.cu"
