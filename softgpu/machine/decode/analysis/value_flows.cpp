// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/analysis/value_flows.hpp"

#include <algorithm>

#include "softgpu/program/visit_registers.hpp"

namespace softgpu::machine {

using ptx::opcode;
using ptx::suffix;

namespace {

constexpr std::uint32_t none = 0xFFFFFFFFu; // no register

struct named_registers {
    std::vector<std::uint32_t> read, written;
};

// The guard is not among them: the instruction runs for the lanes that it lets through. That of a branch is.
named_registers registers_of(const ptx::instruction& i) {
    named_registers all;
    bool is_guard = i.predicate && i.op != opcode::bra && i.op != opcode::ret && i.op != opcode::exit_;
    program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
        if (!is_guard) {
            (how == program::use::read ? all.read : all.written).push_back(reg);
        }
        is_guard = false;
    });
    return all;
}

bool reads_shared(const ptx::instruction& i) {
    return i.op == opcode::ld &&
           (i.space() == suffix::shared || i.space() == suffix::shared_cta || i.space() == suffix::none);
}

value_flow flow_of(const ptx::instruction& i) {
    switch (i.op) {
    case opcode::mov:
    case opcode::setp: return value_flow::copy;
    case opcode::selp: return value_flow::choice;
    case opcode::not_: return i.type() == suffix::pred ? value_flow::copy : value_flow::use;
    case opcode::and_: return i.type() == suffix::pred ? value_flow::conjunction : value_flow::use;
    case opcode::or_: return i.type() == suffix::pred ? value_flow::disjunction : value_flow::use;
    default: return value_flow::use;
    }
}

} // namespace

value_flows::value_flows(const ptx::function& f) : f_(f), may_hold_(f.registers.size()) {
    for (bool more = true; more;) {
        more = false;
        for (const ptx::instruction& i : f.instructions) {
            const bool source = reads_shared(i);
            if (!source && flow_of(i) == value_flow::use) {
                continue;
            }
            const named_registers named = registers_of(i);
            if (source || has_any(named.read)) {
                for (const std::uint32_t reg : named.written) {
                    more = more || !may_hold_[reg];
                    may_hold_[reg] = true;
                }
            }
        }
    }
}

bool value_flows::has_any(std::span<const std::uint32_t> registers) const {
    return std::any_of(registers.begin(), registers.end(), [&](std::uint32_t reg) { return may_hold_[reg]; });
}

bool value_flows::find(std::uint32_t n, const program::register_places& places, register_flow& out) const {
    const ptx::instruction& i = f_.instructions[n];
    named_registers named = registers_of(i);
    const bool reads = has_any(named.read);
    if (!reads && !has_any(named.written)) {
        return false;
    }
    out.how = reads ? flow_of(i) : value_flow::other;
    out.from = std::move(named.read);
    out.to = std::move(named.written);
    if (out.how != value_flow::choice && out.how != value_flow::conjunction && out.how != value_flow::disjunction) {
        return true;
    }
    out.from.clear();
    for (std::size_t k = 1; k < i.operands.size(); ++k) {
        out.from.push_back(i.operands[k].kind == ptx::operand_kind::reg ? i.operands[k].reg : none);
    }
    const auto place_of = [&](std::size_t k) { return out.from.at(k) == none ? nowhere : places.offset[out.from[k]]; };
    out.condition = place_of(out.how == value_flow::choice ? 2 : 0);
    out.second = place_of(1);
    if (out.condition == nowhere || (out.how != value_flow::choice && out.second == nowhere)) {
        out.how = value_flow::copy; // a constant condition
    }
    return true;
}

} // namespace softgpu::machine
