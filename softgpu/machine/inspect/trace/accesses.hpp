// SPDX-License-Identifier: MIT
// What an access of a warp is to the caches: lines and sectors.
#pragma once

#include <cstdint>

#include "softgpu/machine/code/instruction.hpp"
#include "softgpu/machine/trace.hpp"

namespace softgpu::machine {

class traced_block;

// Tells the trace of the block about an access of `bytes` a lane at these addresses. Lanes in one line are one access;
// what is not global memory is left out. by_lanes: the lanes have been told, too. Returns how long L1 takes to give lanes what
// they load, in quarters of a turn; 0: nothing is global, or these are atomics.
unsigned tell_access(traced_block& block, const std::uint64_t* at, lane_mask mask, std::uint64_t bytes, touch how,
                     const warp* w, bool by_lanes = false);

// The same of all lanes, which access `added` bytes behind these addresses, if they lie side by side in global memory or are one
// address; else 0.
unsigned tell_row(traced_block& block, const std::uint64_t* at, std::uint64_t added, std::uint64_t bytes, touch how,
                  const warp* w, bool by_lanes = false);

} // namespace softgpu::machine
