// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/analysis/unrolling.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "softgpu/machine/decode/analysis/block_costs.hpp"
#include "softgpu/program/visit_registers.hpp"

namespace softgpu::machine {

using observe::instruction_class;

namespace {

bool says_no_unrolling(const ptx::function& f, const program::basic_block& b) {
    bool said = false;
    for (const ptx::statement& s : f.statements) {
        if (s.kind == ptx::statement_kind::pragma) {
            said = said || s.text.find("nounroll") != std::string::npos;
        } else if (s.kind == ptx::statement_kind::instruction) {
            if (said && s.index >= b.first && s.index < b.last) {
                return true;
            }
            said = false;
        }
    }
    return false;
}

bool is_number(const ptx::operand& o) {
    return o.kind == ptx::operand_kind::integer || o.kind == ptx::operand_kind::float32 ||
           o.kind == ptx::operand_kind::float64;
}

// Whether the block's only write to the register adds a constant to it, of any type.
bool counts(const ptx::function& f, const program::basic_block& b, std::uint32_t reg) {
    unsigned writes = 0;
    bool by_a_constant = false;
    for (std::uint32_t n = b.first; n < b.last; ++n) {
        const ptx::instruction& i = f.instructions[n];
        bool reads = false;
        bool wrote = false;
        program::visit_registers(i, [&](std::uint32_t r, program::use how) {
            reads = reads || (r == reg && how == program::use::read);
            wrote = wrote || (r == reg && how == program::use::written);
        });
        writes += wrote ? 1 : 0;
        by_a_constant = by_a_constant || (wrote && reads && (i.op == ptx::opcode::add || i.op == ptx::opcode::sub) &&
                                          is_number(i.operands.back()));
    }
    return writes == 1 && by_a_constant;
}

// Machine instructions of a loop's body up to which ptxas 13.0 unrolls it for sm_90. Whoever compares with a constant
// mostly says how many rounds there are. With textures it is 64 at least.
std::uint64_t most_unrolled(unsigned global_loads, unsigned shared_loads, bool fetches, bool is_known) {
    return is_known || fetches ? 72 : global_loads != 0 ? 48 : std::min(23 + 3 * shared_loads, 48u);
}

} // namespace

unsigned unrolled_rounds(const ptx::function& f, const program::control_flow& flow, std::uint32_t block) {
    constexpr unsigned by = 4;
    const program::basic_block& b = flow.blocks[block];
    const ptx::instruction* const back = b.last > b.first ? &f.instructions[b.last - 1] : nullptr;
    if (back == nullptr || back->op != ptx::opcode::bra || !back->predicate ||
        program::block_of_label(f, flow, back->operands.at(0).name) != block || says_no_unrolling(f, b)) {
        return 1;
    }
    bool counted = false;
    bool is_known = false;
    bool fetches = false; // from textures
    unsigned global_loads = 0;
    unsigned shared_loads = 0;
    std::uint64_t slots = 1;
    for (std::uint32_t n = b.first; n + 1 < b.last; ++n) {
        const ptx::instruction& i = f.instructions[n];
        const machine_cost cost = cost_of(i);
        if (is_fixed(cost.what) || may_call(i) || begins_with_fence(i)) {
            return 1;
        }
        slots += cost.slots;
        fetches = fetches || cost.what == instruction_class::texture;
        global_loads += cost.what == instruction_class::global_load ? 1 : 0;
        shared_loads += cost.what == instruction_class::shared_load ? 1 : 0;
        bool is_condition = false;
        program::visit_registers(i, [&](std::uint32_t r, program::use how) {
            is_condition = is_condition || (how == program::use::written && r == back->predicate->reg);
        });
        if (is_condition) {
            program::visit_registers(i, [&](std::uint32_t r, program::use how) {
                counted = counted || (how == program::use::read && counts(f, b, r));
            });
            is_known = is_known || (!i.operands.empty() && i.operands.back().kind == ptx::operand_kind::integer);
        }
    }
    return counted && slots <= most_unrolled(global_loads, shared_loads, fetches, is_known) ? by : 1;
}

} // namespace softgpu::machine
