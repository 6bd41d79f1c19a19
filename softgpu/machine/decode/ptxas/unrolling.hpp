// SPDX-License-Identifier: MIT
// How often ptxas unrolls a loop. Called by the trace's emitter.
#pragma once

#include <cstdint>
#include <vector>

#include "softgpu/program/program.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// How often ptxas repeats the body of a loop, the blocks from `block` to `end`: 4 for straight code (see predicated.hpp) that
// counts to a bound by a constant, without a barrier, a call or .pragma "nounroll", and not too large; as often as fits where the
// number of rounds is a constant; else 1. `merged`: merged_operations().
[[nodiscard]] unsigned unrolled_rounds(const ptx::function& f, const program::control_flow& flow, std::uint32_t block,
                                       std::uint32_t end, const std::vector<bool>& merged);

} // namespace softgpu::machine
