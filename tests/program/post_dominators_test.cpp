// SPDX-License-Identifier: MIT
// Post-dominators of graphs, against their definition.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

#include "softgpu/program/post_dominators.hpp"

using namespace softgpu::program;

namespace {

using nodes = std::vector<std::uint32_t>;

// Whether some path leads from `from` to an end, without a step on `without`.
bool reaches_end(const adjacency& graph, const nodes& ends, std::uint32_t from, std::uint32_t without) {
    if (from == without) {
        return false;
    }
    std::vector<bool> seen(graph.size(), false);
    nodes waiting{from};
    seen[from] = true;
    while (!waiting.empty()) {
        const std::uint32_t node = waiting.back();
        waiting.pop_back();
        if (std::find(ends.begin(), ends.end(), node) != ends.end()) {
            return true;
        }
        for (const std::uint32_t next : graph[node]) {
            if (next != without && !seen[next]) {
                seen[next] = true;
                waiting.push_back(next);
            }
        }
    }
    return false;
}

bool post_dominates(const adjacency& graph, const nodes& ends, std::uint32_t d, std::uint32_t node) {
    return d == node || !reaches_end(graph, ends, node, d);
}

nodes by_definition(const adjacency& graph, const nodes& ends) {
    nodes result(graph.size(), no_block);
    for (std::uint32_t node = 0; node < graph.size(); ++node) {
        if (!reaches_end(graph, ends, node, no_block)) {
            continue;
        }
        // The immediate one is post-dominated by all the others.
        for (std::uint32_t d = 0; d < graph.size(); ++d) {
            if (d == node || !reaches_end(graph, ends, d, no_block) || !post_dominates(graph, ends, d, node)) {
                continue;
            }
            if (result[node] == no_block || post_dominates(graph, ends, result[node], d)) {
                result[node] = d;
            }
        }
    }
    return result;
}

void expect(const adjacency& graph, const nodes& ends, const nodes& wanted) {
    EXPECT_EQ(post_dominators(graph, ends), wanted);
    EXPECT_EQ(by_definition(graph, ends), wanted);
}

constexpr std::uint32_t none = no_block;

TEST(post_dominators, of_a_diamond) { expect({{1, 2}, {3}, {3}, {}}, {3}, {3, 3, 3, none}); }

TEST(post_dominators, of_nested_branches) {
    // 0 ? (1 ? 2 : 3; 4) : 5; 6
    expect({{1, 5}, {2, 3}, {4}, {4}, {6}, {6}, {}}, {6}, {6, 4, 4, 4, 6, 6, none});
}

TEST(post_dominators, of_a_loop_with_break_and_continue) {
    // 0; while (1) { if (2) break; if (3) continue; 4 } 5
    expect({{1}, {2, 5}, {5, 3}, {1, 4}, {1}, {}}, {5}, {1, 5, 5, 1, 1, none});
}

TEST(post_dominators, of_an_irreducible_loop) {
    // 0 goes into the middle of the loop 1 <-> 2; it is left from 2.
    expect({{1, 2}, {2}, {1, 3}, {}}, {3}, {2, 2, 3, none});
    // ... and left from either.
    expect({{1, 2}, {2, 3}, {1, 3}, {}}, {3}, {3, 3, 3, none});
}

TEST(post_dominators, of_a_switch_that_falls_through) {
    expect({{1, 2, 3, 4}, {4}, {3}, {4}, {}}, {4}, {4, 4, 3, 4, none});
}

TEST(post_dominators, with_two_ends) { expect({{1, 2}, {}, {3}, {}}, {1, 3}, {none, none, 3, none}); }

TEST(post_dominators, where_no_end_is_reached) { expect({{1, 3}, {2}, {1}, {}}, {3}, {3, none, none, none}); }

TEST(post_dominators, of_an_end_in_the_middle) { expect({{1}, {2}, {}}, {1, 2}, {1, none, none}); }

TEST(post_dominators, of_random_graphs) {
    std::mt19937 random(20261121);
    const auto below = [&](std::size_t n) { return static_cast<std::uint32_t>(random() % n); };
    for (unsigned round = 0; round < 3000; ++round) {
        const std::uint32_t size = 1 + below(12);
        adjacency graph(size);
        const std::uint32_t edges = below(2 * size + 1);
        for (std::uint32_t e = 0; e < edges; ++e) {
            graph[below(size)].push_back(below(size));
        }
        nodes ends{below(size)};
        if (below(3) == 0) {
            const std::uint32_t other = below(size);
            if (other != ends[0]) {
                ends.push_back(other);
            }
        }
        ASSERT_EQ(post_dominators(graph, ends), by_definition(graph, ends)) << "round " << round;
    }
}

} // namespace
