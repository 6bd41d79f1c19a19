// SPDX-License-Identifier: MIT
// The registers that an instruction names, without a list being made of them.
#pragma once

#include "softgpu/ptx/ast.hpp"

namespace softgpu::program {

enum class use : std::uint8_t { read, written };

// Whether operand 0 is written. Where the opcode alone does not tell, the form does.
[[nodiscard]] inline bool writes_first_operand(const ptx::instruction& i) noexcept {
    if (i.operands.empty() || i.operands[0].kind == ptx::operand_kind::address) {
        return false;
    }
    switch (i.op) {
    case ptx::opcode::call: // call (result), function, (arguments)
        return i.operands[0].kind == ptx::operand_kind::group;
    case ptx::opcode::bar: // bar.red.popc d, barrier, predicate
    case ptx::opcode::barrier: return i.has(ptx::suffix::red);
    case ptx::opcode::mbarrier: // mbarrier.arrive state, [barrier]; others begin with the address
    case ptx::opcode::multimem: // multimem.ld_reduce d, [address]; others begin with the address
    case ptx::opcode::wgmma:    // wgmma.mma_async d, a, b
    case ptx::opcode::tcgen05:  // tcgen05.ld d, [address]; others begin with the address
        return true;
    default: return ptx::destinations_of(i.op) != 0;
    }
}

// Whether lanes keep something of what the written registers held before.
[[nodiscard]] inline bool writes_partly(const ptx::instruction& i) noexcept {
    if (i.predicate) {
        return true;
    }
    // Matrix instructions accumulate into their first operand.
    if (i.op == ptx::opcode::wgmma || i.op == ptx::opcode::tcgen05) {
        return true;
    }
    if (!writes_first_operand(i)) {
        return false;
    }
    // %v.x alone is written, %v.y stays.
    const ptx::operand& target = i.operands[0];
    if (target.component != 0) {
        return true;
    }
    for (const ptx::operand& element : target.elements) {
        if (element.component != 0) {
            return true;
        }
    }
    return false;
}

// Whether registers may be written before all operands of all lanes have been read: the written ones then need places
// of their own.
[[nodiscard]] inline bool writes_early(const ptx::instruction& i) noexcept {
    switch (ptx::family_of(i.op)) {
    case ptx::family::atomic:
    case ptx::family::async:
    case ptx::family::matrix:
    case ptx::family::texture:
    case ptx::family::warp:
    case ptx::family::unsupported: return true;
    default: break;
    }
    if (i.op == ptx::opcode::bar || i.op == ptx::opcode::barrier) {
        return true;
    }
    for (const ptx::operand& o : i.operands) {
        if (!o.elements.empty()) {
            return true;
        }
    }
    return false;
}

template <class Visit>
void visit_operand(const ptx::operand& o, use how, Visit&& visit) {
    if (o.kind == ptx::operand_kind::reg) {
        visit(o.reg, how);
    } else if (o.kind == ptx::operand_kind::address && o.has_register) {
        visit(o.reg, use::read);
    }
    const use inside = o.kind == ptx::operand_kind::address ? use::read : how;
    for (const ptx::operand& element : o.elements) {
        visit_operand(element, inside, visit);
    }
}

// Calls visit(register, use) for each register that the instruction names, the guard first, then as written.
template <class Visit>
void visit_registers(const ptx::instruction& i, Visit&& visit) {
    if (i.predicate) {
        visit(i.predicate->reg, use::read);
    }
    bool written = writes_first_operand(i);
    for (const ptx::operand& o : i.operands) {
        visit_operand(o, written ? use::written : use::read, visit);
        written = false;
    }
}

} // namespace softgpu::program
