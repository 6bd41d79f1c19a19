// SPDX-License-Identifier: MIT
// CUB's and Thrust's instantiations for all element types: in one file, since most of the time goes into their headers.
#include "ladder/reduce/peers/peer_thrust.cuh"

#include "ladder/reduce/peers/peer_cub.cuh"

WARPFOLD_CUB_PEER(int32, std::int32_t)
WARPFOLD_CUB_PEER(int64, std::int64_t)
WARPFOLD_CUB_PEER(float32, float)
WARPFOLD_CUB_PEER(float64, double)

WARPFOLD_THRUST_PEER(int32, std::int32_t)
WARPFOLD_THRUST_PEER(int64, std::int64_t)
WARPFOLD_THRUST_PEER(float32, float)
WARPFOLD_THRUST_PEER(float64, double)
