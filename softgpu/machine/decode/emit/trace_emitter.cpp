// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/emit/trace_emitter.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "softgpu/machine/decode/analysis/waiting_loops.hpp"
#include "softgpu/machine/decode/ptxas/block_costs.hpp"
#include "softgpu/machine/decode/ptxas/reciprocals.hpp"
#include "softgpu/machine/trace.hpp"
#include "softgpu/program/visit_registers.hpp"

namespace softgpu::machine {

using observe::instruction_class;
using ptx::opcode;
using ptx::suffix;

namespace {

bool goes_past_l1(const ptx::instruction& i) {
    return i.op == opcode::cp || i.has(suffix::cg) || i.has(suffix::volatile_) || i.has(suffix::relaxed) ||
           i.has(suffix::acquire);
}

bool adds_floats(const ptx::instruction& atomic) {
    switch (atomic.type()) {
    case suffix::f16:
    case suffix::f16x2:
    case suffix::bf16:
    case suffix::bf16x2:
    case suffix::f32:
    case suffix::f64: return atomic.has(suffix::add);
    default: return false;
    }
}

} // namespace

void trace_emitter::begin_block(std::uint32_t b) {
    const program::basic_block& block = flow_.blocks[b];
    in_waiting_loop_ = waits_[b];
    around_.reciprocals = reciprocals_before(f_, flow_, b);
    code_.block_mixes.push_back(in_waiting_loop_ ? observe::instruction_mix{}
                                                 : mix_of(f_, block.first, block.last, around_));
    const bool is_within = b < straight_end_;
    if (!is_within) {
        straight_end_ = in_waiting_loop_ ? b + 1 : straight_end(f_, flow_, b);
        bodies_ = (straight_end_ - b) / 2;
        rounds_ = unrolled_rounds(f_, flow_, b, straight_end_, merged_);
    }
    if (loads_through_l1(block)) {
        code_.emit(points_.before_loads, block.first < block.last ? block.first : no_instruction);
    }
    if (!is_within) {
        begin_piece(block.first, flow_.blocks[straight_end_ - 1].last);
    } else if (block.first < block.last && predicates_[block.first] != no_register) {
        begin_body(block);
    }
}

void trace_emitter::before(std::uint32_t n) {
    if (is_barrier_of_all(n)) {
        code_.emit(points_.before_barrier, n);
    }
}

void trace_emitter::after(std::uint32_t n) {
    if (notes_word_) {
        const ptx::instruction& i = f_.instructions[n];
        code_.emit(in_waiting_loop_ ? points_.after_poll : points_.after_release, n).more =
            std::min(ptx::bytes_of(i.type()), 8u) | (i.op == opcode::st || i.op == opcode::ld ? 0u : 1u << 8);
        notes_word_ = false;
    }
    if (acquires(f_.instructions[n])) {
        code_.emit(points_.after_acquire, n);
    }
    if (is_barrier_of_all(n)) {
        begin_piece(n, flow_.blocks[straight_end_ - 1].last);
    }
}

instruction& trace_emitter::emit_before(handler run, const instruction& decoded, std::uint64_t bytes, unsigned what) {
    instruction& t = code_.emit(run, decoded.source);
    t.e = static_cast<place>(code_.piece_cycles.size());
    const std::size_t tables = points_.tables.size();
    const double* const start = times_.starts.data() + (decoded.source - piece_first_) * tables;
    code_.piece_cycles.insert(code_.piece_cycles.end(), start, start + tables);
    t.a = decoded.a;
    t.width[1] = decoded.width[1];
    t.immediate = decoded.immediate;
    t.more = static_cast<std::uint32_t>(bytes & 0xFF) | what << 8;
    return t;
}

bool trace_emitter::counts_in_shared(const ptx::instruction& i) const {
    if ((i.op != opcode::red && i.op != opcode::atom) || !i.has(suffix::add) ||
        (i.type() != suffix::u32 && i.type() != suffix::s32)) {
        return false;
    }
    const ptx::operand& addend = i.operands.back();
    if (addend.kind != ptx::operand_kind::integer || addend.bits != 1) {
        return false;
    }
    return !is_result_read(i);
}

bool trace_emitter::is_result_read(const ptx::instruction& atomic) const {
    if (atomic.op == opcode::red || atomic.operands.front().kind != ptx::operand_kind::reg) {
        return false;
    }
    bool is_read = false;
    for (const ptx::instruction& other : f_.instructions) {
        program::visit_registers(other, [&](std::uint32_t reg, program::use how) {
            is_read = is_read || (how == program::use::read && reg == atomic.operands.front().reg);
        });
    }
    return is_read;
}

// As ptxas 13.0 compiles them for sm_75 and sm_90, one by one.
bool trace_emitter::is_added_up(const ptx::instruction& atomic) const {
    const suffix type = atomic.type();
    const bool is_wide = type == suffix::u64 || type == suffix::s64;
    const bool is_word = type == suffix::u32 || type == suffix::s32 || type == suffix::b32;
    const bool folds = atomic.has(suffix::min) || atomic.has(suffix::max) || atomic.has(suffix::and_) ||
                       atomic.has(suffix::or_) || atomic.has(suffix::xor_);
    if (!(atomic.has(suffix::add) && (is_word || is_wide)) && !(folds && is_word && !is_result_read(atomic))) {
        return false;
    }
    if (!varies_) {
        varies_ = program::varying_registers(f_, flow_);
    }
    const auto varies = [&](const ptx::operand& o) {
        return (o.has_register || o.kind == ptx::operand_kind::reg) && (*varies_)[o.reg];
    };
    return !varies(atomic.operands.at(atomic.op == opcode::red ? 0 : 1)) &&
           !(is_wide && varies(atomic.operands.back()));
}

void trace_emitter::before_access(const ptx::instruction& i, const form& fm, const instruction& decoded) {
    if (f_.instructions[decoded.source].op != i.op) {
        return; // ptxas leaves it out
    }
    if (i.op == opcode::st && (fm.has(suffix::async) || fm.has(suffix::bulk))) {
        return; // their operands are in a list
    }
    const instruction_class what = cost_of(i).what;
    if (in_waiting_loop_ ? may_share(i) : releases(i)) {
        notes_word_ = true;
        emit_before(in_waiting_loop_ ? points_.before_poll : points_.before_release, decoded, 0, 0).more = place_of(i);
    }
    if (in_waiting_loop_) {
        return;
    }
    const std::uint64_t width = std::uint64_t{ptx::bytes_of(fm.type[0])} * fm.vector;
    const wide_load& wide = wide_[decoded.source];
    if (what == instruction_class::shared_load && wide.bytes != 0) {
        emit_before(points_.before_meeting, decoded, wide.bytes, static_cast<unsigned>(meeting::joined_wavefronts))
            .width[1] = static_cast<std::uint8_t>(wide.loads);
    } else if (what == instruction_class::constant && cost_of(i).slots != 0 && wide.first == decoded.source) {
        emit_before(points_.before_meeting, decoded, width, static_cast<unsigned>(meeting::constant_words));
    } else if (i.op == opcode::match && fm.has(suffix::any)) {
        emit_before(points_.before_meeting, decoded, width, static_cast<unsigned>(meeting::match_values)).width[1] =
            static_cast<std::uint8_t>(width);
    } else if (what == instruction_class::shared_atomic && (counts_in_shared(i) || is_added_up(i))) {
        emit_before(points_.before_meeting, decoded, width, static_cast<unsigned>(meeting::shared_counts));
    } else if (is_exchange_loop(i)) {
        emit_before(points_.before_meeting, decoded, width, static_cast<unsigned>(meeting::loop_rounds));
    } else if (what == instruction_class::local && (i.op == opcode::ld || i.op == opcode::st)) {
        emit_before(points_.before_local, decoded, width,
                    static_cast<unsigned>(i.op == opcode::st ? touch::store : touch::load));
    }
    const bool moves = i.op == opcode::ld || i.op == opcode::st;
    if (points_.before_shared != nullptr && moves &&
        (what == instruction_class::shared_load || what == instruction_class::shared_store)) {
        emit_before(points_.before_shared, decoded, width,
                    static_cast<unsigned>(i.op == opcode::st ? touch::store : touch::load));
    }
    if (i.op == opcode::prefetch && fm.has(suffix::L2)) {
        emit_before(points_.before_access, decoded, 1, static_cast<unsigned>(touch::prefetch));
    }
    if (i.op == opcode::tex && decoded.places != nullptr) {
        instruction& t = emit_before(points_.before_texture, decoded, 0, 0);
        t.d = decoded.more;
        t.places = decoded.places;
        return;
    }
    if (what != instruction_class::global_load && what != instruction_class::global_store &&
        what != instruction_class::global_atomic) {
        return;
    }
    if (i.op == opcode::wmma) {
        const touch moved = i.has(suffix::store) ? touch::store : touch::load;
        instruction& t = emit_before(points_.before_fragment, decoded, 0, static_cast<unsigned>(moved));
        t.d = decoded.more;
        t.b = decoded.b;
        return;
    }
    const bool copies = i.op == opcode::cp;
    if (copies && (decoded.places == nullptr || fm.has(suffix::bulk))) {
        return; // it starts no copy, or a bulk copy, which goes past L1
    }
    const auto touch_of_atomic = [&](const ptx::instruction& atomic) {
        return adds_floats(atomic)   ? touch::atomic_of_floats
               : is_added_up(atomic) ? touch::atomic_of_warp
                                     : touch::atomic;
    };
    const touch how = what == instruction_class::global_store    ? touch::store
                      : what == instruction_class::global_atomic ? touch_of_atomic(i)
                      : goes_past_l1(i)                          ? touch::load_past_l1
                                                                 : touch::load;
    const handler run = copies                                     ? points_.before_copy
                        : moves && points_.before_lanes != nullptr ? points_.before_lanes
                                                                   : points_.before_access;
    instruction& t = emit_before(run, decoded, copies ? i.operands.at(2).bits : width, static_cast<unsigned>(how));
    if (copies) {
        t.d = decoded.more;
        t.places = decoded.places;
    }
    if (takes_work(i)) {
        t.more |= access_takes_work;
    }
}

bool trace_emitter::only_waits(std::uint32_t b) const {
    for (std::uint32_t end = b; end < flow_.blocks.size(); ++end) {
        const program::basic_block& block = flow_.blocks[end];
        const ptx::instruction* const i = block.last > block.first ? &f_.instructions[block.last - 1] : nullptr;
        if (i == nullptr || i->op != opcode::bra) {
            continue;
        }
        const std::uint32_t target = program::block_of_label(f_, flow_, i->operands.at(0).name);
        if (target <= b) {
            const loop_kind kind = loop_of(f_, flow_, end, target).kind;
            if (kind == loop_kind::polling || kind == loop_kind::idle) {
                return true;
            }
        }
    }
    return false;
}

// It counts by a constant, and how far it has come decides what the warp, or its block, does next. What is counted to store
// something there is no more than an address.
bool trace_emitter::takes_work(const ptx::instruction& atomic) const {
    if (atomic.op != opcode::atom || !(atomic.has(suffix::add) || atomic.has(suffix::inc)) ||
        atomic.operands.back().kind != ptx::operand_kind::integer ||
        atomic.operands.front().kind != ptx::operand_kind::reg) {
        return false;
    }
    std::set<std::uint32_t> copies = {atomic.operands.front().reg};
    for (std::size_t before = 0; before != copies.size();) {
        before = copies.size();
        for (const ptx::instruction& i : f_.instructions) {
            bool reads = false;
            program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
                reads = reads || (how == program::use::read && copies.contains(reg));
            });
            if (reads && (i.op == opcode::setp || (i.op == opcode::st && place_of(i) == access_of_shared &&
                                                   i.operands.back().kind == ptx::operand_kind::reg &&
                                                   copies.contains(i.operands.back().reg)))) {
                return true;
            }
            if (reads && (i.op == opcode::mov || i.op == opcode::cvt || i.op == opcode::shfl)) {
                program::visit_registers(i, [&](std::uint32_t reg, program::use how) {
                    if (how == program::use::written) {
                        copies.insert(reg);
                    }
                });
            }
        }
    }
    return false;
}

