// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/analysis/discarded_values.hpp"

#include <algorithm>

#include "softgpu/program/visit_registers.hpp"

namespace softgpu::machine {

using ptx::opcode;

namespace {

constexpr std::uint32_t longest_way = 64; // from the load to the last selp

// Its result, and nothing else, depends on its operands.
bool is_arithmetic(const ptx::instruction& i) {
    if (i.predicate || i.has(ptx::suffix::cc)) {
        return false;
    }
    switch (i.op) {
    case opcode::addc:
    case opcode::subc:
    case opcode::madc: return false;
    default: break;
    }
    switch (ptx::family_of(i.op)) {
    case ptx::family::arithmetic:
    case ptx::family::logic:
    case ptx::family::compare:
    case ptx::family::convert: return true;
    default: return false;
    }
}

bool contains(const std::vector<std::uint32_t>& all, std::uint32_t reg) {
    return std::find(all.begin(), all.end(), reg) != all.end();
}

} // namespace

discarded_values::discarded_values(const ptx::function& f, const program::control_flow& flow)
    : f_(f), flow_(flow), first_read_(f.registers.size(), 0xFFFFFFFFu), last_read_(f.registers.size()) {
    for (std::uint32_t n = 0; n < f.instructions.size(); ++n) {
        program::visit_registers(f.instructions[n], [&](std::uint32_t reg, program::use how) {
            if (how == program::use::read) {
                first_read_[reg] = std::min(first_read_[reg], n);
                last_read_[reg] = n;
            }
        });
    }
}

std::optional<ptx::guard> discarded_values::users_of(std::uint32_t n) const {
    const program::basic_block& block = flow_.blocks[flow_.block_of_instruction[n]];
    const std::uint32_t end = std::min(block.last, n + longest_way);
    std::vector<std::uint32_t> held;    // registers that depend on the value
    std::vector<std::uint32_t> written; // since the load
    std::uint32_t last = n;             // that reads one of `held`
    const auto hold = [&](std::uint32_t reg, std::uint32_t at) {
        held.push_back(reg);
        last = std::max(last, last_read_[reg]);
        return (first_read_[reg] > at && last_read_[reg] < end) || first_read_[reg] > last_read_[reg];
    };
    std::optional<ptx::guard> users;
    for (std::uint32_t k = n; k <= last; ++k) {
        const ptx::instruction& i = f_.instructions[k];
        bool reads = k == n;
        std::vector<std::uint32_t> results;
        program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
            if (how == program::use::written) {
                results.push_back(reg);
            } else {
                reads = reads || contains(held, reg);
            }
        });
        written.insert(written.end(), results.begin(), results.end());
        if (!reads) {
            continue;
        }
        if (k != n && !is_arithmetic(i)) {
            return std::nullopt;
        }
        const auto is_held = [&](std::size_t operand) {
            return i.operands[operand].kind == ptx::operand_kind::reg && contains(held, i.operands[operand].reg);
        };
        if (i.op != opcode::selp || is_held(3)) {
            if (!std::all_of(results.begin(), results.end(), [&](std::uint32_t reg) { return hold(reg, k); })) {
                return std::nullopt;
            }
            continue;
        }
        if (is_held(1) == is_held(2) || i.operands[3].kind != ptx::operand_kind::reg ||
            contains(written, i.operands[3].reg)) {
            return std::nullopt;
        }
        const ptx::guard chosen{i.operands[3].reg, is_held(2) != i.operands[3].negated};
        if (users && (users->reg != chosen.reg || users->negated != chosen.negated)) {
            return std::nullopt;
        }
        users = chosen;
    }
    return users;
}

} // namespace softgpu::machine
