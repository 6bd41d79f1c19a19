// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/operands/instruction_checks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "softgpu/machine/code/instruction.hpp"
#include "softgpu/program/program.hpp"

namespace softgpu::machine {

using ptx::opcode;
using ptx::operand;
using ptx::operand_kind;
using ptx::suffix;

std::uint8_t lane_bytes(const ptx::function& f, const operand& o) {
    if (o.kind == operand_kind::reg) {
        const std::uint32_t bytes = program::warp_bytes(f.registers[o.reg].type);
        return static_cast<std::uint8_t>(bytes == 4 ? 0 : bytes / lanes);
    }
    if (o.kind == operand_kind::vector && !o.elements.empty()) {
        return lane_bytes(f, o.elements.front());
    }
    return 0;
}

void check_count(const ptx::instruction& i, const form& fm) {
    const operand_range wanted = operands_wanted(fm);
    if (i.operands.size() < wanted.least || i.operands.size() > wanted.most) {
        throw ptx::error(i.where, std::string(ptx::name_of(i.op)) + " with " + std::to_string(i.operands.size()) +
                                      " operands; it takes " + std::to_string(wanted.least));
    }
}

void check_modifiers(const ptx::instruction& i, const form& fm) {
    const auto is_integer = [](suffix t) {
        return (t >= suffix::u8 && t <= suffix::s8) || t == suffix::u16 || t == suffix::s16 || t == suffix::u32 ||
               t == suffix::s32 || t == suffix::u64 || t == suffix::s64;
    };
    const auto is_float = [](suffix t) {
        return t == suffix::f16 || t == suffix::bf16 || t == suffix::f32 || t == suffix::f64;
    };
    const auto any_of = [&](std::initializer_list<suffix> some) {
        return std::ranges::any_of(some, [&](suffix s) { return fm.has(s); });
    };
    const char* missing = nullptr;
    switch (i.op) {
    case opcode::mul:
    case opcode::mad:
        if (is_integer(fm.type[0]) && !any_of({suffix::lo, suffix::hi, suffix::wide})) {
            missing = "without .lo, .hi or .wide";
        }
        break;
    case opcode::cvt:
        if (!is_float(fm.type[1])) {
            break;
        }
        if (is_integer(fm.type[0]) && !any_of({suffix::rni, suffix::rzi, suffix::rmi, suffix::rpi})) {
            missing = "of a float to an integer without .rni, .rzi, .rmi or .rpi";
        } else if (is_float(fm.type[0]) && ptx::bytes_of(fm.type[0]) < ptx::bytes_of(fm.type[1]) &&
                   !any_of({suffix::rn, suffix::rz, suffix::rm, suffix::rp, suffix::rna, suffix::rs})) {
            missing = "to a narrower float without a rounding";
        }
        break;
    case opcode::shl:
    case opcode::and_:
    case opcode::or_:
    case opcode::xor_:
    case opcode::not_:
        if (is_integer(fm.type[0])) {
            missing = "of a type of numbers; it takes .b16, .b32 or .b64";
        }
        break;
    default: break;
    }
    if (missing != nullptr) {
        throw ptx::error(i.where, std::string(ptx::name_of(i.op)) + " " + missing);
    }
}

// The value of ld and st: as many elements as the vector has, each in a register that is wide enough.
void check_moved(const ptx::function& f, const ptx::instruction& i, const form& fm) {
    if (i.op != opcode::ld && i.op != opcode::ldu && i.op != opcode::st) {
        return;
    }
    const operand& value = i.operands.at(i.op == opcode::st ? 1 : 0);
    const std::size_t elements = value.kind == operand_kind::vector ? value.elements.size() : 1;
    if (elements != fm.vector || (fm.vector > 1 && value.kind != operand_kind::vector)) {
        throw ptx::error(value.where,
                         std::to_string(elements) + " values for a vector of " + std::to_string(fm.vector));
    }
    for (std::size_t k = 0; k < elements; ++k) {
        const operand& o = value.kind == operand_kind::vector ? value.elements[k] : value;
        if (o.kind == operand_kind::reg && (lane_bytes(f, o) == 0 || lane_bytes(f, o) < ptx::bytes_of(fm.type[0]))) {
            throw ptx::error(o.where, "register '" + f.registers[o.reg].name + "' is too narrow for what is moved");
        }
    }
}

// Handlers trust the width of registers: a lane more than there is would be another register's.
void check_registers(const ptx::function& f, const ptx::instruction& i, const form& fm) {
    const bool wider = i.op == opcode::cvt; // takes the low bits, and extends
    const auto check = [&](const operand& o, unsigned bytes) {
        if (o.kind != operand_kind::reg) {
            return;
        }
        const unsigned own = lane_bytes(f, o);
        if (wider && bytes != 0 ? own < bytes : own != bytes) {
            throw ptx::error(o.where,
                             "register '" + f.registers[o.reg].name + "' is not as wide as this instruction takes it");
        }
    };
    switch (ptx::family_of(i.op)) {
    case ptx::family::memory: check_moved(f, i, fm); return;
    case ptx::family::arithmetic:
    case ptx::family::logic:
    case ptx::family::compare: break;
    case ptx::family::convert:
        if (i.op == opcode::mov && fm.parts != 0) {
            const unsigned whole = ptx::bytes_of(fm.type[0]);
            check(i.operands[fm.unpacks ? 1 : 0], whole);
            for (const operand& part : i.operands[fm.unpacks ? 0 : 1].elements) {
                check(part, part_bytes(fm));
            }
            return;
        }
        if (i.op == opcode::cvta || i.op == opcode::isspacep) {
            return;
        }
        break;
    case ptx::family::atomic:
        for (unsigned k = 0; k < i.operands.size(); ++k) { // a cache policy comes last
            check(i.operands[k], k < operands_wanted(fm).least ? operand_bytes(fm, k) : 8);
        }
        return;
    case ptx::family::warp:
        if (i.op == opcode::vote) {
            check(i.operands[0], fm.has(suffix::ballot) ? 4 : 0);
            check(i.operands[1], 0);
            check(i.operands[2], 4);
            return;
        }
        break;
    default: return;
    }
    const operand& to = i.operands.at(0);
    if (to.kind == operand_kind::pair) {
        check(to.elements.at(0), destination_bytes(fm));
        check(to.elements.at(1), 0);
    } else {
        check(to, destination_bytes(fm));
    }
    for (std::size_t k = 1; k < i.operands.size(); ++k) {
        const unsigned bytes = operand_bytes(fm, static_cast<unsigned>(k));
        check(i.operands[k], bytes);
        for (const operand& element : i.operands[k].elements) {
            check(element, bytes);
        }
    }
}

} // namespace softgpu::machine