bool trace_emitter::loads_through_l1(const program::basic_block& b) const {
    return !in_waiting_loop_ && std::any_of(f_.instructions.begin() + b.first, f_.instructions.begin() + b.last,
                                            [](const ptx::instruction& i) {
                                                return cost_of(i).what == instruction_class::global_load &&
                                                       !goes_past_l1(i);
                                            });
}

bool trace_emitter::may_share(const ptx::instruction& i) {
    const bool moves = i.op == opcode::ld || i.op == opcode::st || i.op == opcode::atom || i.op == opcode::red;
    switch (cost_of(i).what) {
    case instruction_class::shared_load:
    case instruction_class::shared_store:
    case instruction_class::shared_atomic: return moves;
    case instruction_class::global_load:
    case instruction_class::global_store:
    case instruction_class::global_atomic: return moves; // counted, and a generic address may be one of shared memory
    default: return false;
    }
}

std::uint32_t trace_emitter::place_of(const ptx::instruction& i) {
    switch (i.space()) {
    case suffix::shared:
    case suffix::shared_cta: return access_of_shared;
    case suffix::global: return access_past_shared;
    default: return access_generic;
    }
}

// Other blocks see no plain store for certain, and there may be many of them.
bool trace_emitter::releases(const ptx::instruction& i) const {
    if (i.op == opcode::ld || !may_share(i)) {
        return false;
    }
    const bool is_strong =
        i.op != opcode::st || i.has(suffix::volatile_) || i.has(suffix::relaxed) || i.has(suffix::release);
    return (waits_for_shared_ && place_of(i) != access_past_shared) ||
           (waits_for_global_ && place_of(i) != access_of_shared && is_strong);
}

