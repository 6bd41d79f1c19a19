// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/operands/operands.hpp"

#include <bit>
#include <cstdint>

#include "softgpu/machine/decode/operands/special_registers.hpp"

namespace softgpu::machine {

using ptx::opcode;
using ptx::operand;
using ptx::operand_kind;
using ptx::suffix;

namespace {

[[noreturn]] void unknown(const operand& o) { throw ptx::error(o.where, "unknown symbol '" + o.name + "'"); }

} // namespace

place operand_layout::scratch() {
    if (scratch_ == nowhere) {
        scratch_ = reserve(512);
    }
    return scratch_;
}

place operand_layout::reserve(std::uint32_t bytes) {
    frame_ = (frame_ + 63) / 64 * 64;
    const place at = frame_;
    frame_ += bytes;
    return at;
}

place operand_layout::local_address_of(std::uint64_t offset) {
    for (const local_address& known : code_.local_addresses) {
        if (known.offset == offset) {
            return known.at;
        }
    }
    code_.local_addresses.push_back({reserve(8 * lanes), offset});
    return code_.local_addresses.back().at;
}

place operand_layout::destination(const operand& o) {
    if (o.kind == operand_kind::reg) {
        return places_.offset[o.reg];
    }
    if (o.kind == operand_kind::sink) {
        return scratch();
    }
    throw ptx::error(o.where, "destination is no register");
}

place operand_layout::address_of(const operand& o, unsigned bytes, std::int64_t offset) {
    const symbol_value s = context_.resolve(o.name);
    if (s.what == symbol_value::kind::local && !f_.is_entry) {
        if (bytes != 8) {
            throw ptx::error(o.where, "the address of '" + o.name + "' takes 64 bits");
        }
        return local_address_of(s.value + static_cast<std::uint64_t>(offset));
    }
    switch (s.what) {
    case symbol_value::kind::shared:
    case symbol_value::kind::global:
    case symbol_value::kind::function:
    case symbol_value::kind::local: return constants_.immediate(s.value + static_cast<std::uint64_t>(offset), bytes);
    case symbol_value::kind::parameter:
        if (bytes == 4) { // within the parameters; cvta.param makes an address of it
            return constants_.immediate(s.value + static_cast<std::uint64_t>(offset), bytes);
        }
        if (bytes != 8) {
            throw ptx::error(o.where, "the address of '" + o.name + "' takes 32 or 64 bits");
        }
        return constants_.parameter_address(s.value + static_cast<std::uint64_t>(offset));
    default: unknown(o);
    }
}

place operand_layout::source(const operand& o, unsigned bytes) {
    switch (o.kind) {
    case operand_kind::reg: return place_of(o.reg);
    case operand_kind::integer:
        return constants_.immediate(bytes == 0 ? (o.bits != 0 ? all_lanes : 0) : narrow(o.bits, bytes), bytes);
    case operand_kind::float32:
        return constants_.immediate(bytes == 8 ? std::bit_cast<std::uint64_t>(static_cast<double>(
                                                     std::bit_cast<float>(static_cast<std::uint32_t>(o.bits))))
                                               : o.bits,
                                    bytes);
    case operand_kind::float64:
        return constants_.immediate(
            bytes == 4 ? std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(o.bits))) : o.bits,
            bytes);
    case operand_kind::special: return special_place(o, bytes);
    case operand_kind::symbol: return address_of(o, bytes, o.offset);
    case operand_kind::sink: return scratch();
    default: throw ptx::error(o.where, "operand of a kind that does not belong here");
    }
}

std::uint64_t operand_layout::narrow(std::uint64_t bits, unsigned bytes) {
    return bytes >= 8 ? bits : bits & ((1ull << (8 * bytes)) - 1);
}

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

place operand_layout::special_place(const operand& o, unsigned bytes) {
    const auto found = find_special(o.name);
    if (!found) {
        // What only the driver or a profiler would set is 0, and so is the fourth element of %tid and the like.
        bool is_zero = o.name.ends_with(".w");
        for (const char* const zero : {"%envreg", "%pm", "%current_graph_exec"}) {
            is_zero = is_zero || o.name.starts_with(zero);
        }
        if (is_zero) {
            return constants_.immediate(0, bytes);
        }
        throw ptx::error(o.where, "special register '" + o.name + "' is not supported");
    }
    const special s = *found;
    if (bytes != 4 && s.what != special::kind::by_launch) {
        throw ptx::error(o.where, "special register '" + o.name + "' is 32 bits wide");
    }
    switch (s.what) {
    case special::kind::by_launch: return constants_.of(static_cast<uniform>(s.value), bytes);
    case special::kind::by_lane: return constants_.by_lane(o.name, [&](unsigned l) { return lane_value(s.value, l); });
    case special::kind::by_warp: {
        const auto what = static_cast<per_warp>(s.value);
        for (const warp_place& p : code_.of_warp) {
            if (p.what == what) {
                return p.at;
            }
        }
        frame_ = (frame_ + 63) / 64 * 64;
        code_.of_warp.push_back({what, frame_});
        frame_ += 4 * lanes;
        return code_.of_warp.back().at;
    }
    case special::kind::clock: break;
    }
    throw ptx::error(o.where, "special register '" + o.name + "' can only be moved");
}

const place* operand_layout::list_of(const operand& o, unsigned bytes, bool written) {
    auto& list = code_.place_lists.emplace_back();
    for (const operand& e : o.elements) {
        list.push_back(e.kind == operand_kind::sink ? nowhere : written ? destination(e) : source(e, bytes));
    }
    return list.data();
}

// The address operand: base in a, offset in immediate.
void operand_layout::address(const operand& o, const form& fm, instruction& d) {
    if (o.kind != operand_kind::address) {
        throw ptx::error(o.where, "an address in brackets belongs here");
    }
    const bool in_shared =
        fm.space == suffix::shared || fm.space == suffix::shared_cta || fm.space == suffix::shared_cluster;
    if (o.has_register) {
        d.a = place_of(o.reg);
        d.width[1] = static_cast<std::uint8_t>(program::warp_bytes(f_.registers[o.reg].type) / lanes);
        d.immediate = o.offset;
        return;
    }
    d.width[1] = in_shared ? 4 : 8;
    if (o.name.empty()) {
        d.a = constants_.immediate(static_cast<std::uint64_t>(o.offset), d.width[1]);
    } else {
        d.a = address_of(o, d.width[1], o.offset);
    }
}

// Accesses by one register are likely to have one pattern, whatever their offsets: they share what is known of it.
std::uint32_t operand_layout::address_number(const operand& o) {
    const auto [at, fresh] = address_numbers_.emplace(o.has_register ? o.reg : ~0u, code_.address_registers);
    if (fresh) {
        ++code_.address_registers;
    }
    return at->second;
}

// Bytes of a lane of the register that ld fills or st empties; an immediate is as wide as its type.
unsigned operand_layout::value_bytes(const ptx::instruction& i, const form& fm) const {
    if ((i.op != opcode::ld && i.op != opcode::ldu && i.op != opcode::st) || i.operands.size() < 2) {
        return 0;
    }
    const operand& value = i.operands[i.op == opcode::st ? 1 : 0];
    const unsigned own = lane_bytes(f_, value);
    return own != 0 ? own : operand_bytes(fm, 1);
}

} // namespace softgpu::machine
