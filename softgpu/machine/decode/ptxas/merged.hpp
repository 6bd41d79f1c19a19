// SPDX-License-Identifier: MIT
// Operations of which ptxas makes no instruction, since another one has them as a part: LOP3 has any logic of three words, SHF a
// rotation, IADD3 the sum of three, LEA a sum with a shifted word, VIADDMNMX a sum and its minimum with a third, and numbers that are
// negated or without their sign are operands of floating-point instructions.
#pragma once

#include <vector>

#include "softgpu/program/program.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// By instruction: it is part of those that read its result, or of the one whose result it reads.
[[nodiscard]] std::vector<bool> merged_operations(const ptx::function& f, const program::control_flow& flow);

} // namespace softgpu::machine
