// SPDX-License-Identifier: MIT
// From a parsed body to decoded instructions: operands become places, labels become pointers, guards and blocks become
// pseudo-instructions, and each opcode's family chooses its handler.
#include <bit>
#include <cfenv>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <unordered_map>

#include "softgpu/machine/constants.hpp"

namespace softgpu::machine {

namespace {

using ptx::opcode;
using ptx::operand;
using ptx::operand_kind;
using ptx::suffix;

constexpr std::uint32_t none = 0xFFFFFFFFu;

struct special {
    enum class kind : std::uint8_t { by_launch, by_warp, by_lane, clock };
    kind what;
    unsigned value; // uniform, per_warp, or the clock's or lane function's number
};

const std::unordered_map<std::string_view, special>& specials() {
    using k = special::kind;
    static const std::unordered_map<std::string_view, special> table = {
        {"%tid.x", {k::by_warp, unsigned(per_warp::tid_x)}},       {"%tid.y", {k::by_warp, unsigned(per_warp::tid_y)}},
        {"%tid.z", {k::by_warp, unsigned(per_warp::tid_z)}},       {"%warpid", {k::by_warp, unsigned(per_warp::warpid)}},
        {"%ntid.x", {k::by_launch, unsigned(uniform::ntid_x)}},    {"%ntid.y", {k::by_launch, unsigned(uniform::ntid_y)}},
        {"%ntid.z", {k::by_launch, unsigned(uniform::ntid_z)}},    {"%nctaid.x", {k::by_launch, unsigned(uniform::nctaid_x)}},
        {"%nctaid.y", {k::by_launch, unsigned(uniform::nctaid_y)}}, {"%nctaid.z", {k::by_launch, unsigned(uniform::nctaid_z)}},
        {"%ctaid.x", {k::by_launch, unsigned(uniform::ctaid_x)}},  {"%ctaid.y", {k::by_launch, unsigned(uniform::ctaid_y)}},
        {"%ctaid.z", {k::by_launch, unsigned(uniform::ctaid_z)}},  {"%nwarpid", {k::by_launch, unsigned(uniform::nwarpid)}},
        {"%smid", {k::by_launch, unsigned(uniform::smid)}},        {"%nsmid", {k::by_launch, unsigned(uniform::nsmid)}},
        {"%gridid", {k::by_launch, unsigned(uniform::gridid)}},
        {"%envreg1", {k::by_launch, unsigned(uniform::grid_workspace_high)}},
        {"%envreg2", {k::by_launch, unsigned(uniform::grid_workspace_low)}},
        {"%dynamic_smem_size", {k::by_launch, unsigned(uniform::dynamic_shared_bytes)}},
        {"%total_smem_size", {k::by_launch, unsigned(uniform::total_shared_bytes)}},
        {"%laneid", {k::by_lane, 0}},      {"%lanemask_eq", {k::by_lane, 1}}, {"%lanemask_lt", {k::by_lane, 2}},
        {"%lanemask_le", {k::by_lane, 3}}, {"%lanemask_gt", {k::by_lane, 4}}, {"%lanemask_ge", {k::by_lane, 5}},
        {"%clock", {k::clock, 0}},         {"%clock64", {k::clock, 1}},       {"%globaltimer", {k::clock, 2}},
        {"%clock_hi", {k::clock, 3}},      {"%globaltimer_lo", {k::clock, 4}}, {"%globaltimer_hi", {k::clock, 5}},
    };
    return table;
}

std::uint32_t lane_value(unsigned function, unsigned lane) {
    const std::uint32_t own = 1u << lane;
    switch (function) {
    case 0: return lane;
    case 1: return own;
    case 2: return own - 1;
    case 3: return own | (own - 1);
    case 4: return ~(own | (own - 1));
    default: return ~(own - 1);
    }
}

class decoder {
public:
    decoder(const ptx::function& f, const program::control_flow& flow, const program::register_places& places,
            const decode_context& context)
        : f_(f), flow_(flow), places_(places), context_(context), set_(chosen_handlers()), constants_(code_) {}

    // Of the instruction that is being decoded.
    [[nodiscard]] ptx::location where() const {
        return at_ < f_.instructions.size() ? f_.instructions[at_].where : f_.where;
    }

