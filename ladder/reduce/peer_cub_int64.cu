// SPDX-License-Identifier: MIT
// CUB's instantiations for int64.
#include "ladder/reduce/peer_cub.cuh"

WARPFOLD_CUB_PEER(int64, std::int64_t)
