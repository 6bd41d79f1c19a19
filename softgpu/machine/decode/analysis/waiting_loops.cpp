// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/analysis/waiting_loops.hpp"

#include <algorithm>
#include <cstdint>

namespace softgpu::machine {

namespace {

using ptx::opcode;
using ptx::suffix;

constexpr std::size_t most_blocks = 32; // of a loop that waits
enum class effect : std::uint8_t { none, reads, writes };

bool is_zero(const ptx::instruction& i) {
    return !i.operands.empty() && i.operands.back().kind == ptx::operand_kind::integer && i.operands.back().bits == 0;
}

effect effect_of(const ptx::instruction& i) {
    switch (i.op) {
    case opcode::ld:
    case opcode::ldu: return i.space() == suffix::param || i.space() == suffix::const_ ? effect::none : effect::reads;
    case opcode::atom: {
        // What fails to change memory when it finds what it waits for missing: cas, exch of the same, an add of nothing.
        const bool looks = i.has(suffix::cas) || i.has(suffix::exch) || i.has(suffix::or_) ||
                           ((i.has(suffix::add) || i.has(suffix::max)) && is_zero(i));
        return looks ? effect::reads : effect::writes;
    }
    case opcode::membar:
    case opcode::fence:
    case opcode::nanosleep:
    case opcode::pmevent:
    case opcode::bra:
    case opcode::brx:
    case opcode::ret:
    case opcode::exit_:
    case opcode::trap:
    case opcode::prefetch:
    case opcode::prefetchu: return effect::none;
    default: break;
    }
    switch (ptx::family_of(i.op)) {
    case ptx::family::arithmetic:
    case ptx::family::logic:
    case ptx::family::compare:
    case ptx::family::convert:
    case ptx::family::warp: return effect::none;
    default: return effect::writes; // or it waits, or calls
    }
}

} // namespace

loop loop_of(const ptx::function& f, const program::control_flow& flow, std::uint32_t from, std::uint32_t to) {
    // All that leads to `from` without coming by `to`.
    std::vector<std::uint32_t> body{to};
    if (from != to) {
        body.push_back(from);
    }
    for (std::size_t n = 1; n < body.size(); ++n) {
        for (const std::uint32_t before : flow.blocks[body[n]].predecessors) {
            if (std::find(body.begin(), body.end(), before) == body.end()) {
                body.push_back(before);
            }
        }
        if (body.size() > most_blocks) {
            return {loop_kind::other, {}};
        }
    }
    loop found{loop_kind::idle, {}};
    for (const std::uint32_t b : body) {
        for (std::uint32_t n = flow.blocks[b].first; n < flow.blocks[b].last; ++n) {
            switch (effect_of(f.instructions[n])) {
            case effect::none: break;
            case effect::reads: found.reads.push_back(n); break;
            case effect::writes: return {loop_kind::other, {}};
            }
        }
    }
    // A loop that goes through memory waits for nothing; one without memory ends when its registers say so.
    std::size_t other_than_branches = 0;
    for (const std::uint32_t b : body) {
        for (std::uint32_t n = flow.blocks[b].first; n < flow.blocks[b].last; ++n) {
            other_than_branches += f.instructions[n].op == opcode::bra ? 0 : 1;
            for (const std::uint32_t reg : program::registers_of(f.instructions[n]).written) {
                for (const std::uint32_t read : found.reads) {
                    for (const ptx::operand& o : f.instructions[read].operands) {
                        if (o.kind == ptx::operand_kind::address && o.has_register && o.reg == reg) {
                            return {loop_kind::other, {}};
                        }
                    }
                }
            }
        }
    }
    if (found.reads.empty() && other_than_branches != 0) {
        return {loop_kind::other, {}};
    }
    std::sort(found.reads.begin(), found.reads.end());
    found.kind = found.reads.empty() ? loop_kind::idle : loop_kind::polling;
    return found;
}

} // namespace softgpu::machine
