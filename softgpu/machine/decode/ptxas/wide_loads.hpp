// SPDX-License-Identifier: MIT
// Loads of neighbouring words that ptxas makes one wide load of: LDS.64, LDS.128 and LDC.64. Called by the trace's emitter.
#pragma once

#include <vector>

#include "softgpu/machine/decode/ptxas/wide_load.hpp"
#include "softgpu/program/program.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// By instruction. Loads of 32-bit words of shared memory at the same register, and at constants from it, are one if they have three
// or all words of 16 aligned bytes, or both of 8; of constant memory those of 8. They are aligned as far as the code tells, and
// nothing between them may store there. (As ptxas 13.0 does for sm_75 and sm_90.)
[[nodiscard]] std::vector<wide_load> wide_loads(const ptx::function& f, const program::control_flow& flow);

} // namespace softgpu::machine
