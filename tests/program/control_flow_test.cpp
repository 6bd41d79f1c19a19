// SPDX-License-Identifier: MIT
// Blocks, their edges and their labels.
#include <gtest/gtest.h>

#include "softgpu/program/program.hpp"
#include "tests/message_of.hpp"
#include "tests/program/body.hpp"

using namespace softgpu::program;
using namespace program_test;

namespace {

using blocks = std::vector<std::uint32_t>;

TEST(control_flow, of_an_empty_body_is_one_block_that_leaves) {
    const control_flow flow = make_control_flow(body().function());
    ASSERT_EQ(flow.blocks.size(), 1u);
    EXPECT_TRUE(flow.blocks[0].leaves);
    EXPECT_TRUE(flow.blocks[0].successors.empty());
    EXPECT_TRUE(flow.block_of_instruction.empty());
}

TEST(control_flow, straight_code_is_one_block) {
    body b;
    b.work(3).add(opcode::bar).add(opcode::shfl).add(opcode::call, {symbol_operand("g")}).ret();
    const control_flow flow = make_control_flow(b.function());
    ASSERT_EQ(flow.blocks.size(), 1u);
    EXPECT_EQ(flow.blocks[0].last, 7u);
    EXPECT_TRUE(flow.blocks[0].leaves);
}

TEST(control_flow, branches_have_the_target_first) {
    body b;
    const std::uint32_t p = b.reg(suffix::pred);
    b.work().bra("else", p).work(2).bra("end").label("else").work().label("end").ret();
    const control_flow flow = make_control_flow(b.function());
    ASSERT_EQ(flow.blocks.size(), 4u);
    EXPECT_EQ(flow.blocks[0].successors, (blocks{2, 1}));
    EXPECT_EQ(flow.blocks[1].successors, (blocks{3}));
    EXPECT_EQ(flow.blocks[2].successors, (blocks{3}));
    EXPECT_EQ(flow.blocks[3].predecessors, (blocks{1, 2}));
    EXPECT_EQ(flow.block_of_instruction, (blocks{0, 0, 1, 1, 1, 2, 3}));
    EXPECT_EQ(block_of_label(flow, "else"), 2u);
    EXPECT_EQ(block_of_label(b.function(), flow, "end"), 3u);
    EXPECT_EQ(block_of_label(flow, "nowhere"), no_block);
    EXPECT_FALSE(flow.blocks[0].leaves);
    EXPECT_TRUE(flow.blocks[3].leaves);
}

TEST(control_flow, a_branch_to_what_follows_is_one_edge) {
    body b;
    const std::uint32_t p = b.reg(suffix::pred);
    b.bra("next", p).label("next").ret();
    const control_flow flow = make_control_flow(b.function());
    EXPECT_EQ(flow.blocks[0].successors, (blocks{1}));
    EXPECT_EQ(flow.blocks[1].predecessors, (blocks{0}));
}

TEST(control_flow, guarded_leaving_goes_on_as_well) {
    body b;
    const std::uint32_t p = b.reg(suffix::pred);
    b.add(opcode::exit_, {}, p).work().add(opcode::trap, {}, p).ret();
    const control_flow flow = make_control_flow(b.function());
    ASSERT_EQ(flow.blocks.size(), 3u);
    EXPECT_TRUE(flow.blocks[0].leaves);
    EXPECT_EQ(flow.blocks[0].successors, (blocks{1}));
    EXPECT_TRUE(flow.blocks[1].leaves);
    EXPECT_EQ(flow.blocks[1].successors, (blocks{2}));
}

TEST(control_flow, a_body_may_run_off_its_end_or_end_with_a_label) {
    body off;
    const std::uint32_t p = off.reg(suffix::pred);
    off.work().ret(p);
    const control_flow flow = make_control_flow(off.function());
    ASSERT_EQ(flow.blocks.size(), 1u);
    EXPECT_TRUE(flow.blocks[0].leaves);
    EXPECT_TRUE(flow.blocks[0].successors.empty());

    body label;
    const std::uint32_t q = label.reg(suffix::pred);
    label.bra("end", q).work().label("end").label("also");
    const control_flow with_label = make_control_flow(label.function());
    ASSERT_EQ(with_label.blocks.size(), 3u);
    EXPECT_EQ(with_label.blocks[2].first, with_label.blocks[2].last);
    EXPECT_TRUE(with_label.blocks[2].leaves);
    EXPECT_EQ(block_of_label(with_label, "end"), 2u);
    EXPECT_EQ(block_of_label(with_label, "also"), 2u);
    EXPECT_EQ(with_label.blocks[0].successors, (blocks{2, 1}));
}

TEST(control_flow, indirect_branches_take_their_list) {
    body b;
    const std::uint32_t index = b.reg(suffix::u32);
    b.branch_targets("list", {"two", "one", "two", "end"});
    b.brx(index, "list").label("one").work().bra("end").label("two").work().label("end").ret();
    const control_flow flow = make_control_flow(b.function());
    EXPECT_EQ(flow.blocks[0].successors, (blocks{2, 1, 3}));
    EXPECT_EQ(flow.blocks[3].predecessors, (blocks{0, 1, 2}));
}

TEST(control_flow, blocks_that_nothing_reaches_stay) {
    body b;
    b.ret().work().ret();
    const control_flow flow = make_control_flow(b.function());
    ASSERT_EQ(flow.blocks.size(), 2u);
    EXPECT_TRUE(flow.blocks[1].predecessors.empty());
}

std::string message_of(const body& b) {
    return warpfold::tests::message_of<softgpu::ptx::error>([&] { (void)make_control_flow(b.function()); });
}

TEST(control_flow, says_what_is_missing_and_where) {
    body b;
    b.work().bra("nowhere").ret();
    EXPECT_EQ(message_of(b), "2:1: branch to label 'nowhere', which is not there");
    body indirect;
    indirect.brx(indirect.reg(suffix::u32), "list").ret();
    EXPECT_EQ(message_of(indirect), "1:1: brx to list 'list', which is not there");
    body list;
    list.branch_targets("list", {"gone"}).brx(list.reg(suffix::u32), "list").ret();
    EXPECT_EQ(message_of(list), "0:0: branch to label 'gone', which is not there");
    body twice;
    twice.label("a").work().label("a").ret();
    EXPECT_EQ(message_of(twice), "0:0: label 'a' is defined more than once");
    body bare;
    bare.add(opcode::bra).ret();
    EXPECT_EQ(message_of(bare), "1:1: bra names no label to branch to");
}

} // namespace
