// SPDX-License-Identifier: MIT
// Accesses to global memory that PTX has and ptxas leaves out of the machine code.
#pragma once

#include <optional>

#include "softgpu/program/program.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// The function with copies of registers, or nothing, in the places of such accesses; nullopt: there are none. In straight code
// these are: a load of what an earlier load or store has in a register, if no store or other access comes between, or whatever
// comes between two loads by .nc; and a store before another one to the same place, if only .nc may have read it. In all code:
// loads whose result nothing reads. Volatile and ordered accesses stay.
[[nodiscard]] std::optional<ptx::function> without_left_out(const ptx::function& f, const program::control_flow& flow);

} // namespace softgpu::machine
