// SPDX-License-Identifier: MIT
// cp.async.bulk between global memory and the block's own shared memory, and its groups. A copy to shared memory is carried
// out as late as PTX allows: when a thread looks at the mbarrier that counts its bytes. A copy to global memory is carried out
// at once.
#pragma once

#include <cstdint>

#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

// Handlers. d.more: bits as of cp.async; places: the other side's address and offset, the size, the mbarrier and its offset.
const instruction* start_bulk_load(const instruction* i, std::byte* frame, warp* w);
const instruction* run_bulk_store(const instruction* i, std::byte* frame, warp* w);
const instruction* skip_bulk_group(const instruction* i, std::byte* frame, warp* w);

// The block's copies that this mbarrier counts happen, and it counts their bytes.
void finish_bulk_loads(const warp* w, std::uint32_t barrier);

} // namespace softgpu::machine
