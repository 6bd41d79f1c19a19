// SPDX-License-Identifier: MIT
// Ifs whose bodies ptxas gives predicates, the time that such code takes, and how far registers let loads come early.
#include <string>

#include <gtest/gtest.h>

#include "softgpu/machine/decode/ptxas/merged.hpp"
#include "softgpu/machine/decode/ptxas/predicated.hpp"
#include "softgpu/machine/decode/ptxas/schedule.hpp"
#include "softgpu/machine/decode/ptxas/unrolling.hpp"
#include "softgpu/program/register_pressure.hpp"
#include "tests/predict/kernel_text.hpp"

namespace softgpu::machine {
namespace {

using observe::instruction_class;

struct code : kernel_text {
    explicit code(const std::string& text)
        : kernel_text(text), predicates(given_predicates(f, flow)), pressure(f, flow) {}

    // Of the blocks from the first one to `end`. A load takes 500 cycles, everything else 4.
    [[nodiscard]] schedule times(std::uint32_t end, unsigned rounds = 1) const {
        observe::latency_table t;
        t.of.fill(4);
        t[instruction_class::global_load] = 500;
        surroundings around;
        around.predicates = &predicates;
        around.pressure = &pressure;
        return schedule_of(f, 0, flow.blocks[end - 1].last, {&t, 1}, carried_registers_of(f), rounds, around);
    }

    std::vector<std::uint32_t> predicates;
    program::register_pressure pressure;
};

std::string if_that_loads(const std::string& number, const std::string& body = "") {
    return "setp.lt.s32 %p" + number + ", %r" + number + ", 0;\n@%p" + number + " bra BEHIND" + number +
           ";\nld.global.f32 %f" + number + ", [%rd1];\nfma.rn.f32 %f9, %f" + number + ", %f8, %f9;\n" + body +
           "BEHIND" + number + ":\n";
}

TEST(Predicated, IfsThatLoadAreStraightCode) {
    const code c(if_that_loads("1") + if_that_loads("2") + "add.f32 %f9, %f9, %f7;\n");
    EXPECT_EQ(straight_end(c.f, c.flow, 0), 5u);
    EXPECT_EQ(c.predicates[0], no_register);
    EXPECT_EQ(c.predicates[2], c.f.instructions[1].predicate->reg);
    EXPECT_EQ(c.predicates[4], no_register);
}

TEST(Predicated, BodiesWithOtherThingsHaveABranch) {
    const auto end = [](const std::string& body) {
        const code c(if_that_loads("1", body) + "add.f32 %f9, %f9, %f7;\n");
        return straight_end(c.f, c.flow, 0);
    };
    EXPECT_EQ(end("add.f32 %f9, %f9, %f7;\n"), 3u);
    EXPECT_EQ(end("st.global.f32 [%rd1], %f9;\n"), 1u);
    EXPECT_EQ(end("@%p3 add.f32 %f9, %f9, %f7;\n"), 1u);
    EXPECT_EQ(end("div.rn.f32 %f9, %f9, %f7;\n"), 1u);
}

TEST(Predicated, WhatOthersJumpToBeginsAnew) {
    const std::string loop = "BEHIND1:\nadd.s32 %r3, %r3, 1;\nsetp.lt.s32 %p3, %r3, %r4;\n@%p3 bra BEHIND1;\n";
    std::string text = if_that_loads("1");
    text.resize(text.find("BEHIND1:"));
    const code c(text + loop);
    EXPECT_EQ(straight_end(c.f, c.flow, 0), 2u);
}

// The loads of both ifs are on their way at once. Where no body is entered, nobody waits for a load.
TEST(Predicated, LoadsOfSeveralIfsWaitOnce) {
    const code c(if_that_loads("1") + if_that_loads("2") + "st.shared.f32 [%r5], %f9;\n");
    const schedule s = c.times(5);
    EXPECT_LT(s.cycles[0], 30);
    EXPECT_GT(s.cycles[0] + s.cycles_of_bodies[0], 500);
    EXPECT_LT(s.cycles[0] + s.cycles_of_bodies[0], 530);
}

TEST(Predicated, LoopsOfIfsAreUnrolled) {
    const code c("LOOP:\nld.global.u32 %r1, [%rd2];\n" + if_that_loads("1") +
                 "add.s64 %rd1, %rd1, 4;\nadd.s64 %rd2, %rd2, 4;\nadd.s32 %r3, %r3, 1;\n"
                 "setp.lt.s32 %p3, %r3, %r4;\n@%p3 bra LOOP;\n");
    ASSERT_EQ(straight_end(c.f, c.flow, 0), 3u);
    ASSERT_EQ(unrolled_rounds(c.f, c.flow, 0, 3, merged_operations(c.f, c.flow)), 4u);
    // Two loads, one after the other: of four rounds side by side.
    const schedule four = c.times(3, 4);
    EXPECT_LT(4 * (four.cycles[0] + four.cycles_of_bodies[0]), 1100);
    const schedule one = c.times(3);
    EXPECT_GT(one.cycles[0] + one.cycles_of_bodies[0], 1000);
}

// 60 loads and their sum: 32 registers have 24 of them on their way.
TEST(Predicated, RegistersLimitTheLoadsInFront) {
    std::string sums;
    for (int k = 10; k < 70; ++k) {
        const std::string f = std::to_string(k);
        const std::string load = "ld.global.f32 %f" + f + ", [%rd1+" + std::to_string(4 * k) + "];\n";
        const std::string sum = "add.f32 %f1, %f1, %f" + f + ";\n";
        sums += load;
        sums += sum;
    }
    const std::string begin = "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nld.param.u64 %rd3, [a];\n"
                              "add.s64 %rd1, %rd3, %rd2;\nmov.f32 %f1, 0f00000000;\n";
    const code c(begin + sums + "st.global.f32 [%rd1], %f1;\n");
    const double all = c.times(1).cycles[0];
    EXPECT_GT(all, 2 * 500);
    EXPECT_LT(all, 4 * 500);
}

} // namespace
} // namespace softgpu::machine
