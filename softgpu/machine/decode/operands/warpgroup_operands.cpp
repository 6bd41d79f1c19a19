// SPDX-License-Identifier: MIT
// Operands of wgmma: a and b are matrix descriptors (a nowhere: A is in registers), e the predicate that says whether D is
// added, `places` the registers of D, then of A.
#include <string>

#include "softgpu/machine/code/matrix/warpgroup_plan.hpp"
#include "softgpu/machine/decode/operands/operands.hpp"

namespace softgpu::machine {

using ptx::operand;
using ptx::operand_kind;
using ptx::suffix;

void operand_layout::warpgroup_operands(const ptx::instruction& i, const form& fm, instruction& d) {
    if (!fm.has(suffix::mma_async)) {
        return;
    }
    const matrix_shape s = warpgroup_shape_of(fm).value();
    std::vector<place>& list = code_.place_lists.emplace_back();
    const auto add = [&](const operand& o, unsigned count, bool written) {
        if (o.kind != operand_kind::vector || o.elements.size() != count) {
            throw ptx::error(o.where, std::to_string(count) + " registers belong here");
        }
        for (const operand& e : o.elements) {
            list.push_back(written ? exact_destination(e, 4) : exact(e, 4));
        }
    };
    add(i.operands.at(0), s.registers_of(fragment::d), true);
    const bool in_registers = i.operands.at(1).kind == operand_kind::vector;
    if (in_registers) {
        add(i.operands[1], s.registers_of(fragment::a), false);
    } else {
        d.a = exact(i.operands[1], 8);
        d.width[1] = 8;
    }
    d.b = exact(i.operands.at(2), 8);
    d.width[2] = 8;
    d.e = source(i.operands.at(3), 0);
    d.more = (i.operands[3].negated ? warpgroup_scale_is_negated : 0u) |
             (fm.has(suffix::satfinite) ? warpgroup_saturates : 0u);
    const auto number = [&](std::size_t k, std::int64_t one, std::int64_t other) {
        const operand& o = i.operands.at(k);
        const auto value = static_cast<std::int64_t>(o.bits);
        if (o.kind != operand_kind::integer || (value != one && value != other)) {
            throw ptx::error(o.where, std::to_string(one) + " or " + std::to_string(other) + " belongs here");
        }
        return value == other;
    };
    const bool floats = s.type_of(fragment::d) != suffix::s32;
    const bool halves = element_bits(s.type_of(fragment::a)) == 16;
    std::size_t next = 4;
    if (floats) {
        d.more |= number(next++, 1, -1) ? warpgroup_negates_a : 0u;
        d.more |= number(next++, 1, -1) ? warpgroup_negates_b : 0u;
    }
    if (halves && !in_registers) {
        d.more |= number(next++, 0, 1) ? warpgroup_transposes_a : 0u;
    }
    if (halves) {
        d.more |= number(next++, 0, 1) ? warpgroup_transposes_b : 0u;
    }
    if (i.operands.size() != next) {
        throw ptx::error(i.where, "wgmma.mma_async with " + std::to_string(i.operands.size()) + " operands; it takes " +
                                      std::to_string(next));
    }
    d.immediate = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(plan_of(s)));
    d.places = list.data();
    d.width[0] = 4;
    d.width[3] = static_cast<std::uint8_t>(list.size());
}

} // namespace softgpu::machine
