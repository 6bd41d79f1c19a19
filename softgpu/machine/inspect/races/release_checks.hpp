// SPDX-License-Identifier: MIT
// Order that threads make through memory: fences, releases and acquires, as the race checks see them.
#pragma once

#include <cstdint>

#include "softgpu/check/order/release_graph.hpp"
#include "softgpu/machine/code/access_site.hpp"
#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

// Of this block, made on first use. Requires the graph's mutex.
check::release_graph::block_record& record_of(block& b);

// Handler, before fence and membar. `more`: fence_within_block, ...
const instruction* check_fence(const instruction* i, std::byte* frame, warp* w);
// Handler, behind an access that may acquire.
const instruction* check_acquire(const instruction* i, std::byte* frame, warp* w);
// A write that others may see as a signal: what its lanes release with it. `at`: as check_access() has it.
void note_release(const instruction* i, warp* w, const std::uint64_t* at, access_space space);

} // namespace softgpu::machine
