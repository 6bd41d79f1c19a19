// SPDX-License-Identifier: MIT
// Checks of cp.async. From the copy's start until its thread waits for it, or has an mbarrier track it, any access to the
// words that it writes is a race. After the wait they count as written by the thread. The source is read in between.
#pragma once

#include "softgpu/check/shadow/view.hpp"
#include "softgpu/machine/code/access_site.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

// The lanes start copies to `to` in shared memory.
void begin_copies(const instruction* i, warp* w, const std::uint64_t* to, lane_mask by);
// A lane reads only the first `filled` bytes of its source, at `from`.
void inspect_short_source(const instruction* i, std::byte* frame, warp* w, const std::uint64_t* from, unsigned lane,
                          unsigned filled);
// All copies that the lanes have started are complete.
void land_copies(std::byte* frame, warp* w, lane_mask by);

// Bytes of global memory have been copied to shared memory: what is unwritten there is so here. A multiple of 16 bytes.
void copy_valid_bytes(const launch_state& l, const check::block_view& v, std::uint64_t from, std::uint32_t to,
                      std::uint32_t bytes);

// Handler, before a wait. a: how many groups may still be under way, or nowhere.
const instruction* check_copy_wait(const instruction* i, std::byte* frame, warp* w);

} // namespace softgpu::machine
