// SPDX-License-Identifier: MIT
#include "softgpu/machine/form.hpp"

#include <algorithm>

namespace softgpu::machine {

using ptx::opcode;
using ptx::suffix;

form form_of(const ptx::instruction& i, bool count) {
    form f;
    f.op = i.op;
    for (unsigned k = 0; k < 3; ++k) {
        f.type[k] = i.type(k);
    }
    f.space = i.space();
    f.vector = i.vector_width();
    f.operands = static_cast<unsigned>(i.operands.size());
    f.count = count;
    for (const suffix s : i.suffixes) {
        f.set(s);
    }
    if (!i.operands.empty()) {
        f.pair = i.operands[0].kind == ptx::operand_kind::pair;
    }
    if (i.op == opcode::mov && i.operands.size() == 2) {
        f.unpacks = i.operands[0].kind == ptx::operand_kind::vector;
        const ptx::operand& parts = i.operands[f.unpacks ? 0 : 1];
        f.parts = parts.kind == ptx::operand_kind::vector ? static_cast<unsigned>(parts.elements.size()) : 0;
    }
    return f;
}

unsigned operand_bytes(const form& f, unsigned index) {
    const unsigned own = std::max(2u, ptx::bytes_of(f.type[0]));
    switch (f.op) {
    case opcode::setp: return index >= 3 ? 0 : own;
    case opcode::set: return index >= 3 ? 0 : std::max(2u, ptx::bytes_of(f.type[1]));
    case opcode::selp: return index == 3 ? 0 : own;
    case opcode::slct: return index == 3 ? ptx::bytes_of(f.type[1]) : own;
    case opcode::shl:
    case opcode::shr: return index == 2 ? 4 : own;
    case opcode::bfe: return index >= 2 ? 4 : own;
    case opcode::bfi: return index >= 3 ? 4 : own;
    case opcode::mul:
    case opcode::mad: return f.has(suffix::wide) && (index == 0 || index == 3) ? 2 * own : own;
    case opcode::cvt: return index == 0 ? own : std::max(2u, ptx::bytes_of(f.type[1]));
    case opcode::shf:
    case opcode::prmt:
    case opcode::lop3:
    case opcode::shfl:
    case opcode::redux:
    case opcode::elect:
    case opcode::bmsk:
    case opcode::szext:
    case opcode::fns:
    case opcode::dp4a:
    case opcode::dp2a:
    case opcode::nanosleep:
    case opcode::brx: return 4;
    case opcode::vote: return index == 1 ? 0 : 4;
    case opcode::match: return index == 1 ? own : 4;
    case opcode::bar:
    case opcode::barrier: return 4;
    case opcode::cvta:
    case opcode::isspacep: return 8;
    default: return f.type[0] == suffix::pred ? 0 : own;
    }
}

} // namespace softgpu::machine
