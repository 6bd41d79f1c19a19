// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/emit/call_decoder.hpp"

#include <algorithm>
#include <cstdint>

#include "softgpu/machine/code/handler_set.hpp"

namespace softgpu::machine {

using ptx::opcode;
using ptx::operand;
using ptx::operand_kind;
using ptx::suffix;
using ptx::symbol_kind;

namespace {

// Scalars stand as registers do.
std::uint32_t stride_of(std::uint64_t bytes) {
    return bytes <= 4 ? 4 : static_cast<std::uint32_t>((bytes + 7) / 8 * 8);
}

constexpr std::uint64_t most_bytes = 1 << 16; // of a parameter

} // namespace

const operand* callee_operand(const ptx::instruction& call) {
    const auto at = std::find_if(call.operands.begin(), call.operands.end(), [](const operand& o) {
        return o.kind == operand_kind::symbol || o.kind == operand_kind::reg;
    });
    return at == call.operands.end() ? nullptr : &*at;
}

call_decoder::call_decoder(const ptx::function& f, const program::register_places& places,
                           const decode_context& context, operand_layout& operands, program_code& code)
    : f_(f), places_(places), context_(context), operands_(operands), code_(code) {
    if (!f.is_entry) {
        for (const ptx::variable& v : f.returns) {
            code.results.push_back(own(v));
        }
        for (std::size_t n = 0; n < f.parameters.size(); ++n) {
            code.arguments.push_back(own(f.parameters[n]));
            code.arguments.back().local = context.local_of_parameter(n);
        }
    }
    place_variables();
}

parameter_area call_decoder::own(const ptx::variable& v) {
    if (v.space != suffix::reg) {
        return room_for(v);
    }
    // Registers of parameters are declared before all others.
    const auto declared = std::ranges::find(f_.registers, v.name, &ptx::register_declaration::name);
    operand o;
    o.kind = operand_kind::reg;
    o.reg = static_cast<std::uint32_t>(declared - f_.registers.begin());
    if (v.vector > 1 || lane_bytes(f_, o) == 0) {
        throw ptx::error(v.where, "parameter '" + v.name + "' is a predicate or a vector");
    }
    return {places_.offset[o.reg], lane_bytes(f_, o)};
}

parameter_area call_decoder::room_for(const ptx::variable& v) {
    if (v.bytes() > most_bytes) {
        throw ptx::error(v.where, "parameter '" + v.name + "' is too large");
    }
    const std::uint32_t stride = stride_of(v.bytes());
    return {operands_.reserve(stride * lanes), stride};
}

// Variables of scopes that are not open together share room, but only with those of the same stride, so that each lane
// keeps to its own bytes: lanes of a warp may be in different scopes at a time.
void call_decoder::place_variables() {
    std::map<std::uint32_t, std::vector<place>> rooms; // by stride
    std::vector<std::map<std::uint32_t, std::size_t>> used(1);
    for (const ptx::statement& s : f_.statements) {
        if (s.kind == ptx::statement_kind::scope_open) {
            used.push_back(used.back());
        } else if (s.kind == ptx::statement_kind::scope_close && used.size() > 1) {
            used.pop_back();
        } else if (s.kind == ptx::statement_kind::variable && f_.variables[s.index].space == suffix::param) {
            const ptx::variable& v = f_.variables[s.index];
            const std::uint32_t stride = stride_of(v.bytes());
            std::vector<place>& of_stride = rooms[stride];
            const std::size_t mine = used.back()[stride]++;
            if (mine == of_stride.size()) {
                of_stride.push_back(room_for(v).at);
            }
            variables_[s.index] = {of_stride[mine], stride};
        }
    }
}

const parameter_area* call_decoder::area_of(const operand& o) const {
    switch (o.refers_to) {
    case symbol_kind::local: {
        const auto found = variables_.find(o.target);
        return found == variables_.end() ? nullptr : &found->second;
    }
    case symbol_kind::parameter: return f_.is_entry ? nullptr : &code_.arguments[o.target];
    case symbol_kind::returned: return &code_.results[o.target];
    default: return nullptr;
    }
}

bool call_decoder::access(const ptx::instruction& i, std::uint32_t n) {
    if ((i.op != opcode::ld && i.op != opcode::st) || i.operands.size() < 2) {
        return false;
    }
    const bool store = i.op == opcode::st;
    const operand& at = i.operands[store ? 0 : 1];
    const operand& value = i.operands[store ? 1 : 0];
    const parameter_area* const area = at.kind == operand_kind::address && !at.has_register ? area_of(at) : nullptr;
    if (area == nullptr) {
        return false;
    }
    if (area->local != parameter_area::not_in_memory && !store) {
        return false; // what may have been written since
    }
    form fm = form_of(i);
    check_moved(f_, i, fm);
    const unsigned bytes = ptx::bytes_of(fm.type[0]);
    if (bytes == 0 || at.offset < 0 || static_cast<std::uint64_t>(at.offset) + bytes * fm.vector > area->stride) {
        throw ptx::error(at.where, "access beyond the parameter '" + at.name + "'");
    }
    unsigned width = lane_bytes(f_, value);
    width = width != 0 ? width : operand_bytes(fm, 1);
    instruction d;
    d.source = n;
    if (fm.vector == 1 && at.offset == 0 && bytes == area->stride && width == bytes) {
        d.run = chosen_handlers().convert(move_of(bytes));
        d.d = store ? area->at : operands_.destination(value);
        d.a = store ? operands_.source(value, bytes) : area->at;
        code_.code.push_back(d);
        return true;
    }
    d.run = store ? chosen_handlers().store_parameter : chosen_handlers().load_parameter;
    d.immediate = at.offset;
    d.e = area->stride;
    const bool is_signed = fm.type[0] == suffix::s8 || fm.type[0] == suffix::s16 || fm.type[0] == suffix::s32;
    d.more = bytes | fm.vector << element_count_shift | (is_signed ? element_is_signed : 0u);
    if (value.kind == operand_kind::vector) {
        for (const operand& e : value.elements) {
            if (e.kind != operand_kind::reg) {
                width = std::max(2u, bytes); // of constants, which registers among them have to match
            }
        }
        auto& list = code_.place_lists.emplace_back();
        for (const operand& e : value.elements) {
            if (e.kind == operand_kind::reg && lane_bytes(f_, e) != width) {
                throw ptx::error(e.where, "registers and constants of different widths in one vector");
            }
            list.push_back(e.kind == operand_kind::sink ? nowhere
                           : store                      ? operands_.source(e, width)
                                                        : operands_.destination(e));
        }
        d.places = list.data();
    } else if (store) {
        d.b = operands_.source(value, width);
    } else {
        d.d = operands_.destination(value);
    }
    d.width[0] = static_cast<std::uint8_t>(width);
    (store ? d.d : d.a) = area->at;
    code_.code.push_back(d);
    return true;
}

// What a call names in its lists: a variable, or a register or constant of the type that the function has there.
parameter_area call_decoder::passed(const operand& o, bool written) {
    if (const parameter_area* const area = area_of(o)) {
        return *area;
    }
    if (o.kind == operand_kind::sink) {
        return {};
    }
    const unsigned own = lane_bytes(f_, o);
    if (o.kind == operand_kind::reg && own == 0) {
        throw ptx::error(o.where, "a predicate is no argument of a call");
    }
    const unsigned width = own != 0 ? own : o.kind == operand_kind::float32 ? 4 : 8;
    return {written ? operands_.destination(o) : operands_.source(o, width), width};
}

std::vector<parameter_area> call_decoder::passed(const operand* group, bool written) {
    std::vector<parameter_area> all;
    if (group != nullptr) {
        for (const operand& o : group->elements) {
            all.push_back(passed(o, written));
        }
    }
    return all;
}

// A last parameter without a size has room for so much.
void call_decoder::check_unsized(const ptx::instruction& i, const call_site& site) {
    const ptx::function* const f = site.to->source;
    if (f == nullptr || f->parameters.empty() || f->parameters.size() != site.arguments.size()) {
        return;
    }
    const ptx::variable& last = f->parameters.back();
    if (last.is_array && site.arguments.back().stride >
                             std::max<std::uint64_t>(stride_of(last.bytes()), program::unsized_parameter_bytes)) {
        throw ptx::error(i.where, "an argument of " + std::to_string(site.arguments.back().stride) + " bytes for '" +
                                      last.name + "', which has room for " +
                                      std::to_string(program::unsized_parameter_bytes));
    }
}

void call_decoder::call(const ptx::instruction& i, std::uint32_t n) {
    const operand* const to = callee_operand(i);
    if (to == nullptr) {
        throw ptx::error(i.where, "a call of nothing");
    }
    const operand* results = nullptr;
    const operand* arguments = nullptr;
    for (const operand& o : i.operands) {
        if (o.kind == operand_kind::group) {
            (&o < to ? results : arguments) = &o;
        }
    }
    call_site& site = code_.call_sites.emplace_back();
    site.results = passed(results, true);
    site.arguments = passed(arguments, false);
    if (to->kind == operand_kind::reg) {
        if (lane_bytes(f_, *to) != 8) {
            throw ptx::error(to->where, "the address of a function takes 64 bits");
        }
        site.target = operands_.source(*to, 8);
    } else {
        site.to = context_.find_function(to->name);
        if (site.to == nullptr) {
            throw ptx::error(to->where, "call of '" + to->name + "', which is no function");
        }
        check_unsized(i, site);
    }
    instruction d;
    d.run = chosen_handlers().call;
    d.source = n;
    d.site = &site;
    code_.code.push_back(d);
    d.run = chosen_handlers().after_call;
    code_.code.push_back(d);
}

} // namespace softgpu::machine
