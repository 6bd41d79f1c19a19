// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/analysis/product_registers.hpp"

#include <algorithm>

#include "softgpu/program/visit_registers.hpp"

namespace softgpu::machine {

using ptx::opcode;
using ptx::operand_kind;
using ptx::suffix;

namespace {

bool is_product(const ptx::instruction& i) { return i.op == opcode::wgmma && i.has(suffix::mma_async); }

// Of registers or constants; it may also pack two registers into one, or unpack one.
bool is_copy(const ptx::instruction& i) { return i.op == opcode::mov && !i.predicate && i.operands.size() == 2; }

template <class Body>
void each_register(const ptx::operand& o, Body&& body) {
    if (o.kind == operand_kind::reg) {
        body(o.reg);
    }
    for (const ptx::operand& e : o.elements) {
        if (e.kind == operand_kind::reg) {
            body(e.reg);
        }
    }
}

} // namespace

product_registers::product_registers(const ptx::function& f, const program::control_flow& flow) : f_(f) {
    if (std::ranges::none_of(f.instructions, is_product)) {
        return;
    }
    const std::size_t count = f.registers.size();
    std::vector<state> before(flow.blocks.size());
    before[0] = {std::vector<std::uint32_t>(count), std::vector<bool>(count), std::vector<bool>(count), true, true};
    for (bool more = true; more;) {
        more = false;
        for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
            if (!before[b].reached) {
                continue;
            }
            state s = before[b];
            for (std::uint32_t n = flow.blocks[b].first; n < flow.blocks[b].last; ++n) {
                step(s, n, false);
            }
            for (const std::uint32_t next : flow.blocks[b].successors) {
                more = merge(before[next], s) || more;
            }
        }
    }
    for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
        if (before[b].reached) {
            for (std::uint32_t n = flow.blocks[b].first; n < flow.blocks[b].last; ++n) {
                step(before[b], n, true);
            }
        }
    }
}

bool product_registers::merge(state& into, const state& from) {
    if (!into.reached) {
        into = from;
        return true;
    }
    bool changed = from.none_fenced && !into.none_fenced;
    into.none_fenced = into.none_fenced || from.none_fenced;
    for (std::size_t r = 0; r < from.factor.size(); ++r) {
        if (into.result_of[r] == 0 && from.result_of[r] != 0) {
            into.result_of[r] = from.result_of[r];
            changed = true;
        }
        changed = changed || (from.factor[r] && !into.factor[r]) || (from.written[r] && !into.written[r]);
        into.factor[r] = into.factor[r] || from.factor[r];
        into.written[r] = into.written[r] || from.written[r];
    }
    return changed;
}

void product_registers::step(state& s, std::uint32_t n, bool notes) {
    const ptx::instruction& i = f_.instructions[n];
    if (is_product(i)) {
        const auto use = [&](std::uint32_t reg) {
            if (notes && (s.none_fenced || s.written[reg])) {
                unfenced_.try_emplace(n, reg);
            }
        };
        for (std::size_t k = 0; k < 2 && k < i.operands.size(); ++k) {
            for (const ptx::operand& e : i.operands[k].elements) {
                if (e.kind == operand_kind::reg) {
                    use(e.reg);
                    (k == 0 ? static_cast<void>(s.result_of[e.reg] = e.reg + 1)
                            : static_cast<void>(s.factor[e.reg] = true));
                }
            }
        }
        return;
    }
    if (i.op == opcode::wgmma) {
        if (i.has(suffix::fence)) {
            std::fill(s.written.begin(), s.written.end(), false);
            s.none_fenced = false;
        } else if (i.has(suffix::wait_group) && i.operands.at(0).bits == 0) {
            std::fill(s.result_of.begin(), s.result_of.end(), 0u);
            std::fill(s.factor.begin(), s.factor.end(), false);
        }
        return;
    }
    // The compiler may move results from register to register; ptxas makes one of them.
    std::uint32_t copied_result = 0;
    bool copies_written = false;
    if (is_copy(i)) {
        each_register(i.operands[1], [&](std::uint32_t reg) {
            copied_result = std::max(copied_result, s.result_of[reg]);
            copies_written = copies_written || s.written[reg];
        });
    }
    if (copied_result != 0) {
        each_register(i.operands[0], [&](std::uint32_t reg) {
            s.result_of[reg] = copied_result;
            s.written[reg] = copies_written;
        });
        return;
    }
    std::vector<std::uint32_t> written;
    program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
        const bool writes = how == program::use::written;
        if (notes && s.result_of[reg] != 0) {
            touches_.try_emplace(n, product_touch{s.result_of[reg] - 1, writes, false});
        }
        if (notes && writes && s.factor[reg]) {
            touches_.try_emplace(n, product_touch{reg, true, true});
        }
        if (writes) {
            written.push_back(reg);
        }
    });
    for (const std::uint32_t reg : written) {
        s.result_of[reg] = i.predicate ? s.result_of[reg] : 0;
        s.factor[reg] = i.predicate && s.factor[reg];
        // It also puts copies of constants and registers behind a fence that the source has behind them.
        s.written[reg] = is_copy(i) ? copies_written : true;
    }
}

const product_touch* product_registers::touched_by(std::uint32_t n) const {
    const auto found = touches_.find(n);
    return found == touches_.end() ? nullptr : &found->second;
}

std::uint32_t product_registers::unfenced_in(std::uint32_t n) const {
    const auto found = unfenced_.find(n);
    return found == unfenced_.end() ? no_register : found->second;
}

} // namespace softgpu::machine
