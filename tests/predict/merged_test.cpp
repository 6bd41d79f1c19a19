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
    explicit code(const std::string& text) : kernel_text(text), merged(merged_operations(f, flow)) {}

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
              1u);
    EXPECT_EQ(code("and.b32 %r4, %r1, %r2; and.b32 %r5, %r1, %r3; xor.b32 %r6, %r4, %r5; and.b32 %r7, %r2, %r3;"
                   "xor.b32 %r8, %r6, %r7; st.shared.u32 [s], %r8;")
                  .mix()[instruction_class::logic],
              1u);
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

// Instructions beside a store, as ptxas 13.0 makes them for sm_90.
unsigned instructions(const std::string& text) {
    const observe::instruction_mix mix = code(text).mix();
    unsigned all = 0;
    for (const auto what :
         {instruction_class::integer, instruction_class::logic, instruction_class::shift, instruction_class::upper,
          instruction_class::fp32, instruction_class::special, instruction_class::convert}) {
        all += static_cast<unsigned>(mix[what]);
    }
    return all;
}

TEST(Merged, LogicOf64Bits) {
    EXPECT_EQ(instructions("not.b64 %rd4, %rd1; and.b64 %rd5, %rd4, %rd2; xor.b64 %rd6, %rd5, %rd3;"
                           "st.shared.u64 [s], %rd6;"),
              2u);
}

TEST(Merged, RotationsAreShiftsOfTwoWords) {
    const std::string of_word = "shl.b32 %r4, %r1, 7; shr.u32 %r5, %r1, ";
    EXPECT_EQ(instructions(of_word + "25; or.b32 %r6, %r4, %r5; st.shared.u32 [s], %r6;"), 1u);
    EXPECT_EQ(instructions(of_word + "24; or.b32 %r6, %r4, %r5; st.shared.u32 [s], %r6;"), 3u);
    EXPECT_EQ(instructions(of_word + "25; or.b32 %r6, %r4, %r5; xor.b32 %r7, %r6, %r2; xor.b32 %r8, %r7, %r3;"
                                     "st.shared.u32 [s], %r8;"),
              2u);
    const std::string of_two = "shl.b64 %rd4, %rd1, 7; shr.b64 %rd5, %rd1, 57; ";
    EXPECT_EQ(instructions(of_two + "add.u64 %rd6, %rd4, %rd5; st.shared.u64 [s], %rd6;"), 2u);
    EXPECT_EQ(instructions(of_two + "or.b64 %rd6, %rd4, %rd5; st.shared.u64 [s], %rd6;"), 4u);
}

TEST(Merged, SumsAndExtremes) {
    EXPECT_EQ(instructions("add.s32 %r4, %r1, %r2; min.s32 %r5, %r4, %r3; st.shared.u32 [s], %r5;"), 1u);
    EXPECT_EQ(instructions("min.s32 %r4, %r1, %r2; max.s32 %r5, %r4, 0; st.shared.u32 [s], %r5;"), 1u);
    EXPECT_EQ(instructions("min.s32 %r4, %r1, %r2; max.s32 %r5, %r4, 1; st.shared.u32 [s], %r5;"), 2u);
    EXPECT_EQ(instructions("neg.s32 %r4, %r1; add.s32 %r5, %r4, %r2; st.shared.u32 [s], %r5;"), 1u);
    EXPECT_EQ(instructions("add.s64 %rd4, %rd1, %rd2; add.s64 %rd5, %rd4, %rd3; st.shared.u64 [s], %rd5;"), 2u);
    EXPECT_EQ(instructions("shl.b64 %rd4, %rd1, 2; add.s64 %rd5, %rd4, %rd3; st.shared.u64 [s], %rd5;"), 2u);
    EXPECT_EQ(instructions("cvt.s64.s32 %rd4, %r1; add.s64 %rd5, %rd4, %rd3; st.shared.u64 [s], %rd5;"), 2u);
    EXPECT_EQ(instructions("cvt.s64.s32 %rd4, %r1; shl.b64 %rd5, %rd4, 2; add.s64 %rd6, %rd5, %rd3;"
                           "st.shared.u64 [s], %rd6;"),
              3u);
}

TEST(Merged, ComparisonsOfLogicWithZero) {
    const std::string chosen = " selp.b32 %r5, %r2, %r3, %p1; st.shared.u32 [s], %r5;";
    EXPECT_EQ(instructions("and.b32 %r4, %r1, %r2; setp.eq.s32 %p1, %r4, 0;" + chosen), 2u);
    EXPECT_EQ(instructions("and.b32 %r4, %r1, 1; setp.eq.s32 %p1, %r4, 1;" + chosen), 3u);
    EXPECT_EQ(instructions("and.b32 %r4, %r1, %r2; setp.lt.s32 %p1, %r4, 0;" + chosen), 3u);
}

TEST(Merged, SignsOfFloatsAreOperands) {
    EXPECT_EQ(instructions("neg.f32 %f4, %f1; mul.f32 %f5, %f4, %f2; add.f32 %f6, %f4, %f5; st.shared.f32 [s], %f6;"),
              2u);
    EXPECT_EQ(instructions("abs.f32 %f4, %f1; cvt.rzi.s32.f32 %r4, %f4; st.shared.u32 [s], %r4;"), 1u);
    EXPECT_EQ(instructions("abs.f32 %f4, %f1; st.shared.f32 [s], %f4;"), 1u);
    EXPECT_EQ(instructions("add.f32 %f4, %f1, %f2; cvt.sat.f32.f32 %f5, %f4; st.shared.f32 [s], %f5;"), 1u);
    EXPECT_EQ(instructions("cvt.rmi.f32.f32 %f4, %f1; cvt.rzi.s32.f32 %r4, %f4; st.shared.u32 [s], %r4;"), 1u);
}

TEST(Merged, MasksOfLoadedBytes) {
    const std::string stored = " st.shared.u32 [s], %r5;";
    EXPECT_EQ(instructions("ld.shared.u8 %rs1, [s]; cvt.u32.u16 %r4, %rs1; and.b32 %r5, %r4, 255;" + stored), 0u);
    EXPECT_EQ(instructions("ld.shared.u16 %rs1, [s]; cvt.u32.u16 %r4, %rs1; and.b32 %r5, %r4, 255;" + stored), 1u);
    EXPECT_EQ(instructions("ld.shared.u8 %rs1, [s]; cvt.u32.u16 %r4, %rs1; cvt.s32.s8 %r5, %r4;" + stored), 1u);
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