    program_code decoded() {
        code_.source = &f_;
        frame_ = places_.frame_bytes;
        find_meeting_blocks();
        first_of_block_.resize(flow_.blocks.size());
        for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) {
            decode_block(b);
        }
        emit(set_.leave, none);
        link();
        code_.frame_bytes = (frame_ + 63) / 64 * 64;
        return std::move(code_);
    }

private:
    // Targets wait as indices until the code has its final address.
    struct fix {
        std::size_t at;
        std::uint32_t target_block = none;
        std::uint32_t meeting_block = none;
        std::size_t target_index = 0; // where target_block is none and is_skip
        bool is_skip = false;
        std::vector<std::uint32_t> list; // blocks of an indexed branch
    };

    void find_meeting_blocks() {
        meets_.assign(flow_.blocks.size(), false);
        for (const program::basic_block& b : flow_.blocks) {
            if (b.successors.size() > 1 && b.immediate_post_dominator != program::no_block) {
                meets_[b.immediate_post_dominator] = true;
            }
        }
    }

    void decode_block(std::uint32_t b) {
        const program::basic_block& block = flow_.blocks[b];
        first_of_block_[b] = code_.code.size();
        code_.block_instructions.push_back(block.last - block.first);
        if (context_.count) {
            emit(meets_[b] ? set_.enter_meeting : set_.enter, block.first).more = b;
        } else if (meets_[b]) {
            emit(set_.meet, block.first);
        }
        for (std::uint32_t n = block.first; n < block.last; ++n) {
            decode_guarded(b, n);
        }
    }

    instruction& emit(handler run, std::uint32_t source) {
        instruction i;
        i.run = run;
        i.source = source;
        code_.code.push_back(i);
        return code_.code.back();
    }

    static bool handles_own_guard(opcode op) {
        return op == opcode::bra || op == opcode::ret || op == opcode::exit_;
    }
    // What may wait for other lanes, or makes more than one instruction, needs real divergence around it.
    static bool needs_split(const ptx::instruction& i) {
        switch (ptx::family_of(i.op)) {
        case ptx::family::control:
        case ptx::family::warp: return true;
        default: return i.space() == suffix::param || i.op == opcode::set;
        }
    }

    void decode_guarded(std::uint32_t b, std::uint32_t n) {
        const ptx::instruction& i = f_.instructions[n];
        if (!i.predicate || handles_own_guard(i.op)) {
            decode_one(b, n);
            return;
        }
        const place guard = places_.offset[i.predicate->reg];
        if (needs_split(i)) {
            const std::size_t at = code_.code.size();
            instruction& skip = emit(set_.skip, n);
            skip.e = guard;
            skip.more = i.predicate->negated ? 0 : 1; // lanes where the guard fails go round
            decode_one(b, n);
            fix x;
            x.at = at;
            x.is_skip = true;
            x.target_index = code_.code.size();
            fixes_.push_back(x);
            emit(set_.meet, n);
            return;
        }
        instruction& begin = emit(set_.guard_begin, n);
        begin.e = guard;
        begin.more = i.predicate->negated ? 1 : 0;
        decode_one(b, n);
        emit(set_.guard_end, n);
    }

    void decode_one(std::uint32_t b, std::uint32_t n) {
        const ptx::instruction& i = f_.instructions[n];
        at_ = n;
        switch (i.op) {
        case opcode::bra: decode_branch(b, n); return;
        case opcode::ret:
        case opcode::exit_: {
            instruction& d = emit(set_.leave, n);
            if (i.predicate) {
                d.e = places_.offset[i.predicate->reg];
                d.more = i.predicate->negated ? 1 : 0;
            }
            return;
        }
        default: break;
        }
        if (i.op == opcode::ld && is_parameter_load(i)) {
            decode_parameter_load(n);
            return;
        }
        form fm = form_of(i);
        fm.register_bytes = value_bytes(i, fm);
        const handler run = choose(fm);
        if (run == nullptr) {
            emit(set_.unsupported, n);
            return;
        }
        check_count(i, fm);
        if (i.op == opcode::mov && i.operands.size() == 2 && i.operands[1].kind == operand_kind::special) {
            const auto found = specials().find(i.operands[1].name);
            if (found != specials().end() && found->second.what == special::kind::clock) {
                instruction& d = emit(set_.read_clock, n);
                d.d = destination(i.operands[0]);
                d.width[0] = lane_bytes(i.operands[0]);
                d.more = found->second.value;
                return;
            }
        }
        check_registers(i, fm);
        if (i.op == opcode::mov && ptx::bytes_of(fm.type[0]) == 2 && i.operands[1].kind == operand_kind::special) {
            decode_narrow_special(n);
            return;
        }
        instruction d;
        d.run = run;
        d.source = n;
        operands_of(i, fm, d);
        code_.code.push_back(d);
        if (i.op == opcode::brx) {
            note_targets(b, i);
        }
        if (i.op == opcode::set) {
            // A predicate first, then its value.
            instruction value;
            value.run = set_.mask_to_value;
            value.source = n;
            value.d = d.d;
            value.a = d.d = scratch();
            value.immediate = d.immediate;
            code_.code.back() = d;
            code_.code.push_back(value);
        }
        if ((i.op == opcode::bar || i.op == opcode::barrier) && i.has(suffix::red)) {
            instruction& r = emit(set_.barrier_result, n);
            r.a = d.a;
            r.d = d.d;
            r.more = i.has(suffix::popc) ? 0 : i.has(suffix::and_) ? 1 : 2;
        }
    }

