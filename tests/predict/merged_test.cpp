// SPDX-License-Identifier: MIT
// Operations that ptxas merges, divisions that share a reciprocal, units of a scheduler: as ptxas 13.0 does for sm_90, and an H200.
#include <string>

#include <gtest/gtest.h>

#include "softgpu/machine/decode/ptxas/merged.hpp"
#include "softgpu/machine/decode/ptxas/reciprocals.hpp"
#include "softgpu/machine/decode/ptxas/schedule.hpp"
#include "tests/predict/kernel_text.hpp"

namespace softgpu::machine {
namespace {

using observe::instruction_class;

struct code : kernel_text {
    explicit code(const std::string& text) : kernel_text(text), merged(merged_into_later(f, flow)) {}

    // Machine instructions of a block.
    [[nodiscard]] observe::instruction_mix mix(std::uint32_t block = 0) const {
        const surroundings around{reciprocals_before(f, flow, block), &merged};
        return mix_of(f, flow.blocks[block].first, flow.blocks[block].last, around);
    }
    [[nodiscard]] double cycles(const observe::latency_table& t) const {
        const surroundings around{{}, &merged};
        return schedule_of(f, 0, flow.blocks[0].last - 1, {&t, 1}, carried_registers_of(f), 1, around).cycles[0];
    }

