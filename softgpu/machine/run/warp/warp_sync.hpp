// SPDX-License-Identifier: MIT
// Warp-wide instructions, such as shuffles, whose lanes arrive in different splits of their warp.
#pragma once

#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

// The running split waits at `at` for the other lanes of `members`. Returns the lanes that have arrived, the running ones
// among them, once all are there. 0: the split is parked, and `*next` is what the warp runs instead.
lane_mask gather_lanes(warp* w, lane_mask members, const instruction* at, bool same_place, const instruction** next);
// Lanes of the running split arrive at `at` with different member masks (`named`, by lane). Where all live members are in
// the split, it stays whole. Otherwise lanes whose mask differs from the first lane's become a split of their own at `at`.
// Returns the members of the lanes that stay.
lane_mask members_of_first(warp* w, const std::uint32_t* named, const instruction* at);
// Gathered lanes may be in different calls of the function of `i`, with their registers in other frames. Copies what `i`
// reads to the running split's frame, and what it has written back.
void borrow_registers(warp* w, const instruction* i, lane_mask gathered);
void hand_back_registers(warp* w, const instruction* i, lane_mask gathered);
// The same with the registers of an instruction's list: width[3] of them, width[0] bytes a lane.
void borrow_list(warp* w, const instruction* i, lane_mask gathered);
void hand_back_list(warp* w, const instruction* i, lane_mask gathered);
// After gather_lanes: the gathered splits, except the running one, go on at `resume`.
void release_lanes(warp* w, lane_mask gathered, const instruction* resume);

} // namespace softgpu::machine
