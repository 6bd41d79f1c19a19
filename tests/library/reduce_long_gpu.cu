// SPDX-License-Identifier: MIT
// Reductions that are all done as those of arrays larger than the L2 cache are.
#define WARPFOLD_TUNING_REDUCE 64, 1, 2, 1, 1, 1, 1, 0, 4, 65536
#include "tests/library/reduce_gpu.cu"
