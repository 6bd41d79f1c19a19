// SPDX-License-Identifier: MIT
// CUB's instantiations for float64.
#include "ladder/reduce/peer_cub.cuh"

WARPFOLD_CUB_PEER(float64, double)
