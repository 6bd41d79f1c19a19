// SPDX-License-Identifier: MIT
// Handlers that look at where threads come together: warp-wide instructions, barriers, fences, and what an atomic or
// volatile access has learnt from others.
#pragma once

#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

// `more` of inspect_meeting: which instruction. `e`: the place of its member mask; b and c as shfl has them.
enum : std::uint32_t {
    meeting_other,
    meeting_barrier,
    meeting_up,
    meeting_down,
    meeting_bfly,
    meeting_idx,
};
// `more` of inspect_barrier. a: the barrier's number, b: how many threads, or nowhere.
enum : std::uint32_t { barrier_waits = 1, barrier_aligned = 2 };
// `more` of inspect_fence. fence_of_all: fence.sc, and membar, which is the same.
enum : std::uint32_t { fence_within_block = 1, fence_of_all = 2 };

const instruction* inspect_meeting(const instruction* i, std::byte* frame, warp* w);
const instruction* inspect_barrier(const instruction* i, std::byte* frame, warp* w);
const instruction* inspect_fence(const instruction* i, std::byte* frame, warp* w);
const instruction* inspect_acquisition(const instruction* i, std::byte* frame, warp* w);

} // namespace softgpu::machine
