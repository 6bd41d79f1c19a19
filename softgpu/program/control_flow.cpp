// SPDX-License-Identifier: MIT
// Basic blocks and the edges between them.
#include <algorithm>
#include <cstdint>
#include <map>

#include "softgpu/program/post_dominators.hpp"
#include "softgpu/program/program.hpp"

namespace softgpu::program {

namespace {

// A barrier inside a region outweighs any number of instructions that a body can have.
constexpr std::uint64_t barrier_weight = std::uint64_t{1} << 32;

bool is_branch(const ptx::instruction& i) { return i.op == ptx::opcode::bra || i.op == ptx::opcode::brx; }

bool is_leaving(const ptx::instruction& i) {
    return i.op == ptx::opcode::ret || i.op == ptx::opcode::exit_ || i.op == ptx::opcode::trap;
}

bool is_barrier(const ptx::instruction& i) { return i.op == ptx::opcode::bar || i.op == ptx::opcode::barrier; }

using label_places = std::vector<std::pair<std::string, std::uint32_t>>; // sorted by name

// Labels, each with the instruction that it stands before.
label_places labels_of(const ptx::function& f) {
    label_places labels;
    auto next = static_cast<std::uint32_t>(0);
    for (const ptx::statement& s : f.statements) {
        if (s.kind == ptx::statement_kind::instruction) {
            next = s.index + 1;
        } else if (s.kind == ptx::statement_kind::label) {
            labels.emplace_back(s.text, next);
        }
    }
    std::sort(labels.begin(), labels.end());
    const auto twice = std::adjacent_find(labels.begin(), labels.end(),
                                          [](const auto& a, const auto& b) { return a.first == b.first; });
    if (twice != labels.end()) {
        throw ptx::error(f.body_where, "label '" + twice->first + "' is defined more than once");
    }
    return labels;
}

const std::uint32_t* find(const label_places& labels, std::string_view name) {
    const auto at = std::lower_bound(labels.begin(), labels.end(), name,
                                     [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
    return at != labels.end() && at->first == name ? &at->second : nullptr;
}

std::uint32_t place_of(const label_places& labels, const std::string& name, ptx::location where) {
    const std::uint32_t* const place = find(labels, name);
    if (place == nullptr) {
        throw ptx::error(where, "branch to label '" + name + "', which is not there");
    }
    return *place;
}

const ptx::operand& symbol_of(const ptx::instruction& i, std::size_t nth) {
    if (i.operands.size() <= nth || i.operands[nth].kind != ptx::operand_kind::symbol) {
        throw ptx::error(i.where, std::string(ptx::name_of(i.op)) + " names no " +
                                      (nth == 0 ? "label to branch to" : "list of labels"));
    }
    return i.operands[nth];
}

using branch_lists = std::map<std::string_view, const ptx::statement*>;

// The instructions to which a branch may go.
std::vector<std::uint32_t> targets_of(const ptx::instruction& i, const label_places& labels,
                                      const branch_lists& lists) {
    if (i.op == ptx::opcode::bra) {
        const ptx::operand& target = symbol_of(i, 0);
        return {place_of(labels, target.name, i.where)};
    }
    const ptx::operand& list = symbol_of(i, 1);
    const auto found = lists.find(list.name);
    if (found == lists.end()) {
        throw ptx::error(i.where, "brx to list '" + list.name + "', which is not there");
    }
    std::vector<std::uint32_t> targets;
    for (const std::string& name : found->second->names) {
        targets.push_back(place_of(labels, name, found->second->where));
    }
    return targets;
}

void add_edge(std::vector<basic_block>& blocks, std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t>& successors = blocks[from].successors;
    // A long list repeats its targets often; predecessors come in order of `from`, so the last one tells.
    if (!blocks[to].predecessors.empty() && blocks[to].predecessors.back() == from) {
        return;
    }
    successors.push_back(to);
    blocks[to].predecessors.push_back(from);
}

} // namespace

control_flow make_control_flow(const ptx::function& f) {
    control_flow flow;
    flow.labels = labels_of(f);
    branch_lists lists;
    for (const ptx::statement& s : f.statements) {
        if (s.kind == ptx::statement_kind::branch_targets) {
            lists.emplace(s.text, &s);
        }
    }

    const auto count = static_cast<std::uint32_t>(f.instructions.size());
    std::vector<bool> begins(count + 1, false);
    begins[0] = true;
    for (const auto& [name, place] : flow.labels) {
        begins[place] = true;
    }
    for (std::uint32_t k = 0; k < count; ++k) {
        const ptx::instruction& i = f.instructions[k];
        if ((is_branch(i) || is_leaving(i)) && k + 1 < count) {
            begins[k + 1] = true;
        }
    }
    flow.block_of_instruction.resize(count);
    for (std::uint32_t k = 0; k <= count; ++k) {
        if (begins[k]) {
            if (!flow.blocks.empty()) {
                flow.blocks.back().last = k;
            }
            flow.blocks.emplace_back().first = k;
        }
        if (k < count) {
            flow.block_of_instruction[k] = static_cast<std::uint32_t>(flow.blocks.size() - 1);
        }
    }
    flow.blocks.back().last = count;
    const auto block_at = [&](std::uint32_t place) {
        return place < count ? flow.block_of_instruction[place] : static_cast<std::uint32_t>(flow.blocks.size() - 1);
    };

    std::vector<block_ends> ends(flow.blocks.size());
    for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
        basic_block& block = flow.blocks[b];
        bool goes_on = true;
        ends[b].weight = block.last - block.first + 1;
        if (block.first != block.last) {
            const ptx::instruction& i = f.instructions[block.last - 1];
            if (is_branch(i)) {
                for (const std::uint32_t target : targets_of(i, flow.labels, lists)) {
                    add_edge(flow.blocks, b, block_at(target));
                }
            }
            if (is_leaving(i)) {
                block.leaves = true;
                (i.op == ptx::opcode::ret && !f.is_entry ? ends[b].returns : ends[b].dies) = true;
                ends[b].only_dies = ends[b].dies && block.last - block.first == 1 && !i.predicate;
            }
            goes_on = i.predicate.has_value() || !(is_branch(i) || is_leaving(i));
        }
        if (goes_on && b + 1 < flow.blocks.size()) {
            add_edge(flow.blocks, b, b + 1);
        } else if (goes_on) {
            block.leaves = true;
            (f.is_entry ? ends[b].dies : ends[b].returns) = true;
            ends[b].only_dies = f.is_entry && block.first == block.last;
        }
        for (std::uint32_t k = block.first; k < block.last; ++k) {
            ends[b].weight += is_barrier(f.instructions[k]) ? barrier_weight : 0;
        }
    }
    for (auto& [name, place] : flow.labels) {
        place = block_at(place);
    }
    find_meeting_places(flow.blocks, ends);
    std::vector<bool> is_indexed;
    for (const basic_block& block : flow.blocks) {
        is_indexed.push_back(block.first != block.last && f.instructions[block.last - 1].op == ptx::opcode::brx);
    }
    find_inner_meetings(flow, is_indexed);
    return flow;
}

std::uint32_t block_of_label(const control_flow& flow, std::string_view label) noexcept {
    const std::uint32_t* const block = find(flow.labels, label);
    return block == nullptr ? no_block : *block;
}

std::uint32_t block_of_label(const ptx::function&, const control_flow& flow, std::string_view label) {
    return block_of_label(flow, label);
}

} // namespace softgpu::program
