// SPDX-License-Identifier: MIT
// From a parsed body to decoded instructions: operands become places, labels become pointers, guards and blocks become
// pseudo-instructions, and each opcode's family chooses its handler.
#include "softgpu/machine/decode/decode.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "softgpu/machine/code/handler_set.hpp"
#include "softgpu/machine/decode/analysis/register_definitions.hpp"
#include "softgpu/machine/decode/analysis/waiting_loops.hpp"
#include "softgpu/machine/decode/emit/call_decoder.hpp"
#include "softgpu/machine/decode/emit/check_emitter.hpp"
#include "softgpu/machine/decode/emit/fixups.hpp"
#include "softgpu/machine/decode/emit/trace_emitter.hpp"
#include "softgpu/machine/decode/operands/instruction_checks.hpp"
#include "softgpu/machine/decode/operands/operands.hpp"
#include "softgpu/machine/decode/operands/special_registers.hpp"

namespace softgpu::machine {

namespace {

using ptx::opcode;
using ptx::operand;
using ptx::operand_kind;
using ptx::suffix;

class decoder {
public:
    decoder(const ptx::function& f, const program::control_flow& flow, const program::register_places& places,
            const decode_context& context)
        : f_(f),
          flow_(flow),
          places_(places),
          context_(context),
          set_(chosen_handlers()),
          operands_(f, places, context, code_),
          calls_(f, places, context, operands_, code_),
          fixups_(flow.blocks.size()) {}

    // Of the instruction that is being decoded.
    [[nodiscard]] ptx::location where() const {
        return at_ < f_.instructions.size() ? f_.instructions[at_].where : f_.where;
    }

    program_code decoded() {
        code_.source = &f_;
        code_.name = f_.name;
        if (context_.sites != nullptr) {
            checks_.emplace(f_, flow_, code_, *context_.sites, context_.checks);
        }
        if (context_.count && context_.trace != nullptr) {
            trace_.emplace(f_, flow_, code_, *context_.trace);
        }
        find_meeting_blocks();
        definitions_.emplace(f_);
        for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) {
            decode_block(b);
        }
        code_.emit(f_.is_entry ? set_.leave : set_.return_lanes, no_instruction);
        fixups_.resolve(code_);
        code_.frame_bytes = (operands_.frame_bytes() + 63) / 64 * 64;
        code_.clocks_begin = places_.clocks_begin;
        code_.clocks_end = places_.frame_bytes;
        return std::move(code_);
    }

private:
    static_assert(no_loop == program::no_loop);
    void find_meeting_blocks() {
        meets_.assign(flow_.blocks.size(), false);
        meets_within_.assign(flow_.blocks.size(), program::no_loop);
        for (const program::basic_block& b : flow_.blocks) {
            if (b.outer_meeting != program::no_block) {
                meets_[b.outer_meeting] = true;
            }
            if (b.successors.size() > 1 && b.immediate_post_dominator != program::no_block) {
                meets_[b.immediate_post_dominator] = true;
                std::uint32_t& within = meets_within_[b.immediate_post_dominator];
                within = std::min(within, b.meets_within);
                has_inner_meetings_ = has_inner_meetings_ || b.meets_within != program::no_loop;
            }
        }
        code_.loop_parents = flow_.loop_parents;
    }
    // Whether control comes from a loop that the block is not in.
    [[nodiscard]] bool leaves_loop(const program::basic_block& block) const {
        return std::any_of(block.predecessors.begin(), block.predecessors.end(), [&](std::uint32_t from) {
            const std::uint32_t loop = flow_.blocks[from].loop;
            return loop != program::no_loop && !code_.is_in_loop(block.loop, loop);
        });
    }

    // A kernel's register that this instruction alone writes, in all lanes that get here. A value that is the same for the
    // whole launch or block then needs no move: readers of the register read the value's own place. A reader above it (in
    // a loop) has been decoded already, and reads the register.
    [[nodiscard]] bool defines_once(const ptx::instruction& i, const operand& to) const {
        const unsigned bytes = to.kind == operand_kind::reg ? lane_bytes(f_, to) : 0;
        return f_.is_entry && !i.predicate && (bytes == 4 || bytes == 8) && definitions_->defines_once(at_, to.reg);
    }
    [[nodiscard]] bool moves_constant(const ptx::instruction& i, const form& fm, const instruction& d) const {
        const bool moves =
            (i.op == opcode::mov && fm.parts == 0) || (i.op == opcode::cvta && fm.space == suffix::global);
        return moves && defines_once(i, i.operands[0]) && d.width[0] == d.width[1] &&
               ((d.a & in_constants) != 0 || i.operands[1].kind == operand_kind::special);
    }

