// SPDX-License-Identifier: MIT
// Operands of video instructions; see handlers/arithmetic/video.cpp for their meaning.
#include <cstdint>
#include <string_view>

#include "softgpu/machine/decode/operands/operands.hpp"

namespace softgpu::machine {

using ptx::opcode;
using ptx::operand;
using ptx::operand_kind;
using ptx::suffix;

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
