// SPDX-License-Identifier: MIT
// Warpgroups: four warps of a block that come to wgmma.mma_async together. A warp that comes waits, until the last of the four
// multiplies for all of them.
#pragma once

#include <array>

#include "softgpu/machine/code/matrix/warpgroup_plan.hpp"
#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

// The running split has come to `at`. true: so have all live lanes of its warpgroup, and the other warps' are loaded at `at`:
// what they run next is for the caller to say, in warp::pc. false: the split waits, or a fault was raised; `*next` is what
// the warp runs instead.
bool gather_warpgroup(warp* w, const instruction* at, const instruction** next);
[[nodiscard]] std::array<warp*, warpgroup_warps> warpgroup_of(const warp* w);

} // namespace softgpu::machine
