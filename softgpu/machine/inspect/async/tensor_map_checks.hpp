// SPDX-License-Identifier: MIT
// The check for a missing fence.proxy.tensormap: between a change of a tensor map in global memory and a copy that uses it, the
// changing side releases (tensormap.cp_fenceproxy does) and the block that uses it acquires, for the map's address.
#pragma once

#include "softgpu/machine/state/block.hpp"

namespace softgpu::machine {

// A lane has changed the map at this global address. `is_released`: by tensormap.cp_fenceproxy.
void note_map_change(const instruction* i, const warp* w, unsigned lane, std::uint64_t at, bool is_released);
// fence.proxy.tensormap. `acquires`: the map whose address stands in `a`, with the offset `immediate`.
void note_map_fence(const instruction* i, std::byte* frame, const warp* w, bool acquires);
// A lane is about to copy by the map at this address.
void check_map_use(const instruction* i, const warp* w, unsigned lane, std::uint64_t at);

} // namespace softgpu::machine
