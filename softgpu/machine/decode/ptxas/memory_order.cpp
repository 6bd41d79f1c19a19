// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/ptxas/memory_order.hpp"

#include <algorithm>

#include "softgpu/program/visit_registers.hpp"

namespace softgpu::machine {

using observe::instruction_class;
using ptx::suffix;

namespace {

constexpr std::uint64_t from_outside = 1ull << 32; // and a register: what it held before all instructions
constexpr std::size_t most_stores = 64;            // that a later access is compared with

// With every other access.
bool is_ordered(const ptx::instruction& i) {
    return i.has(suffix::volatile_) || i.has(suffix::relaxed) || i.has(suffix::acquire) || i.has(suffix::release);
}

} // namespace

memory_order::sum memory_order::sum_of(std::uint32_t reg) const {
    const auto at = sums_.find(reg);
    return at != sums_.end() ? at->second : sum{from_outside | reg, 0};
}

void memory_order::note_sum(std::uint32_t self, const ptx::instruction& i) {
    const bool adds = i.op == ptx::opcode::add && i.operands.size() == 3 && !i.predicate &&
                      i.operands[1].kind == ptx::operand_kind::reg && i.operands[2].kind == ptx::operand_kind::integer;
    sum made{self, 0};
    if (adds) {
        made = sum_of(i.operands[1].reg);
        made.more += static_cast<std::int64_t>(i.operands[2].bits);
    }
    program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
        if (how == program::use::written) {
            sums_[reg] = made;
        }
    });
}

memory_order::place memory_order::place_of(const ptx::instruction& i) const {
    if ((i.op != ptx::opcode::ld && i.op != ptx::opcode::st) || is_ordered(i)) {
        return {};
    }
    const ptx::operand& address = i.operands.at(i.op == ptx::opcode::ld ? 1 : 0);
    if (address.kind != ptx::operand_kind::address || !address.has_register) {
        return {};
    }
    sum at = sum_of(address.reg);
    at.more += address.offset;
    return {at, std::int64_t{ptx::bytes_of(i.type())} * i.vector_width()};
}

bool memory_order::are_apart(const place& a, const place& b) {
    return a.bytes != 0 && b.bytes != 0 && a.at.base == b.at.base &&
           (a.at.more + a.bytes <= b.at.more || b.at.more + b.bytes <= a.at.more);
}

std::vector<std::uint32_t> memory_order::before(std::uint32_t self, const ptx::instruction& i, instruction_class what) {
    const place at = place_of(i);
    note_sum(self, i);
    memory of = memory::global;
    bool writes = is_ordered(i);
    switch (what) {
    case instruction_class::global_load:
        if (i.has(suffix::nc)) {
            return {};
        }
        break;
    case instruction_class::shared_load: of = memory::shared; break;
    case instruction_class::local:
        of = memory::local;
        writes = i.op == ptx::opcode::st;
        break;
    case instruction_class::shared_store:
    case instruction_class::shared_atomic: of = memory::shared; [[fallthrough]];
    case instruction_class::global_store:
    case instruction_class::global_atomic: writes = true; break;
    default: return {};
    }
    auto& [stores, loads] = all_[static_cast<std::size_t>(of)];
    std::vector<std::uint32_t> stays_behind;
    if (!writes) {
        const auto met =
            std::find_if(stores.rbegin(), stores.rend(), [&](const access& s) { return !are_apart(s.at, at); });
        if (met != stores.rend()) {
            stays_behind.push_back(met->number);
        }
        loads.push_back({self, at});
        return stays_behind;
    }
    if (!stores.empty()) {
        stays_behind.push_back(stores.back().number);
    }
    std::erase_if(loads, [&](const access& l) {
        const bool meets = !are_apart(l.at, at);
        if (meets) {
            stays_behind.push_back(l.number);
        }
        return meets;
    });
    // What cannot be told apart from anything stands for all before it, as does one store where there are too many.
    const bool is_known = at.bytes != 0 && stores.size() < most_stores;
    if (!is_known) {
        stores.clear();
    }
    stores.push_back({self, is_known ? at : place{}});
    return stays_behind;
}

} // namespace softgpu::machine