bool trace_emitter::is_barrier_of_all(std::uint32_t n) const {
    const ptx::instruction& i = f_.instructions[n];
    return cost_of(i).what == instruction_class::barrier && !i.predicate;
}

void trace_emitter::begin_piece(std::uint32_t first, std::uint32_t end) {
    const bool behind_barrier = cost_of(f_.instructions[first]).what == instruction_class::barrier;
    std::uint32_t last = first + (behind_barrier ? 1 : 0);
    while (last < end && cost_of(f_.instructions[last]).what != instruction_class::barrier) {
        ++last;
    }
    piece_first_ = first;
    times_ = schedule_of(f_, first, last, points_.tables, carried_, rounds_, around_);
    emit_piece(first < end ? first : no_instruction, behind_barrier, times_.cycles, times_.needs, times_.leaves);
}

// Each body takes an equal part of what all take. What it leaves is there behind the piece's end.
void trace_emitter::begin_body(const program::basic_block& block) {
    std::vector<double> cycles = times_.cycles_of_bodies;
    for (double& c : cycles) {
        c /= bodies_;
    }
    std::vector<carried_time> leaves;
    for (const carried_time& c : times_.left_by_bodies) {
        bool is_own = false;
        for (std::uint32_t n = block.first; n < block.last; ++n) {
            program::visit_registers(f_.instructions[n], [&](std::uint32_t reg, program::use how) {
                is_own =
                    is_own || (how == program::use::written && carried_.contains(reg) && carried_.at(reg) == c.number);
            });
        }
        if (is_own) {
            leaves.push_back(c);
            for (std::size_t t = 0; t < cycles.size(); ++t) {
                leaves.back().at[t] = std::max(leaves.back().at[t], 0.0) + cycles[t];
            }
        }
    }
    emit_piece(block.first, false, cycles, {}, leaves);
}

