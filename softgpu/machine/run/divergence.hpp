// SPDX-License-Identifier: MIT
// Divergence: a branch that lanes leave in two directions makes two splits and a join at the branch's immediate
// post-dominator. Splits run one at a time, the newest first; who arrives at the join waits for the rest. When the
// budget of backward branches runs out, the next split, warp or block gets its turn, and a join lets go those who wait,
// so that lanes that spin on a lane of their own warp see it move on.
#pragma once

#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

// A call's frame is not used any more.
void release_frame(call_frame* f);
// Parts the running split at branch `i`: `taken` lanes go to i->target, the rest on.
const instruction* diverge(warp* w, const instruction* i, lane_mask taken);
// The running split's join at a meeting place in its own function: the one it has, or a new one that becomes its own.
std::uint32_t join_at(warp* w, const instruction* meeting);
// The running split loses lanes to one of their own, under the same join, which goes on at `at`.
void part(warp* w, const instruction* at, lane_mask others);
// The warp goes on with the registers of another call. The handler has to end the loop over instructions: return nullptr.
void enter_frame(warp* w, std::byte* registers);
// The running split's lanes in `gone` return from their function: they meet the others at the call's join.
const instruction* come_back(warp* w, lane_mask gone, const instruction* rest_goes_on);
// The running split stands at its join.
const instruction* arrive(warp* w);
// The running split's lanes in `gone` have ended. What comes next for the warp.
const instruction* leave(warp* w, lane_mask gone, const instruction* rest_goes_on);
// Another split that can run, loaded into the warp; nullptr: none (warp::running), or it runs in another frame
// (warp::switched).
const instruction* next_split(warp* w);
// Lanes that wait at a join for others go on without them. false: none wait. For when nothing else can run.
bool let_go(warp* w);
// The running split stays as it is at `resume`, and parked split number `other` takes its turn if it can run.
const instruction* change_split(warp* w, const instruction* resume, std::uint32_t other);
// Parked splits that stand at `at` under the running split's join and in its call run with it from now on.
void merge_lanes(warp* w, const instruction* at);
// The budget ran out: others first. `resume` is where the running split goes on.
const instruction* give_way(warp* w, const instruction* resume);
// The running split waits at a barrier of the block and goes on at `resume`; completes the barrier if it was the last.
const instruction* wait_at_barrier(warp* w, unsigned barrier, std::uint32_t wanted, bool waits,
                                   const instruction* resume);
// The running split waits at `at` for other lanes of `members` (gathering.hpp). What the warp does instead.
const instruction* wait_for_others(warp* w, lane_mask members, const instruction* at);

} // namespace softgpu::machine
