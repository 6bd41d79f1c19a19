// SPDX-License-Identifier: MIT
// ldmatrix, stmatrix, wmma.load and wmma.store under the checks.
#include "tests/check/check_fixture.hpp"

namespace softgpu::test {
namespace {

const launch_options warp{.block = {32}};
const launch_options two_warps{.block = {64}};
const std::string room = ".shared .align 128 .b8 s[4096];";
// %r4: the lane's own row of 16 bytes in s; %rd4: its 16 bytes of p1.
const std::string begin = "mov.u32 %r3, %tid.x; mov.u32 %r7, s; shl.b32 %r4, %r3, 4; add.u32 %r4, %r4, %r7;\n"
                          "mul.wide.u32 %rd4, %r3, 16; add.u64 %rd4, %rd4, %p1; mov.u32 %r9, 5; mov.u32 %r10, 5;\n"
                          "and.b32 %r6, %r3, 31; shl.b32 %r5, %r6, 4; add.u32 %r5, %r5, %r7;\n";
const std::string write_row = "st.shared.v4.u32 [%r4], {%r3, %r3, %r3, %r3};\n";
const std::string load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r11, %r12, %r13, %r14}, [%r5];\n";
const std::string store = "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r5], {%r9, %r10};\n";
const std::string warp_barrier = "bar.warp.sync 0xffffffff;\n";
const std::string barrier = "bar.sync 0;\n";

TEST_F(Check, RowsOfMatricesInOrder) {
    expect_none(begin + write_row + warp_barrier + load, warp, {}, room);
    expect_none(begin + write_row + barrier + load + barrier + write_row, two_warps, {}, room);
    expect_none(begin + write_row + load, warp, {}, room); // each row by the lane that wrote it
    // stmatrix by one warp, read by the other behind the barrier.
    expect_none(begin + "setp.lt.u32 %q0, %r3, 32; @!%q0 bra JOIN;\n" + store + "JOIN:\n" + barrier + load, two_warps,
                {}, room);
}

TEST_F(Check, RowsOfMatricesWithoutOrder) {
    // Rows that another warp writes, without a barrier; of x2 only 16 lanes give rows.
    expect_one(shared_race, begin + write_row + load, two_warps, {}, room);
    expect_one(shared_race, begin + write_row + barrier + load + write_row, two_warps, {}, room);
    expect_one(shared_race, begin + "setp.lt.u32 %q0, %r3, 32; @!%q0 bra JOIN;\n" + store + "JOIN:\n" + load, two_warps,
               {}, room);
    // A row that another lane of the warp has written, without __syncwarp().
    expect_one(shared_race,
               begin + write_row +
                   "xor.b32 %r8, %r5, 16;\n"
                   "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r11, %r12, %r13, %r14}, [%r8];\n",
               warp, {}, room);
}

const std::string wmma_load = "wmma.load.c.sync.aligned.row.m16n16k16";
const std::string eight = "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}";
const std::string zero_eight = "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n"
                               "mov.f32 %f4, %f0; mov.f32 %f5, %f0; mov.f32 %f6, %f0; mov.f32 %f7, %f0;\n";

TEST_F(Check, FragmentsOfMatrices) {
    const std::uint64_t in = zeros(1024);
    expect_none(begin + wmma_load + ".global.f32 " + eight + ", [%p1];\n", warp, {0, in}, room);
    // All of the matrix has to be written.
    const auto found = run(begin + wmma_load + ".global.f32 " + eight + ", [%p1];\n", warp, {0, unwritten(1024)}, room);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].kind, "read of unwritten memory");
    const std::string write =
        zero_eight + "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r7], " + eight + ", 16;\n";
    const std::string read = wmma_load + ".shared.f32 " + eight + ", [%r7], 16;\n";
    const std::string first = "setp.lt.u32 %q0, %r3, 32; @!%q0 bra JOIN;\n";
    expect_none(begin + first + write + "JOIN:\n" + barrier + read, two_warps, {}, room);
    expect_one(shared_race, begin + first + write + "JOIN:\n" + read, two_warps, {}, room);
    // Two blocks store to one matrix.
    expect_one("race in global memory",
               begin + zero_eight +
                   "add.f32 %f0, %f0, 0f3F800000;\n"
                   "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%p1], " +
                   eight + ";\n",
               {.grid = {2}, .block = {32}, .workers = 1}, {0, in}, room);
}

// Lanes that come to the instruction from two calls have waited for each other there as well: a lane may write the row that
// another gave.
TEST_F(Check, MatricesOrderLanesThatComeApart) {
    const std::string function = ".func g(.param .b32 x) { .reg .b32 %a, %b; ld.param.b32 %a, [x];\n"
                                 "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%b}, [%a]; ret; }\n";
    const std::string calls = "{ .param .b32 x; st.param.b32 [x], %r5; setp.lt.u32 %q0, %r3, 5; @%q0 bra LOW;\n"
                              "call g, (x); bra JOIN;\nLOW: call g, (x);\nJOIN: }\n";
    const std::string elsewhere = "xor.b32 %r8, %r4, 64; st.shared.u32 [%r8+4], %r3;\n";
    expect_none(begin + write_row + warp_barrier + calls + elsewhere, warp, {}, room + function);
}

} // namespace
} // namespace softgpu::test
