// SPDX-License-Identifier: MIT
// Thrust's instantiations for all element types: in one file, since most of the time goes into Thrust's headers.
#include "ladder/reduce/peers/peer_thrust.cuh"

WARPFOLD_THRUST_PEER(int32, std::int32_t)
WARPFOLD_THRUST_PEER(int64, std::int64_t)
WARPFOLD_THRUST_PEER(float32, float)
WARPFOLD_THRUST_PEER(float64, double)
