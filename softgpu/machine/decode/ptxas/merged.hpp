// SPDX-License-Identifier: MIT
// Operations that ptxas makes part of a later instruction: LOP3 has any logic of three words, IADD3 the sum of three, LEA a sum
// with a shifted word.
#pragma once

#include <vector>

#include "softgpu/program/program.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// By instruction: it is part of the one that reads its result, the only one that does, further down in its basic block.
[[nodiscard]] std::vector<bool> merged_into_later(const ptx::function& f, const program::control_flow& flow);

} // namespace softgpu::machine
