// SPDX-License-Identifier: MIT
// barrier.cluster: the barrier of all threads of a cluster. A warp that waits gives way until all live threads have arrived.
#pragma once

#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

// Handlers.
const instruction* arrive_at_cluster(const instruction* i, std::byte* frame, warp* w);
const instruction* wait_for_cluster(const instruction* i, std::byte* frame, warp* w);

// The warp's lanes `gone` have ended: nobody waits for them.
void leave_cluster(const warp* w, lane_mask gone);

} // namespace softgpu::machine
