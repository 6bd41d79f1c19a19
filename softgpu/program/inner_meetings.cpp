// SPDX-License-Identifier: MIT
// Lanes that part within a loop and stay in it meet within it, also where others leave: ptxas makes a convergence barrier there, which
// those that leave give up (BREAK).
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "softgpu/program/post_dominators.hpp"
#include "softgpu/program/program.hpp"

namespace softgpu::program {

namespace {

struct loop {
    std::uint32_t header = 0;
    std::vector<bool> has; // by block
    std::size_t blocks = 0;
};

// Edges back to a block that is on the way to them.
std::vector<std::pair<std::uint32_t, std::uint32_t>> back_edges(const std::vector<basic_block>& blocks) {
    enum class state : std::uint8_t { fresh, open, done };
    std::vector<state> states(blocks.size(), state::fresh);
    std::vector<std::pair<std::uint32_t, std::size_t>> stack{{0, 0}}; // block, next successor
    std::vector<std::pair<std::uint32_t, std::uint32_t>> back;
    states[0] = state::open;
    while (!stack.empty()) {
        const auto [block, next] = stack.back();
        if (next == blocks[block].successors.size()) {
            states[block] = state::done;
            stack.pop_back();
            continue;
        }
        ++stack.back().second;
        const std::uint32_t to = blocks[block].successors[next];
        if (states[to] == state::fresh) {
            states[to] = state::open;
            stack.emplace_back(to, 0);
        } else if (states[to] == state::open) {
            back.emplace_back(block, to);
        }
    }
    return back;
}

// Whether control enters the loop by its header alone.
bool has_one_entry(const std::vector<basic_block>& blocks, const loop& l) {
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
        const bool is_inside = l.has[b] && b != l.header;
        const auto& before = blocks[b].predecessors;
        if (is_inside && (b == 0 || std::any_of(before.begin(), before.end(), [&](auto p) { return !l.has[p]; }))) {
            return false;
        }
    }
    return true;
}

// Small ones first. Two have no block in common, or one has all of the other.
std::vector<loop> loops_of(const std::vector<basic_block>& blocks) {
    std::vector<loop> loops;
    for (const auto& [from, header] : back_edges(blocks)) {
        auto at = std::find_if(loops.begin(), loops.end(), [h = header](const loop& l) { return l.header == h; });
        if (at == loops.end()) {
            at = loops.insert(loops.end(), loop{header, std::vector<bool>(blocks.size()), 1});
            at->has[header] = true;
        }
        std::vector<std::uint32_t> next{from};
        while (!next.empty()) {
            const std::uint32_t b = next.back();
            next.pop_back();
            if (!at->has[b]) {
                at->has[b] = true;
                ++at->blocks;
                next.insert(next.end(), blocks[b].predecessors.begin(), blocks[b].predecessors.end());
            }
        }
    }
    std::erase_if(loops, [&](const loop& l) { return !has_one_entry(blocks, l); });
    std::sort(loops.begin(), loops.end(), [](const loop& a, const loop& b) { return a.blocks < b.blocks; });
    return loops;
}

// Where lanes meet that stay in the loop, by block: in front of its header at the latest.
std::vector<std::uint32_t> meetings_within(const std::vector<basic_block>& blocks, const loop& l) {
    std::vector<std::uint32_t> chosen;
    std::vector<std::uint32_t> number(blocks.size(), no_block);
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
        if (l.has[b]) {
            number[b] = static_cast<std::uint32_t>(chosen.size());
            chosen.push_back(b);
        }
    }
    const auto end = static_cast<std::uint32_t>(chosen.size());
    adjacency within(chosen.size() + 1);
    for (std::uint32_t k = 0; k < chosen.size(); ++k) {
        for (const std::uint32_t s : blocks[chosen[k]].successors) {
            if (l.has[s]) {
                within[k].push_back(s == l.header ? end : number[s]);
            }
        }
    }
    const std::vector<std::uint32_t> found = post_dominators(within, {end});
    std::vector<std::uint32_t> meetings(blocks.size(), no_block);
    for (std::uint32_t k = 0; k < chosen.size(); ++k) {
        meetings[chosen[k]] = found[k] == no_block ? no_block : found[k] == end ? l.header : chosen[found[k]];
    }
    return meetings;
}

} // namespace

void find_inner_meetings(control_flow& flow, const std::vector<bool>& is_indexed) {
    const std::vector<loop> loops = loops_of(flow.blocks);
    for (std::uint32_t n = 0; n < loops.size(); ++n) {
        const loop& l = loops[n];
        std::optional<std::vector<std::uint32_t>> within;
        for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
            basic_block& block = flow.blocks[b];
            if (l.has[b] && block.loop == no_loop) {
                block.loop = n;
            }
            const std::uint32_t outside = block.immediate_post_dominator;
            const bool stays =
                std::all_of(block.successors.begin(), block.successors.end(), [&](auto s) { return l.has[s]; });
            if (!l.has[b] || block.successors.size() < 2 || is_indexed[b] || !stays || block.meets_within != no_loop ||
                (outside != no_block && l.has[outside])) {
                continue;
            }
            within = within ? std::move(within) : meetings_within(flow.blocks, l);
            if (const std::uint32_t place = (*within)[b]; place != no_block && place != b) {
                block.outer_meeting = outside;
                block.immediate_post_dominator = place;
                block.meets_within = n;
            }
        }
        const auto outer =
            std::find_if(loops.begin() + n + 1, loops.end(), [&](const loop& o) { return o.has[l.header]; });
        flow.loop_parents.push_back(outer == loops.end() ? no_loop : static_cast<std::uint32_t>(outer - loops.begin()));
    }
}

} // namespace softgpu::program
