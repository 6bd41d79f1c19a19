// SPDX-License-Identifier: MIT
// Predicted atomics at one word. prediction_test.cpp, of the same process, names the cards.
#include <string>

#include <gtest/gtest.h>

#include "tests/runtime/prediction/predicted_launch.hpp"

namespace softgpu::runtime {
namespace {

constexpr unsigned blocks = 500;
constexpr unsigned threads = 256;
constexpr double h200_gigahertz = 1.97937;

// `instruction` at [%rd1], the parameter, or at [%rd2], which is the same address, as ptxas cannot know.
double cycles(const std::string& instruction) {
    const std::string ptx = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry _Z3addPji(.param .u64 at, .param .u32 mask)
{
    .reg .u32 %r<5>;
    .reg .f32 %f1;
    .reg .u64 %rd<4>;
    ld.param.u64 %rd1, [at];
    ld.param.u32 %r1, [mask];
    mov.u32 %r2, %tid.x;
    and.b32 %r3, %r2, %r1;
    mad.wide.u32 %rd2, %r3, 4, %rd1;
    cvt.rn.f32.u32 %f1, %r3;
    )" + instruction + R"(
    ret;
}
)";
    const embedded_kernel add(ptx, "_Z3addPji");
    const device_bytes word(8);
    return predicted(&add, blocks, threads, word.get(), 0).on("h200").microseconds * 1e3 * h200_gigahertz -
           2592 * h200_gigahertz;
}

// atomics_one_address 0.690264 and atomics_one_float 0.287 of h200.json.
TEST(Atomics, OfOneWordComeOneAfterTheOther) {
    constexpr double lanes = blocks * threads;
    EXPECT_NEAR(cycles("red.global.add.u32 [%rd2], %r2;") / (lanes / 0.690264), 1, 0.05);
    EXPECT_NEAR(cycles("red.global.add.f32 [%rd2], %f1;") / (lanes / 0.287), 1, 0.05);
    EXPECT_NEAR(cycles("red.global.add.f32 [%rd1], %f1;") / (lanes / 0.287), 1, 0.05);
}

// A thirty-second of the atomics is left, which takes less than the rest of the kernel.
TEST(Atomics, OfIntegersAtAnAddressOfTheWarpAreAddedUpFirst) {
    constexpr double one_by_one = blocks * threads / 0.690264;
    for (const char* const added_up :
         {"red.global.add.u32 [%rd1], %r2;", "red.global.max.s32 [%rd1], %r2;",
          "atom.global.add.u32 %r4, [%rd1], %r2; st.global.u32 [%rd2], %r4;", "red.global.add.u64 [%rd1], 1;"}) {
        EXPECT_LT(cycles(added_up), one_by_one / 8) << added_up;
    }
    for (const char* const single :
         {"red.global.add.u64 [%rd1], %rd2;", "red.global.inc.u32 [%rd1], 7;", "atom.global.exch.b32 %r4, [%rd1], 1;",
          "atom.global.max.s32 %r4, [%rd1], %r2; st.global.u32 [%rd2], %r4;"}) {
        EXPECT_GE(cycles(single), one_by_one * 0.95) << single;
    }
}

} // namespace
} // namespace softgpu::runtime