    static void check_count(const ptx::instruction& i, const form& fm) {
        const operand_range wanted = operands_wanted(fm);
        if (i.operands.size() < wanted.least || i.operands.size() > wanted.most) {
            throw ptx::error(i.where, std::string(ptx::name_of(i.op)) + " with " + std::to_string(i.operands.size()) +
                                          " operands; it takes " + std::to_string(wanted.least));
        }
    }

    // The value of ld and st: as many elements as the vector has, each in a register that is wide enough.
    void check_moved(const ptx::instruction& i, const form& fm) const {
        if (i.op != opcode::ld && i.op != opcode::ldu && i.op != opcode::st) {
            return;
        }
        const operand& value = i.operands.at(i.op == opcode::st ? 1 : 0);
        const std::size_t elements = value.kind == operand_kind::vector ? value.elements.size() : 1;
        if (elements != fm.vector || (fm.vector > 1 && value.kind != operand_kind::vector)) {
            throw ptx::error(value.where, std::to_string(elements) + " values for a vector of " + std::to_string(fm.vector));
        }
        for (std::size_t k = 0; k < elements; ++k) {
            const operand& o = value.kind == operand_kind::vector ? value.elements[k] : value;
            if (o.kind == operand_kind::reg && (lane_bytes(o) == 0 || lane_bytes(o) < ptx::bytes_of(fm.type[0]))) {
                throw ptx::error(o.where, "register '" + f_.registers[o.reg].name + "' is too narrow for what is moved");
            }
        }
    }

