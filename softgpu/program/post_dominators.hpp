// SPDX-License-Identifier: MIT
// Post-dominators of any graph, and of a function's blocks with the lanes in mind that end early.
#pragma once

#include <cstdint>
#include <vector>

#include "softgpu/program/program.hpp"

namespace softgpu::program {

using adjacency = std::vector<std::vector<std::uint32_t>>;

// The immediate post-dominator of every node; no_block where only the end of all is one, and for nodes from which no
// node of `ends` can be reached. Method: K. Cooper, T. Harvey, K. Kennedy, "A Simple, Fast Dominance Algorithm" (2001),
// on the reverse graph. Time is linear in practice, quadratic at worst.
[[nodiscard]] std::vector<std::uint32_t> post_dominators(const adjacency& successors,
                                                         const std::vector<std::uint32_t>& ends);

// What meeting places depend on, beside the edges.
struct block_ends {
    bool dies = false;        // lanes may end for good here
    bool returns = false;     // lanes may go back to the caller here
    bool only_dies = false;   // the block is nothing but its lanes' end
    std::uint64_t weight = 0; // how much speaks for waiting at this block
};

// Fills in basic_block::immediate_post_dominator as program.hpp says.
void find_meeting_places(std::vector<basic_block>& blocks, const std::vector<block_ends>& ends);

// Behind that: branches within a loop whose lanes would meet behind it, as some of them may leave it, meet within it, except for those
// that leave. Fills in basic_block::loop, ::meets_within, ::outer_meeting and control_flow::loop_parents, too. Indexed branches, by
// block, stay as they are.
void find_inner_meetings(control_flow& flow, const std::vector<bool>& is_indexed);

} // namespace softgpu::program
