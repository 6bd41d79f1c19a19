// SPDX-License-Identifier: MIT
// The last warp's six additions as the lectures have them: volatile and in lockstep (steps 5, 6, 7 and sum_warp).
#pragma once

namespace warpfold::ladder::reduce {

// Why the steps that use this are right only by luck. On the software GPU the race check finds the fault.
inline constexpr const char* lockstep_luck =
    "right only by luck from Volta on: the lanes of a warp need not run in lockstep, and no __syncwarp orders them";

// Reduces scratch[0] to scratch[size - 1] (64 at most; what lies beyond the block's threads is the identity) into
// scratch[0]. For tid < 32. Lanes above the result write values that nothing reads, so the scratch has at least 64 elements.
template <unsigned size, class T, class Op>
__device__ void last_warp_in_lockstep(volatile T* scratch, unsigned tid) {
    const Op op;
    if constexpr (size >= 64) {
        scratch[tid] = op(scratch[tid], scratch[tid + 32]);
    }
    if constexpr (size >= 32) {
        scratch[tid] = op(scratch[tid], scratch[tid + 16]);
    }
    if constexpr (size >= 16) {
        scratch[tid] = op(scratch[tid], scratch[tid + 8]);
    }
    if constexpr (size >= 8) {
        scratch[tid] = op(scratch[tid], scratch[tid + 4]);
    }
    if constexpr (size >= 4) {
        scratch[tid] = op(scratch[tid], scratch[tid + 2]);
    }
    if constexpr (size >= 2) {
        scratch[tid] = op(scratch[tid], scratch[tid + 1]);
    }
}

} // namespace warpfold::ladder::reduce
