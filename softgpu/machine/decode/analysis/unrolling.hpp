// SPDX-License-Identifier: MIT
// How often ptxas unrolls a loop. Called by the trace's emitter.
#pragma once

#include <cstdint>

#include "softgpu/program/program.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// How often ptxas repeats the body of a loop: 4 for one block that counts to a bound by a constant, without a barrier, a call
// or .pragma "nounroll", and not too large; else 1.
[[nodiscard]] unsigned unrolled_rounds(const ptx::function& f, const program::control_flow& flow, std::uint32_t block);

} // namespace softgpu::machine
