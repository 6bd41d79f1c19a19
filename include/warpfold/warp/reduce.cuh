// SPDX-License-Identifier: MIT
// Reduction over the lanes of a warp.
#pragma once

#include "warpfold/warp/shuffle.cuh"

namespace warpfold::warp {

// op(v0, op(v1, ... v31)) in the order of the lanes, v the lanes' values; only lane 0's result means something. The
// whole warp has to call it. Five shuffles of each word of A.
template <class A, class Op>
__device__ A reduce(A value, const Op& op) {
#pragma unroll
    for (unsigned distance = 1; distance < lanes; distance *= 2) {
        value = op(value, shuffle_down(value, distance));
    }
    return value;
}

} // namespace warpfold::warp