    void decode_block(std::uint32_t b) {
        const program::basic_block& block = flow_.blocks[b];
        fixups_.begin_block(b, code_.code.size());
        if (has_inner_meetings_ && leaves_loop(block)) {
            code_.emit(set_.leave_loops, block.first).more = block.loop;
            fixups_.meet_at(b, code_.code.size());
        }
        code_.block_instructions.push_back(block.last - block.first);
        if (context_.count) {
            code_.emit(meets_[b] ? set_.enter_meeting : set_.enter, block.first).more = b;
        } else if (meets_[b]) {
            code_.emit(set_.meet, block.first);
        }
        if (meets_[b]) {
            code_.code.back().e = meets_within_[b]; // enter has no operands
        }
        if (trace_) {
            trace_->begin_block(b);
        }
        for (std::uint32_t n = block.first; n < block.last; ++n) {
            if (trace_) {
                trace_->before(n);
            }
            decode_guarded(b, n);
            if (trace_) {
                trace_->after(n);
            }
        }
    }

    static bool handles_own_guard(opcode op) { return op == opcode::bra || op == opcode::ret || op == opcode::exit_; }
    // What may wait for other lanes, or makes more than one instruction, needs real divergence around it.
    static bool needs_split(const ptx::instruction& i) {
        switch (ptx::family_of(i.op)) {
        case ptx::family::async:
        case ptx::family::control:
        case ptx::family::matrix:
        case ptx::family::warp: return true;
        default: return i.space() == suffix::param || i.op == opcode::set;
        }
    }

    static bool others_notice(const ptx::instruction& i) {
        switch (ptx::family_of(i.op)) {
        case ptx::family::memory: return i.space() != suffix::param && i.space() != suffix::const_;
        case ptx::family::atomic:
        case ptx::family::matrix:
        case ptx::family::warp:
        case ptx::family::control: return true;
        default: return false;
        }
    }

    void decode_guarded(std::uint32_t b, std::uint32_t n) {
        const ptx::instruction& i = f_.instructions[n];
        if (context_.count && context_.profile != nullptr) {
            instruction& m = code_.emit(set_.count_instruction, n);
            m.more = context_.profile->first_of(f_, context_.home) + n;
            if (i.predicate && !handles_own_guard(i.op)) {
                m.e = places_.offset[i.predicate->reg];
                m.immediate = i.predicate->negated ? 1 : 0;
            }
        }
        if (context_.adversarial && others_notice(i)) {
            code_.emit(set_.schedule_point, n);
        }
        if (!i.predicate || handles_own_guard(i.op)) {
            decode_one(b, n);
            return;
        }
        const place guard = places_.offset[i.predicate->reg];
        if (needs_split(i)) {
            const std::size_t at = code_.code.size();
            instruction& skip = code_.emit(set_.skip, n);
            skip.e = guard;
            skip.more = i.predicate->negated ? 0 : 1; // lanes where the guard fails go round
            decode_one(b, n);
            fixups_.skip(at, code_.code.size());
            code_.emit(set_.meet, n);
            return;
        }
        const std::size_t at = code_.code.size();
        instruction& begin = code_.emit(set_.guard_begin, n);
        begin.e = guard;
        begin.more = i.predicate->negated ? 1 : 0;
        decode_one(b, n);
        code_.emit(set_.guard_end, n);
        code_.code[at].immediate = static_cast<std::int64_t>(code_.code.size() - at);
    }

