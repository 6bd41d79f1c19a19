// SPDX-License-Identifier: MIT
// cp.async: copies that a thread starts and waits for later. A copy is carried out as late as PTX allows: when its thread
// waits for it, or has an mbarrier track it. Until then shared memory keeps the old contents.
#pragma once

#include <cstdint>

#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

// Notes a copy of the lane, from global memory to its block's shared memory: `filled` bytes are copied, the rest of
// `bytes` becomes zero. All addresses have been checked.
void start_copy(warp* w, unsigned lane, std::uint64_t from, std::uint32_t to, unsigned bytes, unsigned filled);
// Makes a group, of each lane's own, of what the lanes have started since their last group.
void commit_copies(warp* w, lane_mask by);
// Carries out the lanes' groups but the `keep` youngest.
void finish_groups(warp* w, lane_mask by, std::uint32_t keep);
// Carries out everything that the lanes have started.
void finish_copies(warp* w, lane_mask by);

} // namespace softgpu::machine
