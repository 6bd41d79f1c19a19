// SPDX-License-Identifier: MIT
// CUB's instantiations for int32.
#include "ladder/reduce/peer_cub.cuh"

WARPFOLD_CUB_PEER(int32, std::int32_t)
