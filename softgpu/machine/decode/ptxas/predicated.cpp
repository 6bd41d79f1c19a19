// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/ptxas/predicated.hpp"

#include <algorithm>

#include "softgpu/machine/decode/ptxas/block_costs.hpp"

namespace softgpu::machine {

using observe::instruction_class;

namespace {

bool is_arithmetic(instruction_class what) {
    switch (what) {
    case instruction_class::integer:
    case instruction_class::multiply:
    case instruction_class::shift:
    case instruction_class::logic:
    case instruction_class::fp32:
    case instruction_class::fp64:
    case instruction_class::half:
    case instruction_class::convert: return true;
    default: return false;
    }
}

} // namespace

bool predicates_body(const ptx::function& f, const program::control_flow& flow, std::uint32_t block) {
    constexpr std::uint64_t most_slots = 26; // as many as were tried with ptxas 13.0 for sm_90
    const std::uint32_t body = block + 1;
    const std::uint32_t behind = block + 2;
    if (behind >= flow.blocks.size() || flow.blocks[block].first == flow.blocks[block].last) {
        return false;
    }
    const ptx::instruction& branch = f.instructions[flow.blocks[block].last - 1];
    const auto is_only = [](const std::vector<std::uint32_t>& all, std::uint32_t one) {
        return all.size() == 1 && all.front() == one;
    };
    if (branch.op != ptx::opcode::bra || !branch.predicate ||
        program::block_of_label(f, flow, branch.operands.at(0).name) != behind ||
        !is_only(flow.blocks[body].predecessors, block) || !is_only(flow.blocks[body].successors, behind)) {
        return false;
    }
    std::uint64_t slots = 0;
    bool loads = false;
    for (std::uint32_t n = flow.blocks[body].first; n < flow.blocks[body].last; ++n) {
        const machine_cost cost = cost_of(f.instructions[n]);
        const bool is_load = cost.what == instruction_class::global_load;
        slots += cost.slots;
        loads = loads || is_load;
        if (slots > most_slots || !(is_load || is_arithmetic(cost.what)) || f.instructions[n].predicate ||
            may_call(f.instructions[n])) {
            return false;
        }
    }
    return loads;
}

std::uint32_t straight_end(const ptx::function& f, const program::control_flow& flow, std::uint32_t block) {
    std::uint32_t last = block;
    while (predicates_body(f, flow, last)) {
        const program::basic_block& behind = flow.blocks[last + 2];
        const bool has_barrier =
            std::any_of(f.instructions.begin() + behind.first, f.instructions.begin() + behind.last,
                        [](const auto& i) { return cost_of(i).what == instruction_class::barrier; });
        if (behind.predecessors.size() != 2 || has_barrier) {
            return last + 2;
        }
        last += 2;
    }
    return last + 1;
}

std::vector<std::uint32_t> given_predicates(const ptx::function& f, const program::control_flow& flow) {
    std::vector<std::uint32_t> all(f.instructions.size(), no_register);
    for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
        if (predicates_body(f, flow, b)) {
            const program::basic_block& body = flow.blocks[b + 1];
            std::fill(all.begin() + body.first, all.begin() + body.last,
                      f.instructions[flow.blocks[b].last - 1].predicate->reg);
        }
    }
    return all;
}

} // namespace softgpu::machine
