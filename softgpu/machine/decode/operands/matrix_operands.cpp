// SPDX-License-Identifier: MIT
// Operands of matrix instructions: a list of places, by fragment.
#include <string>

#include "softgpu/machine/code/matrix/matrix_plan.hpp"
#include "softgpu/machine/decode/operands/operands.hpp"

namespace softgpu::machine {

using ptx::opcode;
using ptx::operand;
using ptx::operand_kind;
using ptx::suffix;

namespace {

// Forms without a shape have no handler and do not come here.
matrix_shape known_shape(const ptx::instruction& i, const form& fm) {
    const auto s = shape_of(fm);
    if (!s) {
        throw ptx::error(i.where, "matrices of this shape are not supported");
    }
    return *s;
}

} // namespace

// ldmatrix, stmatrix: `places` has the registers of the matrices. mma, wmma.mma: those of D, A, B and C. wmma.load and
// wmma.store: those of the fragment; b is the stride, or nowhere. width: as
// borrow_list() takes it.
void operand_layout::matrix_operands(const ptx::instruction& i, const form& fm, instruction& d) {
    if (i.op == opcode::wgmma) {
        warpgroup_operands(i, fm, d);
        return;
    }
    std::vector<place>& list = code_.place_lists.emplace_back();
    const auto add = [&](const operand& o, unsigned count, unsigned bytes, bool written) {
        const bool several = o.kind == operand_kind::vector;
        if ((several ? o.elements.size() : 1) != count) {
            throw ptx::error(o.where, std::to_string(several ? o.elements.size() : 1) + " registers; " +
                                          std::to_string(count) + " belong here");
        }
        list.reserve(list.size() + count);
        d.width[0] = static_cast<std::uint8_t>(bytes); // the same for all of them
        for (unsigned k = 0; k < count; ++k) {
            const operand& e = several ? o.elements[k] : o;
            list.push_back(e.kind == operand_kind::sink && written ? nowhere
                           : written                               ? exact_destination(e, bytes)
                                                                   : exact(e, bytes));
        }
    };
    switch (i.op) {
    case opcode::ldmatrix:
        add(i.operands.at(0), row_groups(fm), 4, true);
        address(i.operands.at(1), fm, d);
        d.more = byte_rows(fm);
        break;
    case opcode::stmatrix:
        add(i.operands.at(1), row_groups(fm), 4, false);
        address(i.operands.at(0), fm, d);
        d.more = byte_rows(fm);
        break;
    case opcode::movmatrix:
        add(i.operands.at(0), 1, 4, true);
        add(i.operands.at(1), 1, 4, false);
        break;
    case opcode::wmma:
        if (!fm.has(suffix::mma)) {
            const fragment f = moved_fragment(fm);
            const matrix_shape s = known_shape(i, fm);
            const bool loads = fm.has(suffix::load);
            add(i.operands.at(loads ? 0 : 1), s.registers_of(f), s.register_bytes(f), loads);
            address(i.operands.at(loads ? 1 : 0), fm, d);
            if (i.operands.size() > 2) {
                d.b = exact(i.operands[2], 4);
                d.width[2] = 4;
            }
            d.more = fragment_plan_of(s, f, fm.layout[0] == suffix::row);
            break;
        }
        [[fallthrough]];
    default: {
        const matrix_shape s = known_shape(i, fm);
        for (unsigned k = 0; k < 4; ++k) {
            const fragment f = static_cast<fragment>(k);
            add(i.operands.at(k), s.registers_of(f), s.register_bytes(f), f == fragment::d);
        }
        d.immediate = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(plan_of(s)));
        d.more = (fm.has(suffix::satfinite) ? 1u : 0u) | (fm.has(suffix::xor_) ? 2u : 0u);
        if (s.is_sparse) { // a: metadata; which lanes have it in the upper bits of `more`
            const operand& selector = i.operands.at(5);
            if (selector.kind != operand_kind::integer || selector.bits > 3) {
                throw ptx::error(selector.where, "a sparsity selector is 0 to 3");
            }
            d.a = exact(i.operands.at(4), 4);
            d.width[1] = 4;
            d.more |= static_cast<std::uint32_t>(selector.bits) << 8;
        }
    }
    }
    d.places = list.data();
    d.width[3] = static_cast<std::uint8_t>(list.size());
}

} // namespace softgpu::machine