    std::vector<bool> merged;
};

observe::latency_table table(double all) {
    observe::latency_table t;
    t.of.fill(all);
    return t;
}

// SHA-256's choice has three operands: one LOP3.
TEST(Merged, LogicOfThreeWordsIsOneInstruction) {
    EXPECT_EQ(code("and.b32 %r4, %r1, %r2; not.b32 %r5, %r1; and.b32 %r6, %r5, %r3; xor.b32 %r7, %r4, %r6;"
                   "st.shared.u32 [s], %r7;")
                  .mix()[instruction_class::logic],
              2u); // %r1 counts twice
    EXPECT_EQ(
        code("xor.b32 %r4, %r1, %r2; xor.b32 %r5, %r4, %r3; st.shared.u32 [s], %r5;").mix()[instruction_class::logic],
        1u);
    EXPECT_EQ(code("xor.b32 %r4, %r1, %r2; xor.b32 %r5, %r4, %r3; xor.b32 %r6, %r5, %r8; st.shared.u32 [s], %r6;")
                  .mix()[instruction_class::logic],
              2u);
}

TEST(Merged, WhatAnotherOneReadsStays) {
    const char* const text = "xor.b32 %r4, %r1, %r2; xor.b32 %r5, %r4, %r3; st.shared.u32 [s], %r5;";
    EXPECT_EQ(code(std::string(text) + "st.shared.u32 [s+4], %r4;").mix()[instruction_class::logic], 2u);
    EXPECT_EQ(code("@%p1 xor.b32 %r4, %r1, %r2; xor.b32 %r5, %r4, %r3; st.shared.u32 [s], %r5;")
                  .mix()[instruction_class::logic],
              2u);
}

TEST(Merged, SumsOfThreeAndOfAShiftedWord) {
    EXPECT_EQ(
        code("add.u32 %r4, %r1, %r2; add.u32 %r5, %r4, %r3; st.shared.u32 [s], %r5;").mix()[instruction_class::integer],
        1u);
    const observe::instruction_mix shifted =
        code("shl.b32 %r4, %r1, 3; add.u32 %r5, %r4, %r3; st.shared.u32 [s], %r5;").mix();
    EXPECT_EQ(shifted[instruction_class::shift], 0u);
    EXPECT_EQ(shifted[instruction_class::integer], 1u);
    EXPECT_EQ(
        code("shl.b32 %r4, %r1, %r2; add.u32 %r5, %r4, %r3; st.shared.u32 [s], %r5;").mix()[instruction_class::shift],
        1u); // by a register
}

TEST(Reciprocals, TheSecondDivisionByANumberHasItsReciprocal) {
    const observe::instruction_mix both =
        code("div.u32 %r4, %r1, %r2; div.u32 %r5, %r3, %r2; st.shared.u32 [s], %r4; st.shared.u32 [s+4], %r5;").mix();
    EXPECT_EQ(both[instruction_class::special], 3u);
    EXPECT_EQ(both[instruction_class::integer], 18u - 3 + 9);
    const observe::instruction_mix changed =
        code("div.u32 %r4, %r1, %r2; add.u32 %r2, %r2, 1; div.u32 %r5, %r3, %r2; st.shared.u32 [s], %r4;"
             "st.shared.u32 [s+4], %r5;")
            .mix();
    EXPECT_EQ(changed[instruction_class::special], 6u);
}

TEST(Reciprocals, ALoopThatKeepsItsDivisorHasThemBefore) {
    const auto in_loop = [](const std::string& divisor) {
        return code("LOOP: rem.u32 %r1, %r1, " + divisor +
                    "; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r4; @%p1 bra LOOP; st.shared.u32 [s], %r1;")
            .mix()[instruction_class::special];
    };
    EXPECT_EQ(in_loop("%r2"), 0u);
    EXPECT_EQ(in_loop("%r3"), 3u); // which counts
}

TEST(Reciprocals, ABlockBehindAnotherOneThatDivides) {
    const std::string text = "div.u32 %r4, %r1, %r2; setp.lt.u32 %p1, %r4, 5; @%p1 bra END; rem.u32 %r5, %r3, %r2;"
                             "st.shared.u32 [s], %r5; END: st.shared.u32 [s+4], %r4;";
    EXPECT_EQ(code(text).mix(0)[instruction_class::special], 3u);
    EXPECT_EQ(code(text).mix(1)[instruction_class::special], 0u);
}

// A predicate is there for a selection after the latency, for an instruction that it lets begin later.
TEST(Units, APredicateTakesLongerToLetAnInstructionBegin) {
    observe::latency_table t = table(4);
    t.guard = 10;
    EXPECT_EQ(code("setp.lt.u32 %p1, %r1, %r2; selp.b32 %r3, %r1, %r2, %p1;").cycles(t), 5);
    EXPECT_EQ(code("setp.lt.u32 %p1, %r1, %r2; @%p1 add.u32 %r3, %r1, %r2;").cycles(t), 15);
}

// Logic and shifts share a unit, additions may have another one.
TEST(Units, OneInstructionAfterTheOther) {
    observe::latency_table t = table(4);
    t.busy[instruction_class::logic] = 2;
    t.busy[instruction_class::shift] = 2;
    t.busy[instruction_class::integer] = 1;
    EXPECT_EQ(code("xor.b32 %r4, %r1, %r2; xor.b32 %r5, %r1, %r3; shl.b32 %r6, %r1, %r2;").cycles(t), 5);
    EXPECT_EQ(code("add.u32 %r4, %r1, %r2; add.u32 %r5, %r1, %r3; add.u32 %r6, %r1, 7;").cycles(t), 3);
}

// Sixteen bytes of each lane are four turns of shared memory.
TEST(Units, AWideLoadTakesTurns) {
    observe::latency_table t = table(20);
    t.turn = 2;
    EXPECT_EQ(code("ld.shared.u32 %r1, [s]; add.u32 %r5, %r1, 1;").cycles(t), 21);
    EXPECT_EQ(code("ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [s]; add.u32 %r5, %r1, 1;").cycles(t), 21 + 6);
}

// Atomics of floats and of 64 bits on shared memory are loops of exchanges; exchanges themselves are not.
TEST(Units, AtomicsThatTheHardwareHasNotAreLoops) {
    const auto is_loop = [](const std::string& text) {
        const code c(text);
        return is_exchange_loop(c.f.instructions.front());
    };
    EXPECT_TRUE(is_loop("red.shared.add.f32 [s], 0f3F800000;"));
    EXPECT_TRUE(is_loop("atom.shared.add.u64 %rd1, [s], %rd2;"));
    EXPECT_FALSE(is_loop("atom.shared.add.u32 %r1, [s], %r2;"));
    EXPECT_FALSE(is_loop("atom.shared.exch.b64 %rd1, [s], %rd2;"));
    EXPECT_FALSE(is_loop("red.global.add.f32 [%rd1], 0f3F800000;"));
}

} // namespace
} // namespace softgpu::machine
