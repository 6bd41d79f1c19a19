// SPDX-License-Identifier: MIT
#include "softgpu/machine/decode/analysis/waiting_loops.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace softgpu::machine {

namespace {

using ptx::opcode;
using ptx::suffix;

constexpr std::size_t most_blocks = 32; // of a loop that waits
constexpr std::uint32_t no_writer = ~std::uint32_t{0};
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
    // What it completes has been asked for before.
    case opcode::mbarrier: return i.has(suffix::test_wait) || i.has(suffix::try_wait) ? effect::reads : effect::writes;
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

using block_list = std::vector<std::uint32_t>;

// Blocks that reach `last` without passing `header`, and `header` itself, first. nullopt: one of them is the function's first
// block, so that control comes to `last` past `header` too.
std::optional<block_list> between(const program::control_flow& flow, std::uint32_t header, std::uint32_t last) {
    std::vector<bool> seen(flow.blocks.size());
    block_list found{header};
    seen[header] = true;
    const auto add = [&](std::uint32_t b) {
        if (!seen[b]) {
            seen[b] = true;
            found.push_back(b);
        }
    };
    add(last);
    for (std::size_t n = 1; n < found.size(); ++n) {
        if (found[n] == 0) {
            return std::nullopt;
        }
        for (const std::uint32_t before : flow.blocks[found[n]].predecessors) {
            add(before);
        }
    }
    return found;
}

// The loop that is entered at `header`: all ways back to it. Empty: there is none.
block_list loop_at(const program::control_flow& flow, std::uint32_t header) {
    block_list body;
    for (const std::uint32_t before : flow.blocks[header].predecessors) {
        for (const std::uint32_t b : between(flow, header, before).value_or(block_list{})) {
            if (std::find(body.begin(), body.end(), b) == body.end()) {
                body.push_back(b);
            }
        }
    }
    return body;
}

// The blocks of the innermost loop that the branch from block `from` to block `to` closes; empty: it is too large. nvcc
// enters some loops at their test, which stands between `to` and `from`.
block_list body_of(const program::control_flow& flow, std::uint32_t from, std::uint32_t to) {
    if (const auto plain = between(flow, to, from)) {
        return plain->size() <= most_blocks ? *plain : block_list{};
    }
    block_list smallest;
    for (std::uint32_t header = to + 1; header <= from && from - to < most_blocks; ++header) {
        const block_list body = loop_at(flow, header);
        const auto has = [&](std::uint32_t b) { return std::find(body.begin(), body.end(), b) != body.end(); };
        if (body.size() <= most_blocks && has(from) && has(to) && (smallest.empty() || body.size() < smallest.size())) {
            smallest = body;
        }
    }
    return smallest;
}

// Whether the instruction gives the same result in every round if what it reads is the same.
bool repeats(const ptx::instruction& i) {
    const ptx::family family = ptx::family_of(i.op);
    const bool computes = family == ptx::family::arithmetic || family == ptx::family::logic ||
                          family == ptx::family::compare || family == ptx::family::convert;
    const bool special = std::any_of(i.operands.begin(), i.operands.end(),
                                     [](const ptx::operand& o) { return o.kind == ptx::operand_kind::special; });
    return computes && !special && !i.predicate;
}

// Registers of a loop whose value may change from round to round.
std::unordered_set<std::uint32_t> changing_registers(const ptx::function& f, const program::control_flow& flow,
                                                     const block_list& body) {
    std::unordered_set<std::uint32_t> changing;
    std::unordered_map<std::uint32_t, std::uint32_t> writer; // the only one
    for (const std::uint32_t b : body) {
        for (std::uint32_t n = flow.blocks[b].first; n < flow.blocks[b].last; ++n) {
            for (const std::uint32_t reg : program::registers_of(f.instructions[n]).written) {
                changing.insert(reg);
                const bool again = !writer.emplace(reg, n).second;
                if (again || !repeats(f.instructions[n])) {
                    writer[reg] = no_writer;
                }
            }
        }
    }
    for (bool more = true; more;) {
        more = false;
        for (const auto& [reg, n] : writer) {
            if (n == no_writer || changing.count(reg) == 0) {
                continue;
            }
            const auto read = program::registers_of(f.instructions[n]).read;
            if (std::none_of(read.begin(), read.end(), [&](std::uint32_t r) { return changing.count(r) != 0; })) {
                changing.erase(reg);
                more = true;
            }
        }
    }
    return changing;
}

// Whether time alone may end the loop `body`, whose first block is its header.
class time_limits {
public:
    time_limits(const ptx::function& f, const program::control_flow& flow, const std::vector<bool>& of_clocks,
                const block_list& body)
        : f_(f),
          flow_(flow),
          of_clocks_(of_clocks),
          body_(body),
          in_body_(flow.blocks.size(), false),
          by_time_(flow.blocks.size(), false) {
        for (const std::uint32_t b : body) {
            in_body_[b] = true;
        }
    }

