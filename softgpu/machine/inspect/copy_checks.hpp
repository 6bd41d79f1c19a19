// SPDX-License-Identifier: MIT
// Checks of cp.async. From the copy's start until its thread waits for it, or has an mbarrier track it, any access to the
// words that it writes is a race. After the wait they count as written by the thread. The source is read in between.
#pragma once

#include "softgpu/machine/code/access_site.hpp"

namespace softgpu::machine {

// The lanes start copies to `to` in shared memory.
void begin_copies(const instruction* i, warp* w, const std::uint64_t* to, lane_mask by);
// A lane reads only the first `filled` bytes of its source, at `from`.
void inspect_short_source(const instruction* i, std::byte* frame, warp* w, const std::uint64_t* from, unsigned lane,
                          unsigned filled);
// All copies that the lanes have started are complete.
void land_copies(std::byte* frame, warp* w, lane_mask by);

// Before a thread looks at the mbarrier at this offset: the bulk copies whose bytes it counts are complete.
void land_bulk_copies(const warp* w, std::uint32_t barrier);

// Handler, before a wait. a: how many groups may still be under way, or nowhere.
const instruction* check_copy_wait(const instruction* i, std::byte* frame, warp* w);

} // namespace softgpu::machine