void trace_emitter::emit_piece(std::uint32_t at, bool behind_barrier, const std::vector<double>& cycles,
                               const std::vector<carried_time>& needs, const std::vector<carried_time>& leaves) {
    instruction& begin = code_.emit(points_.begin_piece, at);
    begin.more = static_cast<std::uint32_t>(code_.pieces.size());
    begin.immediate = behind_barrier ? 1 : 0;
    const auto append = [&](const std::vector<double>& all) {
        code_.piece_cycles.insert(code_.piece_cycles.end(), all.begin(), all.end());
    };
    traced_piece& piece = code_.pieces.emplace_back();
    piece.cycles = static_cast<std::uint32_t>(code_.piece_cycles.size());
    piece.carried = static_cast<std::uint32_t>(code_.piece_carried.size());
    piece.needs = static_cast<std::uint16_t>(needs.size());
    piece.leaves = static_cast<std::uint16_t>(leaves.size());
    piece.waits = in_waiting_loop_;
    code_.latency_tables = points_.tables.size();
    append(cycles);
    for (const std::vector<carried_time>* const list : {&needs, &leaves}) {
        for (const carried_time& c : *list) {
            code_.piece_carried.push_back(c.number);
            append(c.at);
        }
    }
}

} // namespace softgpu::machine
