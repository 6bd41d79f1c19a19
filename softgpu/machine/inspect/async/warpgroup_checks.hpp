// SPDX-License-Identifier: MIT
// Checks of wgmma. From wgmma.mma_async on, touching its registers is a race until their warp has waited. Writing the shared
// memory that it reads is a race unless the wait of one warp of the warpgroup comes before: the four warps multiply together.
// What it reads from shared memory by descriptors must have passed fence.proxy.async, unless an asynchronous copy wrote it.
#pragma once

#include "softgpu/machine/code/matrix/warpgroup_check.hpp"
#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

// Handler, before or behind wgmma (see warpgroup_check). Of a product: a, b, immediate and the low bits of `more` are the
// product's; of a wait, immediate: groups that may still be under way; of touch: program_code::touches; of unfenced: the
// register.
const instruction* check_warpgroup(const instruction* i, std::byte* frame, warp* w);

} // namespace softgpu::machine
