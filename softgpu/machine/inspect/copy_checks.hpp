// SPDX-License-Identifier: MIT
// cp.async under the checks. From the copy's start until its thread waits for it, or has an mbarrier track it, the words
// that it writes are under way: an access to one of them, by whomever, is a race. What it writes counts as written by
// its thread when that wait is over. The source is read between the two.
#pragma once

#include "softgpu/machine/code/access_site.hpp"

namespace softgpu::machine {

// The copies that these lanes start now, to `to` in shared memory.
void begin_copies(const instruction* i, warp* w, const std::uint64_t* to, lane_mask by);
// A lane reads only the first `filled` bytes of its source, at `from`.
void inspect_short_source(const instruction* i, std::byte* frame, warp* w, const std::uint64_t* from, unsigned lane,
                          unsigned filled);
// Everything that these lanes have started is there.
void land_copies(std::byte* frame, warp* w, lane_mask by);

// Before a wait; a: how many groups may still be under way, or nowhere.
const instruction* inspect_copy_wait(const instruction* i, std::byte* frame, warp* w);

} // namespace softgpu::machine
