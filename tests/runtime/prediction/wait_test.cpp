// SPDX-License-Identifier: MIT
// Predicted launches whose blocks wait for each other.
#include "tests/runtime/prediction/predicted_launch.hpp"

namespace softgpu::runtime {
namespace {

// hand_on(p, waits, rounds): the last block works at the same time as the first, or waits for its flag in p[0]. Between them
// others do nothing.
constexpr std::string_view hand_on_ptx =
    PTX_HEAD R"(.visible .entry _Z7hand_onPjii(.param .u64 p, .param .u32 waits, .param .u32 rounds)
{
    .reg .pred %p<5>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<2>;
    .reg .f32 %f<2>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %nctaid.x;
    sub.u32 %r2, %r2, 1;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r3, [waits];
    ld.param.u32 %r7, [rounds];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra WORK;
    setp.ne.u32 %p2, %r1, %r2;
    @%p2 bra END;
    setp.eq.u32 %p3, %r3, 0;
    @%p3 bra WORK;
WAIT:
    ld.relaxed.gpu.global.u32 %r4, [%rd1];
    setp.eq.u32 %p3, %r4, 0;
    @%p3 bra WAIT;
WORK:
    cvt.rn.f32.u32 %f1, %r1;
)" WORK_OF_R7 R"(    mov.u32 %r6, 1;
    st.relaxed.gpu.global.u32 [%rd1], %r6;
END:
    ret;
}
)";

// Where all blocks are on the device at once. The flag takes its way through L2.
TEST(WaitPrediction, ABlockGoesOnWhenAnotherOneSetsItsFlag) {
    const embedded_kernel hand_on(hand_on_ptx, "_Z7hand_onPjii");
    const device_bytes flag(512);
    const auto microseconds = [&](unsigned blocks, int waits, int rounds) {
        EXPECT_EQ(cudaMemset(flag.get(), 0, 512), error::success);
        return predicted(&hand_on, blocks, 32, flag.get(), waits, rounds).on("h200").microseconds;
    };
    const double launch = microseconds(2, 0, 0);
    EXPECT_NEAR((microseconds(2, 1, 4000) - launch) / (microseconds(2, 0, 4000) - launch), 2, 0.1);
    const double hop = (microseconds(2, 1, 0) - launch) * 1.97937e3; // cycles
    EXPECT_GT(hop, 280);
    EXPECT_LT(hop, 3 * 280);
    // 4224 blocks fit. Where some come after others, nobody has a common clock.
    EXPECT_GT(microseconds(4224, 1, 4000), 1.5 * microseconds(4224, 0, 4000));
    EXPECT_NEAR(microseconds(4225, 1, 4000), microseconds(4225, 0, 4000), 1);
}

// take_turns(p, pieces, rounds): blocks take pieces of work from the counter p[0]. Each waits for the flag of the piece before,
// p[1 + k], and sets its own.
constexpr std::string_view take_turns_ptx =
    PTX_HEAD R"(.visible .entry _Z10take_turnsPjii(.param .u64 p, .param .u32 pieces, .param .u32 rounds)
{
    .reg .pred %p<5>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .reg .f32 %f<2>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r3, [pieces];
    ld.param.u32 %r7, [rounds];
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra END;
    mov.u32 %r6, 1;
TAKE:
    atom.global.add.u32 %r2, [%rd1], 1;
    setp.ge.u32 %p1, %r2, %r3;
    @%p1 bra END;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra WORK;
WAIT:
    ld.relaxed.gpu.global.u32 %r4, [%rd3];
    setp.eq.u32 %p3, %r4, 0;
    @%p3 bra WAIT;
WORK:
    cvt.rn.f32.u32 %f1, %r2;
)" WORK_OF_R7 R"(    st.relaxed.gpu.global.u32 [%rd3+4], %r6;
    bra TAKE;
END:
    ret;
}
)";

