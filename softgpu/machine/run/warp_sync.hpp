// SPDX-License-Identifier: MIT
// Lanes that meet at an instruction of theirs, such as a shuffle, though they come in different splits of their warp.
#pragma once

#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

// The running split waits for the other lanes of `members` at instruction `at`. Returns the lanes that are all there
// and wait at `at` (the running ones among them), or 0: parked, and `*next` is what the warp does instead.
lane_mask gather_lanes(warp* w, lane_mask members, const instruction* at, bool same_place, const instruction** next);
// For lanes of the running split that come to a meeting at `at` and do not all name the same members (`named`, by
// lane): where all that live of the members are in the split, it stays as it is; else the lanes that name others than
// the first one does become a split of their own at `at`. Returns the members of those that stay.
lane_mask members_of_first(warp* w, const std::uint32_t* named, const instruction* at);
// Gathered lanes may have come by different calls of the function that `i` is in, and have their registers elsewhere:
// what `i` reads is brought to the running split's frame, and what it has written is taken back.
void borrow_registers(warp* w, const instruction* i, lane_mask gathered);
void hand_back_registers(warp* w, const instruction* i, lane_mask gathered);
// After gather_lanes: lets the gathered splits other than the running one go on at `resume`.
void release_lanes(warp* w, lane_mask gathered, const instruction* resume);

} // namespace softgpu::machine
