// SPDX-License-Identifier: MIT
// Which loops ptxas unrolls, as ptxas 13.0 does for sm_90.
#include <string>

#include <gtest/gtest.h>

#include "softgpu/machine/decode/ptxas/merged.hpp"
#include "softgpu/machine/decode/ptxas/unrolling.hpp"
#include "softgpu/program/program.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {
namespace {

// A loop of so many loads of each kind, and multiply-adds; `bound`: a register or a number.
unsigned rounds_of(unsigned global_loads, unsigned shared_loads, unsigned products, const std::string& bound,
                   const std::string& inside = "",
                   const std::string& count = "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, ",
                   const std::string& before = "") {
    std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
                       ".reg .pred %p<2>; .reg .f32 %f<7>; .reg .f64 %fd<3>; .reg .b32 %r<3>; .reg .b64 %rd<2>;\n" +
                       before + "LOOP:\n";
    for (unsigned k = 0; k < global_loads; ++k) {
        text += "ld.global.f32 %f1, [%rd1];\n";
    }
    for (unsigned k = 0; k < shared_loads; ++k) {
        text += "ld.shared.f32 %f1, [%r2];\n";
    }
    for (unsigned k = 0; k < products; ++k) {
        text += "fma.rn.f32 %f2, %f2, %f1, %f3;\n";
    }
    text += inside + count + bound + ";\n@%p1 bra LOOP;\nret;\n}\n";
    const ptx::module m = ptx::parse(text);
    const ptx::function& f = m.functions.front();
    const program::control_flow flow = program::make_control_flow(f);
    for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
        if (flow.blocks[b].last - flow.blocks[b].first >= products + 3) {
            return unrolled_rounds(f, flow, b, b + 1, merged_operations(f, flow));
        }
    }
    return 0;
}

TEST(Unrolling, SmallLoopsGoByFourRounds) {
    EXPECT_EQ(rounds_of(0, 0, 18, "%r2"), 4u);
    EXPECT_EQ(rounds_of(0, 0, 24, "%r2"), 1u);
    EXPECT_EQ(rounds_of(1, 0, 40, "%r2"), 4u);
    EXPECT_EQ(rounds_of(1, 0, 48, "%r2"), 1u);
    EXPECT_EQ(rounds_of(0, 1, 16, "%r2"), 4u);
    EXPECT_EQ(rounds_of(0, 1, 24, "%r2"), 1u);
    EXPECT_EQ(rounds_of(0, 4, 24, "%r2"), 4u);
}

TEST(Unrolling, LoopsOfAKnownNumberOfRoundsMayBeLarger) {
    EXPECT_EQ(rounds_of(0, 0, 64, "64"), 4u);
    EXPECT_EQ(rounds_of(2, 0, 64, "64"), 4u);
    EXPECT_EQ(rounds_of(0, 0, 80, "64"), 1u);
    EXPECT_EQ(rounds_of(2, 0, 80, "64"), 1u);
}

// From a constant to a constant: as many rounds as have 345 machine instructions, at most all.
TEST(Unrolling, RoundsThatAreCountedFromAConstantAreAllThatFit) {
    const auto rounds = [](const std::string& begin, const std::string& step, const std::string& bound) {
        return rounds_of(1, 0, 30, bound, "", "add.s32 %r1, %r1, " + step + ";\nsetp.ne.s32 %p1, %r1, ",
                         "mov.b32 %r1, " + begin + ";\n");
    };
    EXPECT_EQ(rounds("0", "1", "1000"), 345u / 34);
    EXPECT_EQ(rounds("-4000", "4", "0"), 345u / 34);
    EXPECT_EQ(rounds("10", "-2", "-2"), 6u);
    EXPECT_EQ(rounds("0", "4", "7"), 2u);
    EXPECT_EQ(rounds("%r2", "1", "1000"), 4u);
    EXPECT_EQ(rounds("0", "1", "%r2"), 4u);
}

TEST(Unrolling, LoopsMayCountInFloats) {
    EXPECT_EQ(rounds_of(1, 0, 2, "%f5", "", "add.f32 %f4, %f4, 0f3DCCCCCD;\nsetp.lt.f32 %p1, %f4, "), 4u);
    EXPECT_EQ(rounds_of(1, 0, 2, "%fd2", "", "add.f64 %fd1, %fd1, 0d3FF0000000000000;\nsetp.lt.f64 %p1, %fd1, "), 4u);
    EXPECT_EQ(rounds_of(1, 0, 2, "%f5", "", "add.f32 %f4, %f4, %f6;\nsetp.lt.f32 %p1, %f4, "), 1u);
    EXPECT_EQ(rounds_of(1, 0, 2, "%f5", "", "mul.f32 %f4, %f4, 0f3FCCCCCD;\nsetp.lt.f32 %p1, %f4, "), 1u);
}

TEST(Unrolling, LoopsThatFetchFromTexturesMayBeLarger) {
    const std::string fetch = "tex.2d.v4.f32.f32 {%f1, %f4, %f5, %f6}, [%rd1, {%f2, %f3}];\n";
    EXPECT_EQ(rounds_of(0, 0, 60, "%r2", fetch), 4u);
    EXPECT_EQ(rounds_of(0, 0, 60, "%r2"), 1u);
}

TEST(Unrolling, FencesAndBarriersKeepALoopAsItIs) {
    EXPECT_EQ(rounds_of(1, 0, 2, "64", "membar.gl;\n"), 1u);
    EXPECT_EQ(rounds_of(1, 0, 2, "64", "bar.sync 0;\n"), 1u);
    EXPECT_EQ(rounds_of(1, 0, 2, "64", "st.release.gpu.global.f32 [%rd1], %f1;\n"), 1u);
}

} // namespace
} // namespace softgpu::machine
