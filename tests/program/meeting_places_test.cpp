// SPDX-License-Identifier: MIT
// Where lanes that part meet again: post-dominators of real bodies, early ends, endless loops.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

#include "softgpu/program/post_dominators.hpp"
#include "tests/program/body.hpp"

using namespace softgpu::program;
using namespace program_test;

namespace {

// A body, and questions to it by label.
class meeting : public testing::Test {
protected:
    body b;
    std::uint32_t p = b.reg(suffix::pred);

    [[nodiscard]] std::string place_of(const std::string& label) const {
        const control_flow flow = make_control_flow(b.function());
        const std::uint32_t place = flow.blocks.at(block_of_label(flow, label)).immediate_post_dominator;
        for (const auto& [name, block] : flow.labels) {
            if (block == place) {
                return name;
            }
        }
        return place == no_block ? "none" : "unnamed";
    }
};

TEST_F(meeting, behind_an_if) {
    b.label("if").bra("join", p).label("then").work().label("join").work().ret();
    EXPECT_EQ(place_of("if"), "join");
    EXPECT_EQ(place_of("then"), "join");
    EXPECT_EQ(place_of("join"), "none");
}

TEST_F(meeting, behind_nested_ifs_at_the_inner_one_first) {
    b.label("outer").bra("else", p).label("inner").bra("inner_join", p).work();
    b.label("inner_join").work().bra("join").label("else").work().label("join").work().ret();
    EXPECT_EQ(place_of("outer"), "join");
    EXPECT_EQ(place_of("inner"), "inner_join");
    EXPECT_EQ(place_of("inner_join"), "join");
}

TEST_F(meeting, behind_a_loop_with_break_and_continue) {
    b.label("head").bra("behind", p).label("break").bra("behind", p).label("continue").bra("head", p);
    b.label("rest").work().bra("head").label("behind").work().ret();
    EXPECT_EQ(place_of("head"), "behind");
    EXPECT_EQ(place_of("break"), "behind");
    EXPECT_EQ(place_of("continue"), "head");
    EXPECT_EQ(place_of("rest"), "head");
}

TEST_F(meeting, within_a_loop_that_others_leave) {
    b.label("head").work().bra("rest", p).label("aside").work().bra("behind", p);
    b.label("rest").work().bra("head", p).label("behind").work().ret();
    EXPECT_EQ(place_of("head"), "rest");
    EXPECT_EQ(place_of("aside"), "behind");
    EXPECT_EQ(place_of("rest"), "behind");
    const control_flow flow = make_control_flow(b.function());
    const auto at = [&](const char* label) { return flow.blocks.at(block_of_label(flow, label)); };
    EXPECT_NE(at("head").meets_within, no_loop);
    EXPECT_EQ(at("head").meets_within, at("head").loop);
    EXPECT_EQ(at("aside").meets_within, no_loop);
    EXPECT_EQ(at("behind").loop, no_loop);
}

// Both sides go round or leave: those that go round meet where it begins.
TEST_F(meeting, where_a_loop_begins_that_others_leave) {
    b.label("head").work().label("if").bra("else", p).label("then").work().bra("behind", p).bra("head");
    b.label("else").work().bra("head", p).label("behind").work().ret();
    EXPECT_EQ(place_of("if"), "head");
    EXPECT_EQ(place_of("then"), "behind");
}

// The inner loop's branch has one side that leaves it for the outer one, and the outer one is left as well.
TEST_F(meeting, within_the_outer_of_two_loops) {
    b.label("outer").work().label("inner").work().bra("next", p).label("aside").work().bra("behind", p);
    b.label("latch").work().bra("inner", p).label("next").work().bra("outer", p).label("behind").work().ret();
    EXPECT_EQ(place_of("inner"), "next");
    EXPECT_EQ(place_of("latch"), "next");
    EXPECT_EQ(place_of("aside"), "behind");
    const control_flow flow = make_control_flow(b.function());
    const std::uint32_t inner = flow.blocks.at(block_of_label(flow, "inner")).loop;
    const std::uint32_t outer = flow.blocks.at(block_of_label(flow, "outer")).loop;
    ASSERT_NE(inner, outer);
    EXPECT_EQ(flow.loop_parents.at(inner), outer);
    EXPECT_EQ(flow.loop_parents.at(outer), no_loop);
    EXPECT_EQ(flow.blocks.at(block_of_label(flow, "inner")).meets_within, outer);
}

TEST_F(meeting, behind_a_switch) {
    b.branch_targets("list", {"a", "b", "c"}).label("switch").brx(b.reg(suffix::u32), "list");
    b.label("a").work().bra("join").label("b").work().label("c").work().label("join").work().ret();
    EXPECT_EQ(place_of("switch"), "join");
    EXPECT_EQ(place_of("a"), "join");
    EXPECT_EQ(place_of("b"), "c");
    EXPECT_EQ(place_of("c"), "join");
}

TEST_F(meeting, nobody_waits_for_lanes_that_returned) {
    b.label("outer").bra("join", p).label("inner").bra("rest", p).label("early").work().ret();
    b.label("rest").work().label("join").work().add(opcode::bar).ret();
    EXPECT_EQ(place_of("outer"), "join");
    EXPECT_EQ(place_of("inner"), "rest");
    EXPECT_EQ(place_of("early"), "none");
}

TEST_F(meeting, nobody_waits_for_lanes_that_went_to_a_shared_return) {
    b.label("outer").bra("join", p).label("inner").bra("end", p).label("rest").work();
    b.label("join").work().add(opcode::bar).label("last").bra("end", p).work().label("end").ret();
    EXPECT_EQ(place_of("outer"), "join");
    EXPECT_EQ(place_of("inner"), "rest");
    EXPECT_EQ(place_of("join"), "last");
}

TEST_F(meeting, the_way_with_the_barrier_goes_on_wherever_it_stands) {
    b.label("outer").bra("join", p).label("inner").bra("early", p).label("rest").work();
    b.label("join").add(opcode::bar).work().ret().label("early").work(50).ret();
    EXPECT_EQ(place_of("outer"), "join");
    EXPECT_EQ(place_of("inner"), "rest");
    EXPECT_EQ(place_of("early"), "none");
}

TEST_F(meeting, also_on_the_way_that_does_not_go_on) {
    b.label("outer").bra("main", p);
    b.label("aside").bra("aside_join", p).label("aside_inner").bra("aside_rest", p).work().ret();
    b.label("aside_rest").work().label("aside_join").work(5).ret();
    b.label("main").work(100).ret();
    EXPECT_EQ(place_of("aside"), "aside_join");
    EXPECT_EQ(place_of("aside_inner"), "aside_rest");
    EXPECT_EQ(place_of("main"), "none");
}

TEST_F(meeting, guarded_exits_and_traps_do_not_count) {
    b.label("outer").bra("join", p).add(opcode::exit_, {}, p).work().add(opcode::trap, {}, p).work();
    b.label("join").work().ret();
    EXPECT_EQ(place_of("outer"), "join");
}

TEST_F(meeting, an_end_is_no_place_to_wait_in_a_kernel) {
    b.label("if").bra("end", p).label("then").work().label("end").ret();
    EXPECT_EQ(place_of("if"), "then");
    EXPECT_EQ(place_of("then"), "none");
}

TEST_F(meeting, lanes_of_a_called_function_come_together_at_its_return) {
    body g(false);
    const std::uint32_t q = g.reg(suffix::pred);
    g.bra("end", q).label("inner").bra("rest", q).ret().label("rest").work().label("end").ret();
    const control_flow flow = make_control_flow(g.function());
    EXPECT_EQ(flow.blocks[0].immediate_post_dominator, no_block); // two returns: at the caller's
    body one(false);
    const std::uint32_t r = one.reg(suffix::pred);
    one.bra("end", r).label("inner").add(opcode::trap, {}, r).work().label("end").ret();
    const control_flow single = make_control_flow(one.function());
    EXPECT_EQ(single.blocks[0].immediate_post_dominator, block_of_label(single, "end"));
}

TEST_F(meeting, in_an_endless_loop) {
    b.label("before").work().label("head").bra("else", p).label("then").work().bra("latch");
    b.label("else").work().label("latch").work().bra("head");
    EXPECT_EQ(place_of("before"), "head");
    EXPECT_EQ(place_of("head"), "latch");
    EXPECT_EQ(place_of("then"), "latch");
    EXPECT_EQ(place_of("latch"), "head");
}

TEST_F(meeting, in_an_endless_loop_with_two_ways_back) {
    b.label("head").bra("else", p).label("then").work().bra("head").label("else").work().bra("head");
    EXPECT_EQ(place_of("head"), "none");
    EXPECT_EQ(place_of("then"), "head");
    EXPECT_EQ(place_of("else"), "head");
}

TEST_F(meeting, beside_an_endless_loop) {
    b.label("if").bra("end", p).label("spin").bra("spin").label("end").work().ret();
    EXPECT_EQ(place_of("if"), "end");
    EXPECT_EQ(place_of("spin"), "none");
}

TEST_F(meeting, in_an_irreducible_loop) {
    b.label("before").bra("two", p).label("one").work().label("two").work().bra("one", p).label("behind").work().ret();
    EXPECT_EQ(place_of("before"), "two");
    EXPECT_EQ(place_of("one"), "two");
    EXPECT_EQ(place_of("two"), "behind");
}

// Without early ends, the meeting places are the post-dominators.
TEST(meeting_places, of_random_bodies_with_one_end) {
    std::mt19937 random(759);
    const auto below = [&](std::size_t n) { return static_cast<std::uint32_t>(random() % n); };
    for (unsigned round = 0; round < 2000; ++round) {
        const std::uint32_t size = 2 + below(14);
        std::vector<basic_block> blocks(size);
        std::vector<block_ends> ends(size);
        adjacency graph(size);
        for (std::uint32_t k = 0; k < size; ++k) {
            ends[k].weight = 1 + below(5);
        }
        ends[size - 1].dies = true;
        for (std::uint32_t e = 0; e < 2 * size; ++e) {
            const std::uint32_t from = below(size - 1);
            const std::uint32_t to = below(size);
            std::vector<std::uint32_t>& list = blocks[from].successors;
            if (std::find(list.begin(), list.end(), to) == list.end()) {
                list.push_back(to);
                blocks[to].predecessors.push_back(from);
                graph[from].push_back(to);
            }
        }
        find_meeting_places(blocks, ends);
        const std::vector<std::uint32_t> wanted = post_dominators(graph, {size - 1});
        // Blocks that reach the end; the others are endless loops, with edges among themselves only.
        std::vector<bool> reaches(size, false);
        reaches[size - 1] = true;
        for (bool changed = true; changed;) {
            changed = false;
            for (std::uint32_t k = 0; k < size; ++k) {
                for (const std::uint32_t s : graph[k]) {
                    if (reaches[s] && !reaches[k]) {
                        reaches[k] = changed = true;
                    }
                }
            }
        }
        for (std::uint32_t k = 0; k < size; ++k) {
            const std::uint32_t found = blocks[k].immediate_post_dominator;
            if (reaches[k]) {
                ASSERT_EQ(found, wanted[k]) << "round " << round << ", block " << k;
            } else {
                ASSERT_NE(found, k);
                ASSERT_TRUE(found == no_block || !reaches[found]) << "round " << round << ", block " << k;
            }
        }
    }
}

// Whatever the ends, the places form a tree: from every block they lead to the end, none twice.
TEST(meeting_places, of_random_bodies_with_any_ends_form_a_tree) {
    std::mt19937 random(587);
    const auto below = [&](std::size_t n) { return static_cast<std::uint32_t>(random() % n); };
    for (unsigned round = 0; round < 2000; ++round) {
        const std::uint32_t size = 1 + below(16);
        std::vector<basic_block> blocks(size);
        std::vector<block_ends> ends(size);
        for (std::uint32_t k = 0; k < size; ++k) {
            ends[k].weight = 1 + below(5);
            ends[k].dies = below(4) == 0;
            ends[k].returns = below(8) == 0;
        }
        for (std::uint32_t e = 0; e < 2 * size; ++e) {
            const std::uint32_t from = below(size);
            const std::uint32_t to = below(size);
            std::vector<std::uint32_t>& list = blocks[from].successors;
            if (std::find(list.begin(), list.end(), to) == list.end()) {
                list.push_back(to);
                blocks[to].predecessors.push_back(from);
            }
        }
        find_meeting_places(blocks, ends);
        bool endless = false;
        for (std::uint32_t k = 0; k < size; ++k) {
            std::uint32_t steps = 0;
            std::uint32_t at = k;
            while (at != no_block && steps <= size) {
                at = blocks[at].immediate_post_dominator;
                ++steps;
            }
            endless = endless || steps > size;
        }
        // Only endless loops may lead round.
        if (endless) {
            bool some_without_end = false;
            for (std::uint32_t k = 0; k < size; ++k) {
                std::vector<bool> seen(size, false);
                std::vector<std::uint32_t> waiting{k};
                bool ended = false;
                while (!waiting.empty()) {
                    const std::uint32_t at = waiting.back();
                    waiting.pop_back();
                    if (seen[at]) {
                        continue;
                    }
                    seen[at] = true;
                    ended = ended || ends[at].dies || ends[at].returns;
                    waiting.insert(waiting.end(), blocks[at].successors.begin(), blocks[at].successors.end());
                }
                some_without_end = some_without_end || !ended;
            }
            ASSERT_TRUE(some_without_end) << "round " << round;
        }
    }
}

} // namespace
