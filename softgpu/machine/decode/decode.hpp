// SPDX-License-Identifier: MIT
// From the body of a kernel or a function to decoded instructions.
#pragma once

#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/decode/decode_context.hpp"
#include "softgpu/program/program.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// Throws ptx::error for an invalid body: a branch to an undefined label, an unknown symbol.
[[nodiscard]] program_code decode(const ptx::function& f, const program::control_flow& flow,
                                  const program::register_places& places, const decode_context& context);

} // namespace softgpu::machine
