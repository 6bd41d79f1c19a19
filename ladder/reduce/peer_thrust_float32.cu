// SPDX-License-Identifier: MIT
// Thrust's instantiations for float32.
#include "ladder/reduce/peer_thrust.cuh"

WARPFOLD_THRUST_PEER(float32, float)
