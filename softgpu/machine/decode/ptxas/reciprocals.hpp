// SPDX-License-Identifier: MIT
// Integer divisions whose divisor's reciprocal is there before their basic block begins: ptxas computes one of a divisor once,
// and moves it out of the loops that do not change the divisor.
#pragma once

#include <cstdint>

#include "softgpu/machine/decode/ptxas/block_costs.hpp"
#include "softgpu/program/program.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// By register: divisors.
[[nodiscard]] register_set reciprocals_before(const ptx::function& f, const program::control_flow& flow,
                                              std::uint32_t block);

} // namespace softgpu::machine
