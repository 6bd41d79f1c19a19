// SPDX-License-Identifier: MIT
// Divergence. A branch whose lanes go two ways makes two splits and a join at the branch's meeting place (program.hpp). Splits
// run one at a time, the newest first. A split that arrives at the join waits for the rest. When the budget of backward
// branches runs out, the next split, warp or block gets its turn, and joins release the lanes that wait: lanes that spin
// on a lane of their own warp then see it make progress.
#pragma once

#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

// Splits the running split at branch `i`: lanes `taken` go to i->target, the rest to `after`.
const instruction* diverge(warp* w, const instruction* i, lane_mask taken, const instruction* after);
// The running split's join at `meeting`, in its own function: the one that it has, or a new one.
std::uint32_t join_at(warp* w, const instruction* meeting);
// The running split comes to a block behind loops, at its handler_set::leave_loops, and not to meetings within them any more.
void give_up_meetings(warp* w, const instruction* at);
// Lanes `others` leave the running split for a split of their own, under the same join, which goes on at `at`.
void part(warp* w, const instruction* at, lane_mask others);
// The warp continues with the registers of another call. The handler must return nullptr.
void enter_frame(warp* w, std::byte* registers);
// The running split's lanes `gone` return from their function and wait at the call's join.
const instruction* come_back(warp* w, lane_mask gone, const instruction* rest_goes_on);
// The running split has reached its join.
const instruction* arrive(warp* w);
// The running split's lanes `gone` have ended. Returns what the warp runs next.
const instruction* leave(warp* w, lane_mask gone, const instruction* rest_goes_on);
// Another split that can run, loaded into the warp; nullptr: none (warp::running), or it runs in another frame
// (warp::switched).
const instruction* next_split(warp* w);
// Lanes that wait at joins go on without the others; called when nothing else can run. false: none wait.
bool let_go(warp* w);
// The running split is parked at `resume`, and parked split number `other` runs if it can.
const instruction* change_split(warp* w, const instruction* resume, std::uint32_t other);
// Parked splits at `at`, under the running split's join and in its call, join the running split.
void merge_lanes(warp* w, const instruction* at);
// The budget ran out: others run first. `resume`: where the running split goes on.
const instruction* give_way(warp* w, const instruction* resume);
// The running split waits at a barrier of the block and goes on at `resume`; completes the barrier if it was the last.
const instruction* wait_at_barrier(warp* w, unsigned barrier, std::uint32_t wanted, bool waits,
                                   const instruction* resume);
// The running split waits at `at` for other lanes of `members` (warp_sync.hpp). Returns what the warp runs instead.
const instruction* wait_for_others(warp* w, lane_mask members, const instruction* at);

} // namespace softgpu::machine
