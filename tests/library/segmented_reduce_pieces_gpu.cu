// SPDX-License-Identifier: MIT
// Segmented reductions of which none is left to one block as a whole: blocks have pieces of segments.
#define WARPFOLD_TUNING_SEGMENTED_REDUCE 64, 1, 64, 16, 5000, 4, 2, 1, 1, 256, 2000, 64, 4096, 1024, 8192
#include "tests/library/segmented_reduce_gpu.cu"
