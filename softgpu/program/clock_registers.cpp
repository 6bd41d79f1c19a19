// SPDX-License-Identifier: MIT
// Which registers depend on a clock.
#include <algorithm>

#include "softgpu/program/program.hpp"
#include "softgpu/program/visit_registers.hpp"

namespace softgpu::program {

namespace {

bool reads_clock(const ptx::instruction& i) {
    return std::any_of(i.operands.begin(), i.operands.end(), [](const ptx::operand& o) {
        return o.kind == ptx::operand_kind::special &&
               (o.name.starts_with("%clock") || o.name.starts_with("%globaltimer"));
    });
}

} // namespace

std::vector<bool> clock_registers(const ptx::function& f) {
    std::vector<bool> of_clocks(f.registers.size(), false);
    if (std::none_of(f.instructions.begin(), f.instructions.end(), reads_clock)) {
        return of_clocks;
    }
    for (bool more = true; more;) {
        more = false;
        for (const ptx::instruction& i : f.instructions) {
            bool depends = reads_clock(i);
            visit_registers(
                i, [&](std::uint32_t reg, use how) { depends = depends || (how == use::read && of_clocks.at(reg)); });
            if (!depends) {
                continue;
            }
            visit_registers(i, [&](std::uint32_t reg, use how) {
                if (how == use::written && !of_clocks[reg]) {
                    of_clocks[reg] = more = true;
                }
            });
        }
    }
    return of_clocks;
}

} // namespace softgpu::program
