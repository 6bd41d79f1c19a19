// SPDX-License-Identifier: MIT
// Checks of barriers, and the findings about threads that wait for others in vain.
#pragma once

#include <string>

#include "softgpu/machine/state/block.hpp"

namespace softgpu::machine {

inline constexpr const char* mismatched_masks = "mismatched masks";
inline constexpr const char* never_meet = "threads that never meet";

// Handler, before bar and barrier. a: the barrier's number, b: how many threads, or nowhere; `more`: barrier_waits, ...
const instruction* check_barrier(const instruction* i, std::byte* frame, warp* w);
// A barrier of the block has completed; `everybody`: it was for all threads of the block.
void barrier_completed(block& b, unsigned id, bool everybody);
// What a split that waits for lanes of its warp waits for: those, or the other warps of its warpgroup.
[[nodiscard]] std::string missing_at(const warp& w, const split& s);
// No thread of the block can go on.
void report_stuck(const block& b);
// The lanes `gone` have ended. The split `waits`, of the same warp, has waited for them: they passed the place where it
// waits.
void report_passed_by(const warp* w, const split& waits, lane_mask gone);

} // namespace softgpu::machine