    void decode_one(std::uint32_t b, std::uint32_t n) {
        const ptx::instruction& i = f_.instructions[n];
        at_ = n;
        if (checks_) {
            checks_->emit_products(n);
            if (const instruction follow = checks_->flow(n, places_); follow.run != nullptr) {
                code_.code.push_back(follow);
            }
        }
        switch (i.op) {
        case opcode::bra: decode_branch(b, n); return;
        case opcode::ret:
        case opcode::exit_: {
            instruction& d = code_.emit(i.op == opcode::ret && !f_.is_entry ? set_.return_lanes : set_.leave, n);
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
        if (i.op == opcode::call) {
            calls_.call(i, n);
            return;
        }
        if (calls_.access(i, n)) {
            return;
        }
        form fm = form_of(i);
        if (fm.space == suffix::param && !f_.is_entry) {
            fm.space = suffix::local; // a parameter whose address is taken
        }
        fm.register_bytes = operands_.value_bytes(i, fm);
        const handler run = choose(fm);
        if (run == nullptr) {
            code_.emit(set_.unsupported, n);
            return;
        }
        check_count(i, fm);
        check_modifiers(i, fm);
        if (i.op == opcode::mov && i.operands.size() == 2 && i.operands[1].kind == operand_kind::special) {
            const auto found = find_special(i.operands[1].name);
            if (found && found->what == special::kind::clock) {
                instruction& d = code_.emit(set_.read_clock, n);
                d.d = operands_.destination(i.operands[0]);
                d.width[0] = lane_bytes(f_, i.operands[0]);
                d.more = found->value;
                return;
            }
        }
        check_registers(f_, i, fm);
        if (i.op == opcode::mov && ptx::bytes_of(fm.type[0]) == 2 && i.operands[1].kind == operand_kind::special) {
            decode_narrow_special(n);
            return;
        }
        instruction d;
        d.run = run;
        d.source = n;
        operands_.operands_of(i, fm, d);
        if (moves_constant(i, fm, d)) {
            operands_.stands_for(i.operands[0].reg, d.a);
            return;
        }
        instruction look;
        if (checks_) {
            look = checks_->before(i, n, fm, d);
            if (look.run != nullptr) {
                checks_->emit_before(look, places_);
            }
        }
        if (trace_) {
            trace_->before_access(i, fm, d);
        }
        code_.code.push_back(d);
        if (look.run != nullptr) {
            if (const instruction behind = checks_->after(look); behind.run != nullptr) {
                code_.code.push_back(behind);
            }
        }
        if (i.op == opcode::brx) {
            note_targets(b, i);
        }
        if (i.op == opcode::set && !is_half(fm.type[1])) {
            // A predicate first, then its value.
            instruction value;
            value.run = set_.mask_to_value;
            value.source = n;
            value.d = d.d;
            value.width[0] = d.width[0];
            value.a = d.d = operands_.scratch();
            value.immediate = d.immediate;
            code_.code.back() = d;
            code_.code.push_back(value);
        }
        if ((i.op == opcode::bar || i.op == opcode::barrier) && i.has(suffix::red)) {
            instruction& r = code_.emit(set_.barrier_result, n);
            r.a = d.a;
            r.d = d.d;
            r.more = i.has(suffix::popc) ? 0 : i.has(suffix::and_) ? 1 : 2;
        }
    }

    void decode_narrow_special(std::uint32_t n) {
        const ptx::instruction& i = f_.instructions[n];
        form narrowing;
        narrowing.op = opcode::cvt;
        narrowing.type[0] = suffix::u16;
        narrowing.type[1] = suffix::u32;
        instruction d;
        d.run = set_.convert(narrowing);
        d.source = n;
        d.d = operands_.destination(i.operands[0]);
        d.a = operands_.source(i.operands[1], 4);
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
        case ptx::family::async: return set_.async(fm);
        case ptx::family::control: return set_.control(fm);
        case ptx::family::warp: return set_.warp_wide(fm);
        case ptx::family::matrix: return set_.matrix(fm);
        case ptx::family::texture: return set_.texture(fm);
        case ptx::family::video: return set_.video(fm);
        case ptx::family::unsupported: return nullptr;
        }
        return nullptr;
    }

    void decode_branch(std::uint32_t b, std::uint32_t n) {
        const ptx::instruction& i = f_.instructions[n];
        const std::uint32_t target = program::block_of_label(f_, flow_, i.operands.at(0).name);
        if (target == program::no_block) {
            throw ptx::error(i.where, "branch to '" + i.operands[0].name + "', which is no label of this function");
        }
        if (target <= b) {
            const loop closed = loop_of(f_, flow_, b, target);
            if (closed.kind == loop_kind::polling || closed.kind == loop_kind::idle) {
                code_.emit(set_.poll, n).more = static_cast<std::uint32_t>(code_.polls.size());
                code_.polls.push_back({closed.reads, may_time_out(f_, flow_, places_.of_clocks, b, target)});
            }
        }
        const std::size_t at = code_.code.size();
        if (i.predicate) {
            instruction& d = code_.emit(set_.branch, n);
            d.e = places_.offset[i.predicate->reg];
            d.more = i.predicate->negated ? 1 : 0;
            fixups_.branch(at, target, flow_.blocks[b].immediate_post_dominator, flow_.blocks[b].outer_meeting);
        } else {
            code_.emit(set_.jump, n);
            fixups_.jump(at, target);
        }
    }

    void note_targets(std::uint32_t b, const ptx::instruction& i) {
        std::vector<std::uint32_t> targets;
        for (const ptx::statement& s : f_.statements) {
            if (s.kind == ptx::statement_kind::branch_targets && i.operands.size() > 1 &&
                s.text == i.operands[1].name) {
                for (const std::string& label : s.names) {
                    targets.push_back(program::block_of_label(f_, flow_, label));
                }
            }
        }
        if (targets.empty()) {
            throw ptx::error(i.where, "indexed branch without a list of targets");
        }
        code_.code.back().more = static_cast<std::uint32_t>(targets.size());
        fixups_.indexed_branch(code_.code.size() - 1, std::move(targets), flow_.blocks[b].immediate_post_dominator);
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
        auto offset =
            static_cast<std::uint32_t>(context_.resolve(at.name).value + static_cast<std::uint64_t>(at.offset));
        const operand& to = i.operands[0];
        check_moved(f_, i, form_of(i));
        const auto one = [&](const operand& element) {
            if (element.kind != operand_kind::sink) {
                const unsigned wide = lane_bytes(f_, element);
                if (defines_once(i, element)) {
                    operands_.stands_for(element.reg, operands_.constants().parameter(offset, bytes, is_signed, wide));
                    offset += bytes;
                    return;
                }
                instruction& d = code_.emit(set_.convert(move_of(wide)), n);
                d.d = operands_.destination(element);
                d.a = operands_.constants().parameter(offset, bytes, is_signed, wide);
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
    operand_layout operands_;
    call_decoder calls_;
    std::optional<check_emitter> checks_;
    std::optional<trace_emitter> trace_;
    std::optional<register_definitions> definitions_;
    std::vector<bool> meets_;
    std::vector<std::uint32_t> meets_within_; // by block: lanes that meet there may leave this loop instead
    bool has_inner_meetings_ = false;
    fixups fixups_;
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
