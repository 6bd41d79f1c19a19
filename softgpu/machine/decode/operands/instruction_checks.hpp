// SPDX-License-Identifier: MIT
// Checks of an instruction's operand count and register widths, on which handlers rely. Each throws ptx::error.
#pragma once

#include "softgpu/machine/code/form.hpp"

namespace softgpu::machine {

// Bytes of a lane of a register, or of the first of a vector; 0 for a predicate and for everything else.
[[nodiscard]] std::uint8_t lane_bytes(const ptx::function& f, const ptx::operand& o);

void check_count(const ptx::instruction& i, const form& fm);
// What PTX requires and what the result depends on: .lo or .hi, the rounding of cvt, a type of bits. (div, sqrt and rcp had no
// modifier before PTX 1.4.)
void check_modifiers(const ptx::instruction& i, const form& fm);
void check_moved(const ptx::function& f, const ptx::instruction& i, const form& fm);
void check_registers(const ptx::function& f, const ptx::instruction& i, const form& fm);

} // namespace softgpu::machine
