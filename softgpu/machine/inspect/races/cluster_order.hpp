// SPDX-License-Identifier: MIT
// Order that the cluster's barrier makes, as the race checks see it.
#pragma once

#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

// The running split arrives, and releases what its lanes have done.
void note_cluster_arrival(const warp* w, bool relaxed);
// The running split goes on behind the barrier's wait. To be called before its lanes count as not at the barrier.
void note_cluster_wait(const warp* w);

} // namespace softgpu::machine
