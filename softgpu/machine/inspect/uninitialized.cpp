// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/uninitialized.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/inspect/block_checks.hpp"
#include "softgpu/machine/inspect/report.hpp"
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

std::vector<unwritten_value>& values_of(warp* w) { return w->owner->checks->unwritten[w->index]; }

void forget_empty(std::vector<unwritten_value>& all) {
    std::erase_if(all, [](const unwritten_value& v) { return v.held_by == 0; });
}

lane_mask held(const std::vector<unwritten_value>& all, const std::byte* frame, std::uint32_t reg) {
    for (const unwritten_value& v : all) {
        if (v.frame == frame && v.reg == reg) {
            return v.held_by;
        }
    }
    return 0;
}

// `lanes` of the register hold what `like` holds; others keep what they have.
void hold(std::vector<unwritten_value>& all, std::uint32_t reg, lane_mask by, unwritten_value like) {
    if (by == 0) {
        return;
    }
    for (unwritten_value& v : all) {
        if (v.frame == like.frame && v.reg == reg) {
            v.held_by |= by;
            return;
        }
    }
    like.reg = reg;
    like.held_by = by;
    all.push_back(like);
}

lane_mask mask_at(const warp* w, const std::byte* frame, place p) {
    lane_mask m = 0;
    std::memcpy(&m, ((p & in_constants) != 0 ? w->constants : frame) + (p & ~in_constants), sizeof(m));
    return m;
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

const instruction* follow_values(const instruction* i, std::byte* frame, warp* w) {
    auto& all = values_of(w);
    if (all.empty()) {
        return i + 1;
    }
    const register_flow& flow = frame_of(frame)->code->flows[static_cast<std::size_t>(i->immediate)];
    const auto of = [&](std::size_t k) { return held(all, frame, flow.from[k]) & w->mask; };
    lane_mask result = 0;
    for (std::size_t k = 0; k < flow.from.size(); ++k) {
        result |= of(k);
    }
    unwritten_value like;
    for (const unwritten_value& v : all) {
        if (v.frame == frame && (v.held_by & result) != 0 &&
            std::find(flow.from.begin(), flow.from.end(), v.reg) != flow.from.end()) {
            like = v;
            break;
        }
    }
    switch (flow.how) {
    case value_flow::use:
        for (unwritten_value& v : all) {
            if (v.frame != frame || std::find(flow.from.begin(), flow.from.end(), v.reg) == flow.from.end()) {
                continue;
            }
            for (lane_mask m = v.held_by & w->mask; m != 0; m &= m - 1) {
                report_unwritten(*v.read_by, w, static_cast<unsigned>(std::countr_zero(m)), access_space::shared, v.at);
            }
            v.held_by &= ~w->mask;
        }
        result = 0;
        break;
    case value_flow::choice: {
        const lane_mask first = mask_at(w, frame, flow.condition);
        result = of(2) | (of(0) & first) | (of(1) & ~first);
        break;
    }
    case value_flow::conjunction:
    case value_flow::disjunction: {
        const lane_mask settles = flow.how == value_flow::conjunction ? 0 : all_lanes;
        result &= ~((~mask_at(w, frame, flow.condition) ^ settles) & ~of(0));
        result &= ~((~mask_at(w, frame, flow.second) ^ settles) & ~of(1));
        break;
    }
    case value_flow::copy:
    case value_flow::other: break;
    }
    for (unwritten_value& v : all) {
        if (v.frame == frame && std::find(flow.to.begin(), flow.to.end(), v.reg) != flow.to.end()) {
            v.held_by &= ~w->mask;
        }
    }
    for (const std::uint32_t reg : flow.to) {
        hold(all, reg, result, like);
    }
    forget_empty(all);
    return i + 1;
}

void hold_unwritten(const access_site& site, warp* w, unsigned lane, unsigned element, std::uint64_t at) {
    const ptx::operand& to = site.function->instructions[site.source].operands.at(0);
    const ptx::operand& one = to.elements.empty() ? to : to.elements.at(element);
    if (one.kind == ptx::operand_kind::reg) {
        hold(values_of(w), one.reg, lane_mask{1} << lane, {w->frame, one.reg, 0, &site, at});
    }
}

void report_unwritten(const access_site& site, warp* w, unsigned lane, access_space space, std::uint64_t at) {
    launch_state& l = *w->host->launch;
    const char* const kind = "read of unwritten memory";
    if (count_again(l, check::init, kind, false, {site.function, site.source}, {})) {
        return;
    }
    seen what;
    what.check = check::init;
    what.kind = kind;
    const char* const name = space == access_space::global   ? "global"
                             : space == access_space::shared ? "shared"
                                                             : "local";
    what.message = std::string("nobody has written these bytes of ") + name + " memory";
    what.address =
        space == access_space::global ? hexadecimal(at) : std::string(name) + " memory + " + std::to_string(at);
    if (space == access_space::global) {
        what.allocation = l.checks->owner.describe(at);
    } else if (space == access_space::shared) {
        what.allocation = shared_variable(l, at);
    }
    report(l, std::move(what),
           {access_text(site), {site.function, site.source}, w->owner->linear, thread_of(w, lane), {}});
}

} // namespace softgpu::machine
