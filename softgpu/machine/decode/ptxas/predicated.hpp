// SPDX-License-Identifier: MIT
// Ifs whose branch ptxas replaces by predicates. Called by the trace's emitter.
#pragma once

#include <cstdint>
#include <vector>

#include "softgpu/program/program.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// The block ends with a branch over the next one, its body, which loads global memory and computes.
[[nodiscard]] bool predicates_body(const ptx::function& f, const program::control_flow& flow, std::uint32_t block);

// The end of the blocks from this one on that ptxas makes straight code of: ifs with such bodies one after the other, and what
// follows the last one. block + 1: it stands alone.
[[nodiscard]] std::uint32_t straight_end(const ptx::function& f, const program::control_flow& flow,
                                         std::uint32_t block);

// By instruction: the predicate that ptxas gives it, for that of a branch; no_register elsewhere.
[[nodiscard]] std::vector<std::uint32_t> given_predicates(const ptx::function& f, const program::control_flow& flow);

} // namespace softgpu::machine
