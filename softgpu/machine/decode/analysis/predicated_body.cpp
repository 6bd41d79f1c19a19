// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/analysis/predicated_body.hpp"

#include <algorithm>

#include "softgpu/machine/decode/analysis/block_costs.hpp"

namespace softgpu::machine {

namespace {

using observe::instruction_class;

// What ptxas 13.0 for sm_90 predicates where the condition is of each thread; of one that is the same for all threads 6.
constexpr std::uint64_t most_slots = 8;

bool can_be_predicated(const ptx::instruction& i) {
    switch (cost_of(i).what) {
    case instruction_class::global_atomic:
    case instruction_class::shared_atomic:
    case instruction_class::shuffle:
    case instruction_class::vote:
    case instruction_class::tensor:
    case instruction_class::barrier:
    case instruction_class::control: return false;
    default: return !i.predicate;
    }
}

bool is_only(const std::vector<std::uint32_t>& blocks, std::uint32_t block) {
    return blocks.size() == 1 && blocks.front() == block;
}

} // namespace

std::optional<predicated_body> predicated_body_behind(const ptx::function& f, const program::control_flow& flow,
                                                      std::uint32_t block) {
    const auto& blocks = flow.blocks;
    const std::uint32_t body = block + 1;
    const std::uint32_t behind = block + 2;
    if (behind >= blocks.size() || blocks[block].first == blocks[block].last) {
        return std::nullopt;
    }
    const ptx::instruction& branch = f.instructions[blocks[block].last - 1];
    if (branch.op != ptx::opcode::bra || !branch.predicate ||
        program::block_of_label(f, flow, branch.operands.at(0).name) != behind ||
        !is_only(blocks[body].predecessors, block) || !is_only(blocks[body].successors, behind)) {
        return std::nullopt;
    }
    std::uint64_t slots = 0;
    for (std::uint32_t n = blocks[body].first; n < blocks[body].last; ++n) {
        slots += cost_of(f.instructions[n]).slots;
        if (slots > most_slots || !can_be_predicated(f.instructions[n])) {
            return std::nullopt;
        }
    }
    predicated_body found{blocks[block].last - 1, blocks[body].last, blocks[body].last};
    const auto& ways = blocks[behind].predecessors;
    if (ways.size() == 2 && std::find(ways.begin(), ways.end(), block) != ways.end() &&
        std::find(ways.begin(), ways.end(), body) != ways.end() && !predicated_body_behind(f, flow, behind)) {
        found.last = blocks[behind].last;
    }
    return found;
}

} // namespace softgpu::machine
