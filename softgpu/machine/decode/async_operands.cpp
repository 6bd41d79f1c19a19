// SPDX-License-Identifier: MIT
// Operands of the instructions that are written in ways of their own: cp.async, mbarrier, vectors of atomics, video
// instructions.
#include <cstdint>
#include <string>
#include <string_view>

#include "softgpu/machine/decode/operands.hpp"

namespace softgpu::machine {

using ptx::opcode;
using ptx::operand;
using ptx::operand_kind;
using ptx::suffix;

// As source(), of a register that is exactly as wide.
place operand_layout::exact(const operand& o, unsigned bytes) {
    if (o.kind == operand_kind::reg && lane_bytes(f_, o) != bytes) {
        throw ptx::error(o.where,
                         "register '" + f_.registers[o.reg].name + "' is not as wide as this instruction takes it");
    }
    return source(o, bytes);
}

place operand_layout::exact_destination(const operand& o, unsigned bytes) {
    if (o.kind == operand_kind::reg) {
        exact(o, bytes);
    }
    return destination(o);
}

void operand_layout::copy_operands(const ptx::instruction& i, const form& fm, instruction& d) {
    if (i.has(suffix::commit_group) || i.has(suffix::wait_all)) {
        return;
    }
    if (i.has(suffix::wait_group)) {
        d.a = source(i.operands.at(0), 4);
        return;
    }
    address(i.operands.at(0), fm, d);
    d.more = fm.space == suffix::none ? 256 : 0;
    if (i.has(suffix::mbarrier)) {
        return;
    }
    const operand& from = i.operands.at(1);
    const operand& size = i.operands.at(2);
    if (from.kind != operand_kind::address || size.kind != operand_kind::integer ||
        (size.bits != 4 && size.bits != 8 && size.bits != 16)) {
        throw ptx::error(i.where, "cp.async takes two addresses and 4, 8 or 16");
    }
    instruction second;
    form global = fm;
    global.space = suffix::global;
    address(from, global, second);
    d.more = static_cast<std::uint32_t>(size.bits) | (second.width[1] == 8 ? 1024u : 0u);
    place filled = nowhere;
    place ignored = nowhere;
    const std::size_t further = i.operands.size() - 3 - (i.has(suffix::L2_cache_hint) && i.operands.size() > 3 ? 1 : 0);
    if (further > 0) {
        const operand& last = i.operands[3];
        const bool predicate = last.kind == operand_kind::reg && lane_bytes(f_, last) == 0;
        if (predicate) {
            ignored = source(last, 0);
            d.more |= last.negated ? 2048 : 0;
        } else {
            filled = exact(last, 4);
        }
    }
    code_.place_lists.push_back(
        {second.a, constants_.immediate(static_cast<std::uint64_t>(second.immediate), 8), filled, ignored});
    d.places = code_.place_lists.back().data();
}

void operand_layout::barrier_object_operands(const ptx::instruction& i, const form& fm, instruction& d) {
    if (i.has(suffix::pending_count)) {
        d.d = exact_destination(i.operands.at(0), 4);
        d.a = exact(i.operands.at(1), 8);
        return;
    }
    std::size_t k = 0;
    const bool waits = i.has(suffix::test_wait) || i.has(suffix::try_wait);
    if (i.operands.at(0).kind != operand_kind::address) {
        const operand& to = i.operands[k++];
        if (to.kind != operand_kind::sink) {
            d.d = exact_destination(to, waits ? 0 : 8);
        }
    } else if (waits) {
        throw ptx::error(i.where, "the result is missing");
    }
    address(i.operands.at(k++), fm, d);
    d.more = (fm.space == suffix::none ? 256u : 0u) | (i.has(suffix::arrive_drop) ? 512u : 0u);
    if (k < i.operands.size()) {
        d.b = exact(i.operands[k], waits && !i.has(suffix::parity) ? 8 : 4);
    } else if (waits || i.has(suffix::init) || i.has(suffix::expect_tx) || i.has(suffix::complete_tx)) {
        throw ptx::error(i.where, "too few operands");
    }
}

// atom.v4.f32 {d...}, [a], {b...}: the elements' places, destinations first (nowhere for red).
void operand_layout::atomic_vector(const ptx::instruction& i, const form& fm, instruction& d) {
    const std::size_t at = i.op == opcode::atom ? 1 : 0;
    address(i.operands.at(at), fm, d);
    const unsigned bytes = ptx::bytes_of(fm.type[0]);
    auto& list = code_.place_lists.emplace_back();
    const auto add = [&](const operand& o, bool written) {
        if (o.kind != operand_kind::vector || o.elements.size() != fm.vector) {
            throw ptx::error(o.where, "a vector of " + std::to_string(fm.vector) + " belongs here");
        }
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

namespace {

// Which bytes of the eight of {b, a} each part of a video operand is, four bits a part: "h10" of a is 0x10, of b 0x32.
struct video_selector {
    std::uint32_t parts = 0;
    unsigned count = 0; // 0: the whole word
    bool halves = false;
};

video_selector selector_of(const operand& o) {
    video_selector s;
    const std::string_view text = o.kind == operand_kind::reg ? std::string_view(o.name) : std::string_view();
    if (text.size() < 2 || (text[0] != 'h' && text[0] != 'b')) {
        return s;
    }
    s.halves = text[0] == 'h';
    for (const char c : text.substr(1)) {
        s.parts = s.parts << 4 | static_cast<std::uint32_t>(c - '0');
        ++s.count;
    }
    return s;
}

} // namespace

// places: d's mask or merge selector, a's and b's selectors (as constants, see video.cpp).
void operand_layout::video_operands(const ptx::instruction& i, const form& fm, instruction& d) {
    d.d = exact_destination(i.operands.at(0), 4);
    d.a = exact(i.operands.at(1), 4);
    d.b = exact(i.operands.at(2), 4);
    if (i.operands.size() > 3) {
        d.c = exact(i.operands[3], 4);
    }
    const std::string_view name = ptx::name_of(i.op);
    const unsigned parts = name.back() == '2' ? 2 : name.back() == '4' ? 4 : 1;
    const auto packed = [&](const operand& o, std::uint32_t usual) {
        const video_selector s = selector_of(o);
        if (s.count != 0 && parts > 1 && s.count != parts) {
            throw ptx::error(o.where, "selector of the wrong length");
        }
        return s.count == 0 ? usual : s.parts | (parts == 1 ? (s.halves ? 0x100u : 0x200u) : 0u);
    };
    const video_selector to = selector_of(i.operands[0]);
    // The written parts: a mask of parts, or of a scalar instruction the part that takes the result.
    std::uint32_t mask = 0;
    if (parts == 1) {
        mask = to.count == 0 ? 0 : to.parts | (to.halves ? 0x100u : 0x200u);
    } else if (to.count == 0) {
        mask = (1u << parts) - 1;
    } else {
        for (unsigned k = 0; k < to.count; ++k) {
            mask |= 1u << (to.parts >> (4 * k) & 3);
        }
    }
    if (i.operands.size() < 4 && (parts > 1 ? mask != (1u << parts) - 1 : mask != 0)) {
        throw ptx::error(i.where, "the operand to merge with is missing");
    }
    const std::uint32_t usual_a = parts == 2 ? 0x10 : 0x3210;
    const std::uint32_t usual_b = parts == 2 ? 0x32 : 0x7654;
    code_.place_lists.push_back(
        {mask, packed(i.operands[1], parts == 1 ? 0 : usual_a), packed(i.operands[2], parts == 1 ? 0 : usual_b)});
    d.places = code_.place_lists.back().data();
    const auto is_signed = [&](unsigned n) { return fm.type[n] == suffix::s32; };
    const bool compares = i.op == opcode::vset || i.op == opcode::vset2 || i.op == opcode::vset4;
    const std::uint32_t signs = compares
                                    ? (is_signed(0) ? 2u : 0u) | (is_signed(1) ? 4u : 0u)
                                    : (is_signed(0) ? 1u : 0u) | (is_signed(1) ? 2u : 0u) | (is_signed(2) ? 4u : 0u);
    const bool second = fm.has(suffix::add) || fm.has(suffix::min) || fm.has(suffix::max);
    if (second && i.operands.size() < 4) {
        throw ptx::error(i.where, "the operand of the second operation is missing");
    }
    d.more = signs | (fm.has(suffix::sat) ? 8u : 0u) | (fm.has(suffix::add) ? 16u : 0u) |
             (fm.has(suffix::min) ? 32u : 0u) | (fm.has(suffix::max) ? 64u : 0u) | (fm.has(suffix::clamp) ? 128u : 0u) |
             (fm.has(suffix::shr7) ? 256u : 0u) | (fm.has(suffix::shr15) ? 512u : 0u) |
             (fm.has(suffix::po) ? 1024u : 0u);
    d.immediate = fm.has(suffix::eq)   ? 0
                  : fm.has(suffix::ne) ? 1
                  : fm.has(suffix::lt) ? 2
                  : fm.has(suffix::le) ? 3
                  : fm.has(suffix::gt) ? 4
                                       : 5;
}

} // namespace softgpu::machine
