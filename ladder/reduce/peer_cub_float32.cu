// SPDX-License-Identifier: MIT
// CUB's instantiations for float32.
#include "ladder/reduce/peer_cub.cuh"

WARPFOLD_CUB_PEER(float32, float)
