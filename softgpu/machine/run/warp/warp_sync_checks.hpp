// SPDX-License-Identifier: MIT
// Checks of warp-wide instructions: member masks, and the lanes that a shuffle reads from.
#pragma once

#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

// Handler, before a warp-wide instruction. `more`: sync_other, ..., `e`: the place of its member mask.
const instruction* check_warp_sync(const instruction* i, std::byte* frame, warp* w);

} // namespace softgpu::machine
