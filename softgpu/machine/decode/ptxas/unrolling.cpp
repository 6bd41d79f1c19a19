// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/ptxas/unrolling.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "softgpu/machine/decode/ptxas/block_costs.hpp"
#include "softgpu/program/visit_registers.hpp"

namespace softgpu::machine {

using observe::instruction_class;

namespace {

struct code_range {
    std::uint32_t first, last;
};

bool says_no_unrolling(const ptx::function& f, const code_range& b) {
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

// The instruction that adds a constant to the register, of any type, if nothing else of the block writes to it.
const ptx::instruction* counter_of(const ptx::function& f, const code_range& b, std::uint32_t reg) {
    unsigned writes = 0;
    const ptx::instruction* counter = nullptr;
    for (std::uint32_t n = b.first; n < b.last; ++n) {
        const ptx::instruction& i = f.instructions[n];
        bool reads = false;
        bool wrote = false;
        program::visit_registers(i, [&](std::uint32_t r, program::use how) {
            reads = reads || (r == reg && how == program::use::read);
            wrote = wrote || (r == reg && how == program::use::written);
        });
        writes += wrote ? 1 : 0;
        if (wrote && reads && (i.op == ptx::opcode::add || i.op == ptx::opcode::sub) && is_number(i.operands.back())) {
            counter = &i;
        }
    }
    return writes == 1 ? counter : nullptr;
}

// The number that a register has before the loop, where it is moved there by one instruction and nothing else writes it.
std::optional<std::int64_t> begin_of(const ptx::function& f, const code_range& loop, std::uint32_t reg) {
    const ptx::instruction* move = nullptr;
    bool is_known = true;
    for (std::uint32_t n = 0; n < f.instructions.size(); ++n) {
        if (n >= loop.first && n < loop.last) {
            continue;
        }
        const ptx::instruction& i = f.instructions[n];
        program::visit_registers(i, [&](std::uint32_t r, program::use how) {
            if (r == reg && how == program::use::written) {
                is_known = is_known && move == nullptr && i.op == ptx::opcode::mov &&
                           i.operands.back().kind == ptx::operand_kind::integer;
                move = &i;
            }
        });
    }
    return is_known && move != nullptr ? std::optional(static_cast<std::int64_t>(move->operands.back().bits))
                                       : std::nullopt;
}

// How many rounds a loop counts from a constant to `bound`, give or take one; 0: it is not known.
std::uint64_t rounds_to(const ptx::function& f, const code_range& loop, const ptx::instruction& counter,
                        const ptx::operand& bound) {
    const ptx::operand& step = counter.operands.back();
    const std::optional<std::int64_t> begin = begin_of(f, loop, counter.operands.front().reg);
    if (!begin || step.bits == 0 || step.kind != ptx::operand_kind::integer ||
        bound.kind != ptx::operand_kind::integer) {
        return 0;
    }
    const auto size = [](std::int64_t x) {
        return x < 0 ? 0 - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
    };
    const std::uint64_t by = size(static_cast<std::int64_t>(step.bits));
    return (size(static_cast<std::int64_t>(bound.bits - static_cast<std::uint64_t>(*begin))) + by - 1) / by;
}

// Machine instructions of a loop's body up to which ptxas 13.0 unrolls it for sm_90. Whoever compares with a constant
// mostly says how many rounds there are. With textures it is 64 at least.
std::uint64_t most_unrolled(unsigned global_loads, unsigned shared_loads, bool fetches, bool is_known) {
    return is_known || fetches ? 72 : global_loads != 0 ? 48 : std::min(23 + 3 * shared_loads, 48u);
}

} // namespace

unsigned unrolled_rounds(const ptx::function& f, const program::control_flow& flow, std::uint32_t block,
                         std::uint32_t end, const std::vector<bool>& merged) {
    constexpr unsigned by = 4;
    constexpr std::uint64_t most_together = 345; // machine instructions of all rounds, where their number is known
    const code_range b{flow.blocks[block].first, flow.blocks[end - 1].last};
    const ptx::instruction* const back = b.last > b.first ? &f.instructions[b.last - 1] : nullptr;
    if (back == nullptr || back->op != ptx::opcode::bra || !back->predicate ||
        program::block_of_label(f, flow, back->operands.at(0).name) != block || says_no_unrolling(f, b)) {
        return 1;
    }
    bool counted = false;
    bool is_known = false;
    std::uint64_t rounds = 0; // 0: not known
    bool fetches = false;     // from textures
    unsigned global_loads = 0;
    unsigned shared_loads = 0;
    std::uint64_t slots = 1;
    for (std::uint32_t n = b.first; n + 1 < b.last; ++n) {
        const ptx::instruction& i = f.instructions[n];
        const machine_cost cost = cost_of(i);
        if (i.op == ptx::opcode::bra) {
            continue; // over a body that has predicates
        }
        if (is_fixed(cost.what) || may_call(i) || begins_with_fence(i)) {
            return 1;
        }
        slots += merged[n] ? 0 : cost.slots;
        fetches = fetches || cost.what == instruction_class::texture;
        global_loads += cost.what == instruction_class::global_load ? 1 : 0;
        shared_loads += cost.what == instruction_class::shared_load ? 1 : 0;
        bool is_condition = false;
        program::visit_registers(i, [&](std::uint32_t r, program::use how) {
            is_condition = is_condition || (how == program::use::written && r == back->predicate->reg);
        });
        if (is_condition) {
            program::visit_registers(i, [&](std::uint32_t r, program::use how) {
                const ptx::instruction* const counter = how == program::use::read ? counter_of(f, b, r) : nullptr;
                counted = counted || counter != nullptr;
                rounds = counter != nullptr ? rounds_to(f, b, *counter, i.operands.back()) : rounds;
            });
            is_known = is_known || (!i.operands.empty() && i.operands.back().kind == ptx::operand_kind::integer);
        }
    }
    if (!counted || slots > most_unrolled(global_loads, shared_loads, fetches, is_known)) {
        return 1;
    }
    return rounds == 0 ? by : static_cast<unsigned>(std::clamp<std::uint64_t>(most_together / slots, 1, rounds));
}

} // namespace softgpu::machine
