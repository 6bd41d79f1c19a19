// SPDX-License-Identifier: MIT
// Thrust's instantiations for int32.
#include "ladder/reduce/peer_thrust.cuh"

WARPFOLD_THRUST_PEER(int32, std::int32_t)
