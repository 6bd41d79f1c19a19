// SPDX-License-Identifier: MIT
// Values that a warp has read from uninitialized shared memory. Reading them is no mistake yet: CUB's merges read one
// element past their end, its exchanges all places of a warp, and neither uses what it got. So the registers that hold
// such values are tracked, by lane, through copies, selections and conditions that do not depend on them. The finding is
// made where something else uses one.
#pragma once

#include <cstdint>

#include "softgpu/machine/code/access_site.hpp"
#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

// Runs before an instruction that may meet such values. `immediate`: index into program_code::flows.
const instruction* follow_values(const instruction* i, std::byte* frame, warp* w);
// A lane is about to read element `element` of the access from uninitialized shared memory at `at`.
void hold_uninitialized(const access_site& site, warp* w, unsigned lane, unsigned element, std::uint64_t at);
// The finding: a lane uses, or reads, uninitialized memory.
void report_uninitialized(const access_site& site, warp* w, unsigned lane, access_space space, std::uint64_t at);

} // namespace softgpu::machine
