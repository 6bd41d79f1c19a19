// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/ptxas/shared_pointers.hpp"

#include <algorithm>

#include "softgpu/program/visit_registers.hpp"

namespace softgpu::machine {

namespace {

using ptx::opcode;

bool makes_pointer(const ptx::instruction& i, const std::vector<bool>& known) {
    if (i.op == opcode::cvta) {
        return i.space() == ptx::suffix::shared && !i.has(ptx::suffix::to);
    }
    return (i.op == opcode::mov || i.op == opcode::add || i.op == opcode::sub) &&
           std::any_of(i.operands.begin() + 1, i.operands.end(),
                       [&](const ptx::operand& o) { return o.kind == ptx::operand_kind::reg && known[o.reg]; });
}

} // namespace

std::vector<bool> shared_pointers(const ptx::function& f) {
    std::vector<bool> known(f.registers.size());
    std::vector<bool> others(f.registers.size()); // that something else is written to
    for (const ptx::instruction& i : f.instructions) {
        program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
            if (how == program::use::written) {
                others[reg] = others[reg] || !makes_pointer(i, known);
                known[reg] = !others[reg];
            }
        });
    }
    return known;
}

} // namespace softgpu::machine