    // Handlers trust the width of registers: a lane more than there is would be another register's.
    void check_registers(const ptx::instruction& i, const form& fm) const {
        const bool wider = i.op == opcode::cvt; // takes the low bits, and extends
        const auto check = [&](const operand& o, unsigned bytes) {
            if (o.kind != operand_kind::reg) {
                return;
            }
            const unsigned own = lane_bytes(o);
            if (wider && bytes != 0 ? own < bytes : own != bytes) {
                throw ptx::error(o.where, "register '" + f_.registers[o.reg].name + "' is not as wide as this instruction takes it");
            }
        };
        switch (ptx::family_of(i.op)) {
        case ptx::family::memory: check_moved(i, fm); return;
        case ptx::family::arithmetic:
        case ptx::family::logic:
        case ptx::family::compare: break;
        case ptx::family::convert:
            if (i.op == opcode::mov && fm.parts != 0) {
                const unsigned whole = ptx::bytes_of(fm.type[0]);
                check(i.operands[fm.unpacks ? 1 : 0], whole);
                for (const operand& part : i.operands[fm.unpacks ? 0 : 1].elements) {
                    check(part, whole / fm.parts);
                }
                return;
            }
            if (i.op == opcode::cvta || i.op == opcode::isspacep) {
                return;
            }
            break;
        case ptx::family::atomic:
            for (std::size_t k = 0; k < i.operands.size(); ++k) {
                check(i.operands[k], operand_bytes(fm, static_cast<unsigned>(k)));
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
            check(i.operands[k], operand_bytes(fm, static_cast<unsigned>(k)));
        }
    }

    // Bytes of a lane of the register that ld fills or st empties; an immediate is as wide as its type.
    [[nodiscard]] unsigned value_bytes(const ptx::instruction& i, const form& fm) const {
        if ((i.op != opcode::ld && i.op != opcode::ldu && i.op != opcode::st) || i.operands.size() < 2) {
            return 0;
        }
        const operand& value = i.operands[i.op == opcode::st ? 1 : 0];
        const unsigned own = lane_bytes(value);
        return own != 0 ? own : operand_bytes(fm, 1);
    }

    // mov.u16 %h, %tid.x, as old code has it: the low half of a lane of 32 bits.
    void decode_narrow_special(std::uint32_t n) {
        const ptx::instruction& i = f_.instructions[n];
        form narrowing;
        narrowing.op = opcode::cvt;
        narrowing.type[0] = suffix::u16;
        narrowing.type[1] = suffix::u32;
        instruction d;
        d.run = set_.convert(narrowing);
        d.source = n;
        d.d = destination(i.operands[0]);
        d.a = source(i.operands[1], 4);
        d.width[0] = 2;
        d.width[1] = 4;
        code_.code.push_back(d);
    }

    handler choose(const form& fm) const {
        switch (ptx::family_of(fm.op)) {
        case ptx::family::arithmetic: return set_.arithmetic(fm);
        case ptx::family::logic: return set_.logic(fm);
        case ptx::family::compare: return set_.compare(fm);
        case ptx::family::convert: return set_.convert(fm);
        case ptx::family::memory: return set_.memory(fm);
        case ptx::family::atomic: return set_.atomic(fm);
        case ptx::family::control: return set_.control(fm);
        case ptx::family::warp: return set_.warp_wide(fm);
        case ptx::family::unsupported: return nullptr;
        }
        return nullptr;
    }

    void decode_branch(std::uint32_t b, std::uint32_t n) {
        const ptx::instruction& i = f_.instructions[n];
        fix x;
        x.at = code_.code.size();
        x.target_block = program::block_of_label(f_, flow_, i.operands.at(0).name);
        if (x.target_block == program::no_block) {
            throw ptx::error(i.where, "branch to '" + i.operands[0].name + "', which is no label of this function");
        }
        if (i.predicate) {
            instruction& d = emit(set_.branch, n);
            d.e = places_.offset[i.predicate->reg];
            d.more = i.predicate->negated ? 1 : 0;
            x.meeting_block = flow_.blocks[b].immediate_post_dominator;
        } else {
            emit(set_.jump, n);
        }
        fixes_.push_back(x);
    }

    void note_targets(std::uint32_t b, const ptx::instruction& i) {
        fix x;
        x.at = code_.code.size() - 1;
        x.meeting_block = flow_.blocks[b].immediate_post_dominator;
        for (const ptx::statement& s : f_.statements) {
            if (s.kind == ptx::statement_kind::branch_targets && i.operands.size() > 1 && s.text == i.operands[1].name) {
                for (const std::string& label : s.names) {
                    x.list.push_back(program::block_of_label(f_, flow_, label));
                }
            }
        }
        if (x.list.empty()) {
            throw ptx::error(i.where, "indexed branch without a list of targets");
        }
        code_.code.back().more = static_cast<std::uint32_t>(x.list.size());
        fixes_.push_back(x);
    }

    void link() {
        const instruction* const base = code_.code.data();
        const auto header = [&](std::uint32_t b) {
            return b == program::no_block ? nullptr : base + first_of_block_[b];
        };
        for (const fix& x : fixes_) {
            instruction& i = code_.code[x.at];
            if (x.is_skip) {
                i.target = base + x.target_index;
                i.meeting = i.target;
            } else if (!x.list.empty()) {
                auto& list = code_.target_lists.emplace_back();
                for (const std::uint32_t b : x.list) {
                    list.push_back(header(b));
                }
                i.targets = list.data();
                i.target = header(x.meeting_block);
            } else {
                i.target = header(x.target_block);
                i.meeting = header(x.meeting_block);
            }
        }
    }

    // Operands.

    [[nodiscard]] std::uint8_t lane_bytes(const operand& o) const {
        if (o.kind == operand_kind::reg) {
            const std::uint32_t bytes = program::warp_bytes(f_.registers[o.reg].type);
            return static_cast<std::uint8_t>(bytes == 4 ? 0 : bytes / lanes);
        }
        if (o.kind == operand_kind::vector && !o.elements.empty()) {
            return lane_bytes(o.elements.front());
        }
        return 0;
    }

    place scratch() {
        if (scratch_ == nowhere) {
            frame_ = (frame_ + 63) / 64 * 64;
            scratch_ = frame_;
            frame_ += 512;
        }
        return scratch_;
    }

    place destination(const operand& o) {
        if (o.kind == operand_kind::reg) {
            return places_.offset[o.reg];
        }
        if (o.kind == operand_kind::sink) {
            return scratch();
        }
        throw ptx::error(o.where, "destination is no register");
    }

    [[noreturn]] static void unknown(const operand& o) { throw ptx::error(o.where, "unknown symbol '" + o.name + "'"); }

    place address_of(const operand& o, unsigned bytes, std::int64_t offset) {
        const symbol_value s = context_.resolve(o.name);
        switch (s.what) {
        case symbol_value::kind::shared:
        case symbol_value::kind::global:
        case symbol_value::kind::local: return constants_.immediate(s.value + static_cast<std::uint64_t>(offset), bytes);
        case symbol_value::kind::parameter:
            return constants_.parameter_address(s.value + static_cast<std::uint64_t>(offset));
        default: unknown(o);
        }
    }

    place source(const operand& o, unsigned bytes) {
        switch (o.kind) {
        case operand_kind::reg: return places_.offset[o.reg];
        case operand_kind::integer: return constants_.immediate(bytes == 0 ? (o.bits != 0 ? all_lanes : 0) : narrow(o.bits, bytes), bytes);
        case operand_kind::float32:
            return constants_.immediate(
                bytes == 8 ? std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(o.bits)))) : o.bits, bytes);
        case operand_kind::float64:
            return constants_.immediate(
                bytes == 4 ? std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(o.bits))) : o.bits, bytes);
        case operand_kind::special: return special_place(o, bytes);
        case operand_kind::symbol: return address_of(o, bytes, o.offset);
        case operand_kind::sink: return scratch();
        default: throw ptx::error(o.where, "operand of a kind that does not belong here");
        }
    }

    static std::uint64_t narrow(std::uint64_t bits, unsigned bytes) {
        return bytes >= 8 ? bits : bits & ((1ull << (8 * bytes)) - 1);
    }

    place special_place(const operand& o, unsigned bytes) {
        const auto found = specials().find(o.name);
        if (found == specials().end()) {
            if (o.name.starts_with("%cluster_") || o.name.starts_with("%is_explicit_cluster") ||
                o.name.starts_with("%envreg") || o.name.starts_with("%clusterid")) {
                return constants_.immediate(0, bytes);
            }
            if (o.name.starts_with("%nclusterid") || o.name.starts_with("%cluster_n")) {
                return constants_.immediate(1, bytes);
            }
            throw ptx::error(o.where, "special register '" + o.name + "' is not supported");
        }
        const special s = found->second;
        if (bytes != 4 && s.what != special::kind::by_launch) {
            throw ptx::error(o.where, "special register '" + o.name + "' is 32 bits wide");
        }
        switch (s.what) {
        case special::kind::by_launch:
            code_.uses_grid_workspace = code_.uses_grid_workspace || o.name.starts_with("%envreg");
            return constants_.of(static_cast<uniform>(s.value), bytes);
        case special::kind::by_lane:
            return constants_.by_lane(o.name, [&](unsigned l) { return lane_value(s.value, l); });
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

    const place* list_of(const operand& o, unsigned bytes, bool written) {
        auto& list = code_.place_lists.emplace_back();
        for (const operand& e : o.elements) {
            list.push_back(e.kind == operand_kind::sink ? nowhere : written ? destination(e) : source(e, bytes));
        }
        return list.data();
    }

    // The address operand: base in a, offset in immediate.
    void address(const operand& o, const form& fm, instruction& d) {
        if (o.kind != operand_kind::address) {
            throw ptx::error(o.where, "an address in brackets belongs here");
        }
        const bool in_shared = fm.space == suffix::shared || fm.space == suffix::shared_cta;
        if (o.has_register) {
            d.a = places_.offset[o.reg];
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

    void operands_of(const ptx::instruction& i, const form& fm, instruction& d) {
        switch (i.op) {
        case opcode::ld:
        case opcode::ldu: {
            const operand& to = i.operands.at(0);
            if (to.kind == operand_kind::vector) {
                d.places = list_of(to, 0, true);
            } else {
                d.d = destination(to);
            }
            d.width[0] = lane_bytes(to);
            if (d.width[0] == 0) {
                d.width[0] = static_cast<std::uint8_t>(operand_bytes(fm, 0));
            }
            address(i.operands.at(1), fm, d);
            element_facts(fm, d);
            return;
        }
        case opcode::st: {
            const operand& from = i.operands.at(1);
            const unsigned bytes = operand_bytes(fm, 1);
            if (from.kind == operand_kind::vector) {
                d.places = list_of(from, bytes, false);
            } else {
                d.b = source(from, bytes);
            }
            d.width[2] = lane_bytes(from);
            if (d.width[2] == 0) {
                d.width[2] = static_cast<std::uint8_t>(bytes);
            }
            if (from.kind == operand_kind::vector) {
                uniform_widths(from, bytes, d);
            }
            address(i.operands.at(0), fm, d);
            element_facts(fm, d);
            return;
        }
        case opcode::atom:
            d.d = destination(i.operands.at(0));
            address(i.operands.at(1), fm, d);
            d.b = source(i.operands.at(2), operand_bytes(fm, 2));
            if (fm.has(suffix::cas)) {
                d.c = source(i.operands.at(3), operand_bytes(fm, 3));
            }
            return;
        case opcode::red:
            address(i.operands.at(0), fm, d);
            d.b = source(i.operands.at(1), operand_bytes(fm, 1));
            return;
        case opcode::bar:
        case opcode::barrier: barrier_operands(i, d); return;
        case opcode::membar:
        case opcode::fence:
        case opcode::trap:
        case opcode::brkpt:
        case opcode::pmevent:
        case opcode::nanosleep:
        case opcode::prefetch:
        case opcode::prefetchu:
        case opcode::discard:
        case opcode::applypriority: return;
        case opcode::brx: d.a = source(i.operands.at(0), 4); return;
        case opcode::shfl:
            destinations(i, d);
            sources(i, fm, d, 1, 3);
            code_.place_lists.push_back({source(i.operands.at(4), 4)});
            d.places = code_.place_lists.back().data();
            return;
        case opcode::mov:
            if (fm.parts != 0) {
                const operand& parts = i.operands[fm.unpacks ? 0 : 1];
                const unsigned whole = ptx::bytes_of(fm.type[0]);
                d.places = list_of(parts, whole / fm.parts, fm.unpacks);
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

    // What the general mover of memory.cpp reads from `more`.
    static void element_facts(const form& fm, instruction& d) {
        const suffix t = fm.type[0];
        const bool is_signed = t == suffix::s8 || t == suffix::s16 || t == suffix::s32;
        d.more = ptx::bytes_of(t) | fm.vector << 8 | (is_signed ? 1u << 16 : 0u);
    }

    // A vector store whose elements mix registers and constants needs one width for all.
    static void uniform_widths(const operand& from, unsigned bytes, instruction& d) {
        for (const operand& e : from.elements) {
            if (e.kind != operand_kind::reg) {
                d.width[2] = static_cast<std::uint8_t>(bytes);
            }
        }
    }

    void destinations(const ptx::instruction& i, instruction& d) {
        if (ptx::destinations_of(i.op) == 0) {
            return;
        }
        const operand& to = i.operands.at(0);
        if (to.kind == operand_kind::pair) {
            d.d = destination(to.elements.at(0));
            d.width[0] = lane_bytes(to.elements.at(0));
            d.e = destination(to.elements.at(1));
        } else {
            d.d = destination(to);
            d.width[0] = lane_bytes(to);
        }
    }

    void sources(const ptx::instruction& i, const form& fm, instruction& d, unsigned first, unsigned count) {
        place* const slots[] = {&d.a, &d.b, &d.c, &d.e};
        for (unsigned k = 0; k < count && k < 4; ++k) {
            if (k == 3 && i.op != opcode::bfi) {
                break;
            }
            const operand& o = i.operands.at(first + k);
            const unsigned bytes = operand_bytes(fm, first + k);
            *slots[k] = source(o, bytes);
            if (k < 3) {
                const std::uint8_t own = lane_bytes(o);
                d.width[k + 1] = own != 0 ? own : static_cast<std::uint8_t>(bytes);
            }
        }
    }

    void barrier_operands(const ptx::instruction& i, instruction& d) {
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
    void details(const ptx::instruction& i, const form& fm, instruction& d) {
        switch (i.op) {
        case opcode::setp:
        case opcode::set: {
            d.more = fm.has(suffix::and_) ? 1 : fm.has(suffix::or_) ? 2 : fm.has(suffix::xor_) ? 3 : 0;
            if (i.operands.size() > 3 && i.operands[3].negated) {
                d.more |= 4;
            }
            d.immediate = fm.type[0] == suffix::f32 ? 0x3F800000 : 0xFFFFFFFF;
            return;
        }
        case opcode::vote: d.c = i.operands.at(1).negated ? 0 : nowhere; return;
        case opcode::lop3: d.immediate = static_cast<std::int64_t>(i.operands.at(4).bits); return;
        case opcode::prmt:
            d.more = fm.has(suffix::f4e)   ? 1
                     : fm.has(suffix::b4e) ? 2
                     : fm.has(suffix::rc8) ? 3
                     : fm.has(suffix::ecl) ? 4
                     : fm.has(suffix::ecr) ? 5
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
            return;
        }
        case opcode::cvta:
            if (fm.space == suffix::shared || fm.space == suffix::shared_cta) {
                d.b = constants_.immediate(context_.shared_window, 8);
            } else if (fm.space == suffix::local) {
                d.b = constants_.immediate(context_.local_window, 8);
            }
            return;
        default: break;
        }
        if (ptx::family_of(i.op) == ptx::family::arithmetic) {
            d.more = fm.has(suffix::rz)   ? static_cast<std::uint32_t>(FE_TOWARDZERO)
                     : fm.has(suffix::rm) ? static_cast<std::uint32_t>(FE_DOWNWARD)
                     : fm.has(suffix::rp) ? static_cast<std::uint32_t>(FE_UPWARD)
                                          : 0;
        }
    }

    // ld.param at a fixed place of the kernel's parameters is a move of a constant.
    [[nodiscard]] bool is_parameter_load(const ptx::instruction& i) const {
        if (i.space() != suffix::param && i.space() != suffix::param_entry) {
            return false;
        }
        const operand& at = i.operands.at(1);
        return at.kind == operand_kind::address && !at.has_register &&
               context_.resolve(at.name).what == symbol_value::kind::parameter;
    }

    void decode_parameter_load(std::uint32_t n) {
        const ptx::instruction& i = f_.instructions[n];
        const operand& at = i.operands[1];
        const suffix type = i.type();
        const unsigned bytes = ptx::bytes_of(type);
        const bool is_signed = type == suffix::s8 || type == suffix::s16 || type == suffix::s32 || type == suffix::s64;
        auto offset = static_cast<std::uint32_t>(context_.resolve(at.name).value + static_cast<std::uint64_t>(at.offset));
        const operand& to = i.operands[0];
        check_moved(i, form_of(i));
        const auto one = [&](const operand& element) {
            if (element.kind != operand_kind::sink) {
                const unsigned wide = lane_bytes(element);
                form move;
                move.op = opcode::mov;
                move.type[0] = wide == 2 ? suffix::b16 : wide == 4 ? suffix::b32 : wide == 8 ? suffix::b64 : suffix::b128;
                instruction& d = emit(set_.convert(move), n);
                d.d = destination(element);
                d.a = constants_.parameter(offset, bytes, is_signed, wide);
            }
            offset += bytes;
        };
        if (to.kind == operand_kind::vector) {
            for (const operand& element : to.elements) {
                one(element);
            }
        } else {
            one(to);
        }
    }

    const ptx::function& f_;
    const program::control_flow& flow_;
    const program::register_places& places_;
    const decode_context& context_;
    const handler_set& set_;
    program_code code_;
    constant_layout constants_;
    std::vector<bool> meets_;
    std::vector<std::size_t> first_of_block_;
    std::vector<fix> fixes_;
    std::uint32_t frame_ = 0;
    place scratch_ = nowhere;
    std::uint32_t at_ = 0;
};

} // namespace

program_code decode(const ptx::function& f, const program::control_flow& flow, const program::register_places& places,
                    const decode_context& context) {
    decoder d(f, flow, places, context);
    try {
        return d.decoded();
    } catch (const std::out_of_range&) {
        throw ptx::error(d.where(), "too few operands");
    }
}

} // namespace softgpu::machine
