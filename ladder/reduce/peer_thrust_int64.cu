// SPDX-License-Identifier: MIT
// Thrust's instantiations for int64.
#include "ladder/reduce/peer_thrust.cuh"

WARPFOLD_THRUST_PEER(int64, std::int64_t)
