// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/ptxas/reciprocals.hpp"

#include <vector>

#include "softgpu/program/visit_registers.hpp"

namespace softgpu::machine {

namespace {

enum class last_use : std::uint8_t { none, divided, written };

last_use last_use_of(const ptx::function& f, const program::basic_block& b, std::uint32_t reg) {
    last_use last = last_use::none;
    for (std::uint32_t n = b.first; n < b.last; ++n) {
        last = divisor_of(f.instructions[n]) == reg ? last_use::divided : last;
        program::visit_registers(f.instructions[n], [&](std::uint32_t r, program::use how) {
            last = r == reg && how == program::use::written ? last_use::written : last;
        });
    }
    return last;
}

bool writes(const ptx::function& f, const program::basic_block& b, std::uint32_t reg) {
    bool does = false;
    for (std::uint32_t n = b.first; n < b.last && !does; ++n) {
        program::visit_registers(f.instructions[n], [&](std::uint32_t r, program::use how) {
            does = does || (r == reg && how == program::use::written);
        });
    }
    return does;
}

// Whether control comes back to the block without the register being written.
bool is_in_loop_without_change(const ptx::function& f, const program::control_flow& flow, std::uint32_t block,
                               std::uint32_t reg) {
    if (writes(f, flow.blocks[block], reg)) {
        return false;
    }
    std::vector<bool> seen(flow.blocks.size());
    std::vector<std::uint32_t> next = flow.blocks[block].successors;
    while (!next.empty()) {
        const std::uint32_t b = next.back();
        next.pop_back();
        if (b == block) {
            return true;
        }
        if (!seen[b] && !writes(f, flow.blocks[b], reg)) {
            seen[b] = true;
            next.insert(next.end(), flow.blocks[b].successors.begin(), flow.blocks[b].successors.end());
        }
    }
    return false;
}

// Whether a block on the only way to this one divides by the register, which does not change behind it.
bool is_divided_by_before(const ptx::function& f, const program::control_flow& flow, std::uint32_t block,
                          std::uint32_t reg) {
    std::vector<bool> seen(flow.blocks.size());
    while (flow.blocks[block].predecessors.size() == 1 && !seen[block]) {
        seen[block] = true;
        block = flow.blocks[block].predecessors.front();
        if (const last_use last = last_use_of(f, flow.blocks[block], reg); last != last_use::none) {
            return last == last_use::divided;
        }
    }
    return false;
}

} // namespace

register_set reciprocals_before(const ptx::function& f, const program::control_flow& flow, std::uint32_t block) {
    register_set there;
    register_set asked;
    for (std::uint32_t n = flow.blocks[block].first; n < flow.blocks[block].last; ++n) {
        const std::uint32_t reg = divisor_of(f.instructions[n]);
        if (reg != no_register && asked.insert(reg).second &&
            (is_in_loop_without_change(f, flow, block, reg) || is_divided_by_before(f, flow, block, reg))) {
            there.insert(reg);
        }
    }
    return there;
}

} // namespace softgpu::machine