// Which block has which piece is the software GPU's order. So the mean of the blocks counts, and nobody waits.
TEST(WaitPrediction, BlocksThatTakeWorkFromACounterHaveNoOrder) {
    const embedded_kernel take_turns(take_turns_ptx, "_Z10take_turnsPjii");
    const device_bytes memory(4096);
    const auto microseconds = [&](int pieces, int rounds) {
        EXPECT_EQ(cudaMemset(memory.get(), 0, 4096), error::success);
        return predicted(&take_turns, 64, 32, memory.get(), pieces, rounds).on("h200").microseconds;
    };
    // A piece has 1,600 instructions, each of which needs the one before: 3.4 us. 640 are 10 for each block.
    const double work = microseconds(640, 400) - microseconds(0, 400);
    EXPECT_GT(work, 25);
    EXPECT_LT(work, 100);
}

// take(p, pieces, rounds): the same without waits. meet(p, barriers, rounds): blocks work and meet at a barrier of the grid, so often:
// p[0] counts who has come.
constexpr std::string_view take_ptx =
    PTX_HEAD R"(.visible .entry _Z4takePjii(.param .u64 p, .param .u32 pieces, .param .u32 rounds)
{
    .reg .pred %p<5>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<2>;
    .reg .f32 %f<2>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r3, [pieces];
    ld.param.u32 %r7, [rounds];
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra END;
TAKE:
    atom.global.add.u32 %r2, [%rd1], 1;
    setp.ge.u32 %p1, %r2, %r3;
    @%p1 bra END;
    cvt.rn.f32.u32 %f1, %r2;
)" WORK_OF_R7 R"(    bra TAKE;
END:
    ret;
}
)";
constexpr std::string_view meet_ptx =
    PTX_HEAD R"(.visible .entry _Z4meetPjii(.param .u64 p, .param .u32 barriers, .param .u32 rounds)
{
    .reg .pred %p<5>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<2>;
    .reg .f32 %f<2>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r3, [barriers];
    ld.param.u32 %r7, [rounds];
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra END;
    mov.u32 %r1, %nctaid.x;
    mov.u32 %r6, 0;
    mov.u32 %r8, 0;
MEET:
    setp.ge.u32 %p1, %r8, %r3;
    @%p1 bra END;
    cvt.rn.f32.u32 %f1, %r8;
)" WORK_OF_R7 R"(    add.u32 %r6, %r6, %r1;
    add.u32 %r8, %r8, 1;
    atom.add.release.gpu.global.u32 %r2, [%rd1], 1;
WAIT:
    ld.acquire.gpu.global.u32 %r4, [%rd1];
    setp.lt.u32 %p3, %r4, %r6;
    @%p3 bra WAIT;
    bra MEET;
END:
    ret;
}
)";

double microseconds_of(const embedded_kernel& kernel, int times) {
    const device_bytes memory(512);
    EXPECT_EQ(cudaMemset(memory.get(), 0, 512), error::success);
    return predicted(&kernel, 64, 32, memory.get(), times, 400).on("h200").microseconds;
}

TEST(WaitPrediction, BlocksThatTakeWorkHaveNoOrderWithoutWaitsEither) {
    const embedded_kernel take(take_ptx, "_Z4takePjii");
    const double work = microseconds_of(take, 640) - microseconds_of(take, 0); // as above
    EXPECT_GT(work, 25);
    EXPECT_LT(work, 100);
}

// A piece of the work above with its atomic, a fence, and the way of what the last block has written.
TEST(WaitPrediction, BarriersOfTheGridComeOneAfterTheOther) {
    const embedded_kernel meet(meet_ptx, "_Z4meetPjii");
    const embedded_kernel take(take_ptx, "_Z4takePjii");
    const double work = (microseconds_of(take, 640) - microseconds_of(take, 0)) / 10;
    const double none = microseconds_of(meet, 0);
    for (const int barriers : {1, 4, 16}) {
        const double each = (microseconds_of(meet, barriers) - none) / barriers;
        EXPECT_GT(each, work) << barriers;
        EXPECT_LT(each, work + 1) << barriers;
    }
}

} // namespace
} // namespace softgpu::runtime