    [[nodiscard]] bool found() {
        find_blocks_by_time();
        for (const std::uint32_t b : body_) {
            const program::basic_block& block = flow_.blocks[b];
            const bool leaves = block.leaves || std::any_of(block.successors.begin(), block.successors.end(),
                                                            [&](std::uint32_t next) { return !in_body_[next]; });
            if (leaves && (by_time_[b] || branches_by_time(b))) {
                return true;
            }
            if (!by_time_[b] && !branches_by_time(b) && (leaves || block.successors.size() > 1)) {
                decides(f_.instructions[block.last - 1]);
            }
        }
        return written_by_time();
    }

private:
    [[nodiscard]] bool branches_by_time(std::uint32_t b) const {
        const program::basic_block& block = flow_.blocks[b];
        if (block.first == block.last || (!block.leaves && block.successors.size() < 2)) {
            return false;
        }
        const auto read = program::registers_of(f_.instructions[block.last - 1]).read;
        return std::any_of(read.begin(), read.end(), [&](std::uint32_t reg) { return of_clocks_[reg]; });
    }
    // Blocks that a round passes or not, as a clock says: those that a branch by it leads to, and another way from there to the
    // next round leads around.
    void find_blocks_by_time() {
        for (const std::uint32_t branch : body_) {
            if (branches_by_time(branch)) {
                for (const std::uint32_t b : ways_from(branch, program::no_block).blocks) {
                    by_time_[b] = by_time_[b] || ways_from(branch, b).reach_header;
                }
            }
        }
    }
    struct ways {
        block_list blocks; // of the loop, behind its header
        bool reach_header = false;
    };
    // From the end of a block on, around `avoided`.
    [[nodiscard]] ways ways_from(std::uint32_t branch, std::uint32_t avoided) const {
        ways found;
        std::vector<bool> seen(flow_.blocks.size());
        const auto add = [&](std::uint32_t b) {
            for (const std::uint32_t next : flow_.blocks[b].successors) {
                found.reach_header = found.reach_header || next == body_.front();
                if (in_body_[next] && next != body_.front() && next != avoided && !seen[next]) {
                    seen[next] = true;
                    found.blocks.push_back(next);
                }
            }
        };
        add(branch);
        for (std::size_t n = 0; n < found.blocks.size(); ++n) {
            add(found.blocks[n]);
        }
        return found;
    }
    void decides(const ptx::instruction& i) {
        for (const std::uint32_t reg : program::registers_of(i).read) {
            deciding_.insert(reg);
        }
    }
    // Whether what decides over branches may have been written in such a block.
    [[nodiscard]] bool written_by_time() {
        for (std::size_t before = 0; before != deciding_.size();) {
            before = deciding_.size();
            for (const std::uint32_t b : body_) {
                for (std::uint32_t n = flow_.blocks[b].first; n < flow_.blocks[b].last; ++n) {
                    const program::access of = program::registers_of(f_.instructions[n]);
                    if (std::none_of(of.written.begin(), of.written.end(),
                                     [&](std::uint32_t reg) { return deciding_.count(reg) != 0; })) {
                        continue;
                    }
                    if (by_time_[b]) {
                        return true;
                    }
                    deciding_.insert(of.read.begin(), of.read.end());
                }
            }
        }
        return std::any_of(deciding_.begin(), deciding_.end(), [&](std::uint32_t reg) { return of_clocks_[reg]; });
    }

    const ptx::function& f_;
    const program::control_flow& flow_;
    const std::vector<bool>& of_clocks_;
    const block_list& body_;
    std::vector<bool> in_body_, by_time_;
    std::unordered_set<std::uint32_t> deciding_; // registers
};

} // namespace

bool may_time_out(const ptx::function& f, const program::control_flow& flow, const std::vector<bool>& of_clocks,
                  std::uint32_t from, std::uint32_t to) {
    if (std::find(of_clocks.begin(), of_clocks.end(), true) == of_clocks.end()) {
        return false;
    }
    const block_list body = body_of(flow, from, to);
    return !body.empty() && time_limits(f, flow, of_clocks, loop_at(flow, body.front())).found(); // by all ways back
}

loop loop_of(const ptx::function& f, const program::control_flow& flow, std::uint32_t from, std::uint32_t to) {
    const block_list body = body_of(flow, from, to);
    loop found{body.empty() ? loop_kind::other : loop_kind::idle, {}};
    std::size_t other_than_branches = 0;
    for (const std::uint32_t b : body) {
        for (std::uint32_t n = flow.blocks[b].first; n < flow.blocks[b].last; ++n) {
            other_than_branches += f.instructions[n].op == opcode::bra ? 0 : 1;
            switch (effect_of(f.instructions[n])) {
            case effect::none: break;
            case effect::reads: found.reads.push_back(n); break;
            case effect::writes: return {loop_kind::other, {}};
            }
        }
    }
    if (found.reads.empty()) { // one without memory ends when its registers say so
        return {other_than_branches == 0 ? found.kind : loop_kind::other, {}};
    }
    // A loop that goes through memory waits for nothing.
    const auto changing = changing_registers(f, flow, body);
    for (const std::uint32_t read : found.reads) {
        for (const ptx::operand& o : f.instructions[read].operands) {
            if (o.kind == ptx::operand_kind::address && o.has_register && changing.count(o.reg) != 0) {
                return {loop_kind::other, {}};
            }
        }
    }
    std::sort(found.reads.begin(), found.reads.end());
    found.kind = loop_kind::polling;
    return found;
}

} // namespace softgpu::machine
