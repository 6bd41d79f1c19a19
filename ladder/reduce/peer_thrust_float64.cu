// SPDX-License-Identifier: MIT
// Thrust's instantiations for float64.
#include "ladder/reduce/peer_thrust.cuh"

WARPFOLD_THRUST_PEER(float64, double)
