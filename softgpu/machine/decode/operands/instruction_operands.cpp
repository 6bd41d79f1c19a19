// SPDX-License-Identifier: MIT
// Which operand of an instruction goes where, by opcode.
#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

#include "softgpu/machine/decode/operands/operands.hpp"

namespace softgpu::machine {

using ptx::opcode;
using ptx::operand;
using ptx::operand_kind;
using ptx::suffix;

namespace {

// What set writes where its comparison holds.
std::int64_t value_of_true(suffix t) {
    switch (t) {
    case suffix::f32: return 0x3F800000;
    case suffix::f16: return 0x3C00;
    case suffix::bf16: return 0x3F80;
    case suffix::f16x2: return 0x3C003C00;
    case suffix::bf16x2: return 0x3F803F80;
    default: return 0xFFFFFFFF;
    }
}

// Bits 3 and up of `more` of a comparison of halves: .ftz, and which relation (see half.cpp).
std::uint32_t half_comparison(const form& fm) {
    constexpr suffix relations[] = {suffix::eq,  suffix::ne,  suffix::lt,  suffix::le,  suffix::gt,
                                    suffix::ge,  suffix::equ, suffix::neu, suffix::ltu, suffix::leu,
                                    suffix::gtu, suffix::geu, suffix::num, suffix::nan};
    std::uint32_t which = 0;
    while (which + 1 < std::size(relations) && !fm.has(relations[which])) {
        ++which;
    }
    return (fm.has(suffix::ftz) ? 8u : 0u) | which << 4;
}

void expect_vector(const operand& o, unsigned elements) {
    if (o.kind != operand_kind::vector || o.elements.size() != elements) {
        throw ptx::error(o.where, "a vector of " + std::to_string(elements) + " belongs here");
    }
}

} // namespace

void operand_layout::operands_of(const ptx::instruction& i, const form& fm, instruction& d) {
    switch (ptx::family_of(i.op)) {
    case ptx::family::matrix: matrix_operands(i, fm, d); return;
    case ptx::family::texture: texture_operands(i, fm, d); return;
    case ptx::family::video: video_operands(i, fm, d); return;
    default: break;
    }
    switch (i.op) {
    case opcode::cp: copy_operands(i, fm, d); return;
    case opcode::mbarrier: mbarrier_operands(i, fm, d); return;
    case opcode::tensormap: tensor_map_operands(i, fm, d); return;
    case opcode::ld:
    case opcode::ldu: {
        const operand& to = i.operands.at(0);
        if (to.kind == operand_kind::vector) {
            d.places = list_of(to, 0, true);
        } else {
            d.d = destination(to);
        }
        d.width[0] = lane_bytes(f_, to);
        if (d.width[0] == 0) {
            d.width[0] = static_cast<std::uint8_t>(operand_bytes(fm, 0));
        }
        address(i.operands.at(1), fm, d);
        d.c = address_number(i.operands.at(1));
        element_facts(fm, d);
        return;
    }
    case opcode::st: {
        if (fm.has(suffix::async)) {
            async_store_operands(i, fm, d);
            return;
        }
        if (fm.has(suffix::bulk)) {
            bulk_zero_operands(i, fm, d);
            return;
        }
        const operand& from = i.operands.at(1);
        const unsigned bytes = operand_bytes(fm, 1);
        if (from.kind == operand_kind::vector) {
            d.places = list_of(from, bytes, false);
        } else {
            d.b = source(from, bytes);
        }
        d.width[2] = lane_bytes(f_, from);
        if (d.width[2] == 0) {
            d.width[2] = static_cast<std::uint8_t>(bytes);
        }
        if (from.kind == operand_kind::vector) {
            uniform_widths(from, bytes, d);
        }
        address(i.operands.at(0), fm, d);
        d.c = address_number(i.operands.at(0));
        element_facts(fm, d);
        return;
    }
    case opcode::atom:
        if (fm.vector > 1) {
            atomic_vector(i, fm, d);
            return;
        }
        d.d = destination(i.operands.at(0));
        address(i.operands.at(1), fm, d);
        d.b = source(i.operands.at(2), operand_bytes(fm, 2));
        if (fm.has(suffix::cas)) {
            d.c = source(i.operands.at(3), operand_bytes(fm, 3));
        }
        return;
    case opcode::red:
        if (fm.has(suffix::async)) {
            async_store_operands(i, fm, d);
            return;
        }
        if (fm.vector > 1) {
            atomic_vector(i, fm, d);
            return;
        }
        address(i.operands.at(0), fm, d);
        d.b = source(i.operands.at(1), operand_bytes(fm, 1));
        return;
    case opcode::bar:
    case opcode::barrier:
        d.more = fm.has(suffix::relaxed) ? cluster_is_relaxed : 0;
        if (!fm.has(suffix::cluster)) {
            barrier_operands(i, d);
        }
        return;
    case opcode::membar:
    case opcode::fence:
        if (!i.operands.empty()) { // fence.proxy.tensormap.acquire
            address(i.operands[0], fm, d);
        }
        return;
    case opcode::prefetch:
        if (fm.has(suffix::L2)) { // for traces
            address(i.operands.at(0), fm, d);
        }
        return;
    case opcode::trap:
    case opcode::brkpt:
    case opcode::pmevent:
    case opcode::nanosleep:
    case opcode::prefetchu:
    case opcode::discard:
    case opcode::applypriority:
    case opcode::griddepcontrol:
    case opcode::setmaxnreg: return;
    case opcode::createpolicy: d.d = exact_destination(i.operands.at(0), 8); return;
    case opcode::brx: d.a = source(i.operands.at(0), 4); return;
    case opcode::alloca:
        d.d = destination(i.operands.at(0));
        d.width[0] = lane_bytes(f_, i.operands[0]);
        d.a = source(i.operands.at(1), operand_bytes(fm, 1));
        d.width[1] = lane_bytes(f_, i.operands[1]) != 0 ? lane_bytes(f_, i.operands[1])
                                                        : static_cast<std::uint8_t>(operand_bytes(fm, 1));
        d.immediate = i.operands.size() > 2 ? static_cast<std::int64_t>(i.operands[2].bits) : 8;
        return;
    case opcode::shfl:
        destinations(i, d);
        sources(i, fm, d, 1, 3);
        code_.place_lists.push_back({source(i.operands.at(4), 4)});
        d.places = code_.place_lists.back().data();
        return;
    case opcode::cvt:
        if (fm.has(suffix::rs) && fm.operands == 3) { // d, {a, b, e, f}, random bits
            expect_vector(i.operands[1], 4);
            destinations(i, d);
            d.places = list_of(i.operands[1], 4, false);
            d.b = source(i.operands[2], 4);
            details(i, fm, d);
            return;
        }
        break;
    case opcode::mov:
        if (fm.parts != 0) {
            const operand& parts = i.operands[fm.unpacks ? 0 : 1];
            const unsigned whole = ptx::bytes_of(fm.type[0]);
            d.places = list_of(parts, part_bytes(fm), fm.unpacks);
            if (fm.unpacks) {
                d.a = source(i.operands[1], whole);
            } else {
                d.d = destination(i.operands[0]);
            }
            return;
        }
        break;
    default: break;
    }
    destinations(i, d);
    const unsigned first = ptx::destinations_of(i.op);
    sources(i, fm, d, first, static_cast<unsigned>(i.operands.size()) - first);
    details(i, fm, d);
}

// What the general handler of load_store.cpp reads from `more`.
void operand_layout::element_facts(const form& fm, instruction& d) {
    const suffix t = fm.type[0];
    const bool is_signed = t == suffix::s8 || t == suffix::s16 || t == suffix::s32;
    d.more = ptx::bytes_of(t) | fm.vector << element_count_shift | (is_signed ? element_is_signed : 0u);
}

// A vector store whose elements mix registers and constants needs one width for all.
void operand_layout::uniform_widths(const operand& from, unsigned bytes, instruction& d) {
    for (const operand& e : from.elements) {
        if (e.kind != operand_kind::reg) {
            d.width[2] = static_cast<std::uint8_t>(bytes);
        }
    }
}

void operand_layout::destinations(const ptx::instruction& i, instruction& d) {
    if (ptx::destinations_of(i.op) == 0) {
        return;
    }
    const operand& to = i.operands.at(0);
    if (to.kind == operand_kind::pair) {
        d.d = destination(to.elements.at(0));
        d.width[0] = lane_bytes(f_, to.elements.at(0));
        d.e = destination(to.elements.at(1));
    } else {
        d.d = destination(to);
        d.width[0] = lane_bytes(f_, to);
    }
}

void operand_layout::sources(const ptx::instruction& i, const form& fm, instruction& d, unsigned first,
                             unsigned count) {
    place* const slots[] = {&d.a, &d.b, &d.c, &d.e};
    for (unsigned k = 0; k < count && k < 4; ++k) {
        if (k == 3 && i.op != opcode::bfi) {
            break;
        }
        const operand& o = i.operands.at(first + k);
        const unsigned bytes = operand_bytes(fm, first + k);
        *slots[k] = source(o, bytes);
        if (k < 3) {
            const std::uint8_t own = lane_bytes(f_, o);
            d.width[k + 1] = own != 0 ? own : static_cast<std::uint8_t>(bytes);
        }
    }
}

void operand_layout::barrier_operands(const ptx::instruction& i, instruction& d) {
    unsigned k = 0;
    if (i.has(suffix::red)) {
        d.d = destination(i.operands.at(k++));
    }
    if (i.has(suffix::warp)) {
        d.a = source(i.operands.at(0), 4);
        return;
    }
    d.a = source(i.operands.at(k++), 4);
    const std::size_t rest = i.operands.size() - k;
    if (i.has(suffix::red)) {
        if (rest == 2) {
            d.b = source(i.operands.at(k++), 4);
        }
        d.e = source(i.operands.at(k), 0);
        d.more = i.operands.at(k).negated ? 256 : 0;
    } else if (rest > 0) {
        d.b = source(i.operands.at(k), 4);
    }
}

// What an instruction's file keeps in `more` and `immediate`.
void operand_layout::details(const ptx::instruction& i, const form& fm, instruction& d) {
    switch (i.op) {
    case opcode::setp:
    case opcode::set: {
        d.more = fm.has(suffix::and_) ? 1 : fm.has(suffix::or_) ? 2 : fm.has(suffix::xor_) ? 3 : 0;
        if (i.operands.size() > 3 && i.operands[3].negated) {
            d.more |= 4;
        }
        d.immediate = value_of_true(fm.type[0]);
        if (is_half(fm.type[i.op == opcode::set ? 1 : 0])) {
            d.more |= half_comparison(fm);
        }
        return;
    }
    case opcode::vote: d.c = i.operands.at(1).negated ? 0 : nowhere; return;
    case opcode::lop3:
        d.immediate = static_cast<std::int64_t>(i.operands.at(4).bits);
        if (fm.pair) {
            const operand& q = i.operands.at(5);
            code_.place_lists.push_back({source(q, 0)});
            d.places = code_.place_lists.back().data();
            d.more = (fm.has(suffix::or_) ? 1u : 0u) | (q.negated ? 2u : 0u);
        }
        return;
    case opcode::mapa:
    case opcode::getctarank: d.width[0] = lane_bytes(f_, i.operands[0]); return;
    case opcode::prmt:
        d.more = fm.has(suffix::f4e)    ? 1
                 : fm.has(suffix::b4e)  ? 2
                 : fm.has(suffix::rc8)  ? 3
                 : fm.has(suffix::ecl)  ? 4
                 : fm.has(suffix::ecr)  ? 5
                 : fm.has(suffix::rc16) ? 6
                                        : 0;
        return;
    case opcode::dp2a: d.more = fm.has(suffix::hi) ? 1 : 0; return;
    case opcode::cvt: {
        const bool whole = fm.has(suffix::rni) || fm.has(suffix::rzi) || fm.has(suffix::rmi) || fm.has(suffix::rpi);
        d.more = fm.has(suffix::rzi) || fm.has(suffix::rz)   ? 1
                 : fm.has(suffix::rmi) || fm.has(suffix::rm) ? 2
                 : fm.has(suffix::rpi) || fm.has(suffix::rp) ? 3
                                                             : 0;
        d.more |= (whole ? 4u : 0u) | (fm.has(suffix::sat) ? 8u : 0u) | (fm.has(suffix::ftz) ? 16u : 0u);
        d.more |= (fm.has(suffix::relu) ? 32u : 0u) | (fm.has(suffix::satfinite) ? 64u : 0u) |
                  (fm.has(suffix::rna) ? 128u : 0u);
        return;
    }
    case opcode::cvta:
        if (fm.space == suffix::local) {
            d.b = constants_.immediate(context_.local_window, 8);
        } else if (fm.space == suffix::param) {
            d.b = constants_.parameter_address(0);
        }
        return;
    default: break;
    }
    if (is_half(fm.type[0])) {
        d.more = (fm.has(suffix::ftz) ? 1u : 0u) | (fm.has(suffix::sat) ? 2u : 0u) | (fm.has(suffix::relu) ? 4u : 0u) |
                 (fm.has(suffix::NaN) ? 8u : 0u) | (fm.has(suffix::xorsign) ? 16u : 0u);
    } else if (ptx::family_of(i.op) == ptx::family::arithmetic) {
        d.more = fm.has(suffix::rz)   ? static_cast<std::uint32_t>(FE_TOWARDZERO)
                 : fm.has(suffix::rm) ? static_cast<std::uint32_t>(FE_DOWNWARD)
                 : fm.has(suffix::rp) ? static_cast<std::uint32_t>(FE_UPWARD)
                                      : 0;
    }
}

// atom.v4.f32 {d...}, [a], {b...}: the elements' places, destinations first (nowhere for red).
void operand_layout::atomic_vector(const ptx::instruction& i, const form& fm, instruction& d) {
    const std::size_t at = i.op == opcode::atom ? 1 : 0;
    address(i.operands.at(at), fm, d);
    const unsigned bytes = ptx::bytes_of(fm.type[0]);
    auto& list = code_.place_lists.emplace_back();
    const auto add = [&](const operand& o, bool written) {
        expect_vector(o, fm.vector);
        for (const operand& e : o.elements) {
            list.push_back(e.kind == operand_kind::sink ? nowhere
                           : written                    ? exact_destination(e, bytes)
                                                        : exact(e, bytes));
        }
    };
    if (at == 1) {
        add(i.operands[0], true);
    } else {
        list.assign(fm.vector, nowhere);
    }
    add(i.operands.at(at + 1), false);
    d.places = list.data();
    d.more = fm.vector;
}

} // namespace softgpu::machine
