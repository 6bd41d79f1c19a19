// SPDX-License-Identifier: MIT
#include "softgpu/machine/code/form.hpp"

#include <algorithm>

namespace softgpu::machine {

using ptx::opcode;
using ptx::suffix;

form form_of(const ptx::instruction& i) {
    form f;
    f.op = i.op;
    for (unsigned k = 0; k < 4; ++k) {
        f.type[k] = i.type(k);
    }
    f.space = i.space();
    f.vector = i.vector_width();
    f.operands = static_cast<unsigned>(i.operands.size());
    unsigned layouts = 0;
    for (const suffix s : i.suffixes) {
        f.set(s);
        if ((s == suffix::row || s == suffix::col) && layouts < 2) {
            f.layout[layouts++] = s;
        }
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

form move_of(unsigned bytes) {
    form move;
    move.op = opcode::mov;
    move.type[0] = bytes == 2 ? suffix::b16 : bytes == 4 ? suffix::b32 : bytes == 8 ? suffix::b64 : suffix::b128;
    return move;
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
    case opcode::add:
    case opcode::sub:
    case opcode::fma: // of mixed precision: all operands but the last have the second type
        return f.type[1] != suffix::none && index > 0 && index + 1 < f.operands ? ptx::bytes_of(f.type[1]) : own;
    case opcode::cvt:
        if (f.has(suffix::pack)) {
            return 4;
        }
        return index == 0 ? own : std::max(2u, ptx::bytes_of(f.type[1]));
    case opcode::shf:
    case opcode::prmt:
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
    case opcode::lop3: return index == 5 ? 0 : 4;
    case opcode::vote: return index == 1 ? 0 : 4;
    case opcode::getctarank: return index == 0 ? 4 : own;
    case opcode::mapa: return index == 2 ? 4 : own;
    case opcode::match: return index == 1 ? own : 4;
    case opcode::bar:
    case opcode::barrier: return 4;
    case opcode::cvta:
    case opcode::isspacep: return 8;
    default: return f.type[0] == suffix::pred ? 0 : own;
    }
}

unsigned part_bytes(const form& f) { return std::max(2u, ptx::bytes_of(f.type[0]) / f.parts); }

unsigned destination_bytes(const form& f) {
    const unsigned own = std::max(2u, ptx::bytes_of(f.type[0]));
    switch (f.op) {
    case opcode::setp:
    case opcode::testp:
    case opcode::isspacep: return 0;
    case opcode::mul:
    case opcode::mad: return f.has(suffix::wide) ? 2 * own : own;
    case opcode::cvt: return f.has(suffix::pack) ? 4 : own;
    case opcode::popc:
    case opcode::clz:
    case opcode::bfind:
    case opcode::match:
    case opcode::activemask:
    case opcode::getctarank:
    case opcode::elect: return 4;
    default: return f.type[0] == suffix::pred ? 0 : own;
    }
}

namespace {

// Of bulk copies; the last may be a cache policy.
operand_range bulk_operands_wanted(const form& f) {
    if (!f.has(suffix::async) || !f.has(suffix::bulk) || f.has(suffix::prefetch)) {
        return {};
    }
    if (f.has(suffix::commit_group) || f.has(suffix::wait_group)) {
        const unsigned n = f.has(suffix::wait_group) ? 1 : 0;
        return {n, n};
    }
    const unsigned more = (f.has(suffix::L2_cache_hint) ? 1u : 0u) + (f.has(suffix::multicast_cluster) ? 1u : 0u);
    if (f.has(suffix::tensor)) {
        const unsigned n = (f.space == suffix::global ? 2 : f.has(suffix::im2col) ? 4 : 3) + more;
        return {n, n};
    }
    const unsigned n = (f.space == suffix::global ? 3 : 4) + more;
    return {n, n};
}

} // namespace

operand_range operands_wanted(const form& f) {
    const auto exactly = [](unsigned n) { return operand_range{n, n}; };
    switch (f.op) {
    case opcode::activemask: return exactly(1);
    case opcode::abs:
    case opcode::neg:
    case opcode::not_:
    case opcode::cnot:
    case opcode::rcp:
    case opcode::sqrt:
    case opcode::rsqrt:
    case opcode::sin:
    case opcode::cos:
    case opcode::lg2:
    case opcode::ex2:
    case opcode::tanh:
    case opcode::popc:
    case opcode::clz:
    case opcode::bfind:
    case opcode::brev:
    case opcode::testp:
    case opcode::mov:
    case opcode::cvta:
    case opcode::isspacep:
    case opcode::elect:
    case opcode::brx: return exactly(2);
    case opcode::ld:
    case opcode::ldu:
    case opcode::st:
        return f.has(suffix::bulk) ? exactly(3) : operand_range{2, 4}; // a cache policy, and what .unified says
    case opcode::add:
    case opcode::sub:
    case opcode::mul:
    case opcode::div:
    case opcode::rem:
    case opcode::mul24:
    case opcode::addc:
    case opcode::subc:
    case opcode::and_:
    case opcode::or_:
    case opcode::xor_:
    case opcode::shl:
    case opcode::shr:
    case opcode::bmsk:
    case opcode::szext:
    case opcode::copysign:
    case opcode::vote:
    case opcode::match:
    case opcode::redux: return exactly(3);
    case opcode::cvt:
        if (f.has(suffix::pack)) {
            return exactly(f.type[0] == suffix::u16 || f.type[0] == suffix::s16 ? 3 : 4);
        }
        return f.has(suffix::rs) ? operand_range{3, 4} : operand_range{2, 3};
    case opcode::min:
    case opcode::max: return {3, 4};
    case opcode::set:
    case opcode::setp: return exactly(f.has(suffix::and_) || f.has(suffix::or_) || f.has(suffix::xor_) ? 4 : 3);
    case opcode::mad:
    case opcode::fma:
    case opcode::sad:
    case opcode::mad24:
    case opcode::madc:
    case opcode::dp4a:
    case opcode::dp2a:
    case opcode::selp:
    case opcode::slct:
    case opcode::prmt:
    case opcode::shf:
    case opcode::bfe:
    case opcode::fns: return exactly(4);
    case opcode::bfi:
    case opcode::shfl: return exactly(5);
    case opcode::lop3: return exactly(f.pair ? 6 : 5);
    case opcode::mapa: return exactly(3);
    case opcode::getctarank:
    case opcode::createpolicy: return {2, 6};
    case opcode::atom: return f.has(suffix::cas) ? operand_range{4, 5} : operand_range{3, 4};
    case opcode::red: return {2, 3};
    case opcode::ldmatrix:
    case opcode::stmatrix:
    case opcode::movmatrix: return exactly(2);
    case opcode::mma: // others have no handler
        return exactly(f.has(suffix::sp) || f.has(suffix::sp_ordered_metadata) ? 6 : 4);
    case opcode::wmma: return f.has(suffix::mma) ? exactly(4) : operand_range{2, 3};
    case opcode::cp: return bulk_operands_wanted(f);
    default: return {};
    }
}

} // namespace softgpu::machine
