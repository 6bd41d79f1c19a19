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

// Two warps store the same matrices to one place; `own` differs from warp to warp.
TEST_F(Check, RowsOfMatricesWithTheSameValues) {
    const auto findings = [&](const std::string& first, const std::string& form) {
        return run(begin + "shr.u32 %r11, %r3, 5; mov.u32 %r9, " + first + "; mov.u32 %r10, %r6;\n" +
                       "stmatrix.sync.aligned.m8n8.x2" + form + ".shared.b16 [%r5], {%r9, %r10};\n",
                   two_warps, {}, room);
    };
    for (const std::string form : {"", ".trans"}) {
        const auto same = findings("%r6", form);
        ASSERT_EQ(same.size(), 1u) << form;
        EXPECT_TRUE(same[0].is_note) << form;
        const auto other = findings("%r11", form);
        ASSERT_FALSE(other.empty()) << form;
        EXPECT_FALSE(other[0].is_note) << form;
        EXPECT_EQ(other[0].accesses.at(0).value.value_or("").size(), 2u + 32) << form;
    }
    EXPECT_EQ(findings("%r11", "")[0].accesses.at(0).value, "0x00000001000000010000000100000001");
    EXPECT_EQ(findings("%r11", "")[0].accesses.at(1).value, "0x00000000000000000000000000000000");
    EXPECT_EQ(findings("%r11", ".trans")[0].accesses.at(0).value, "0x00010001000100010001000100010001");
}

// Halves of a result are moved out of its registers before the wait: ptxas makes one register of them. Arithmetic is no move.
TEST_F(Check, ResultsOfProductsMoveInHalves) {
    const auto text = [](const std::string& early) {
        return "mov.u32 %r7, s; shr.u32 %r7, %r7, 4; cvt.u64.u32 %rd0, %r7; setp.eq.u32 %q0, %r7, %r7;\n"
               "mov.b32 %r9, 0; mov.b32 %r10, 0; mov.b32 %r11, 0; mov.b32 %r12, 0; mov.b32 %r13, 0; mov.b32 %r14, 0;\n"
               "wgmma.fence.sync.aligned;\n"
               "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r9, %r10}, {%r11, %r12, %r13, %r14}, %rd0, %q0, 1, "
               "1, 0;\n"
               "wgmma.commit_group.sync.aligned; mov.b32 {%h0, %h1}, %r9;\n" +
               early +
               "mov.b32 %r9, {%h0, %h1};\n"
               "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r9, %r10}, {%r11, %r12, %r13, %r14}, %rd0, %q0, 1, "
               "1, 0;\n"
               "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; mov.b32 {%h2, %h3}, %r9;\n";
    };
    const launch_options warpgroup{.block = {128}};
    expect_none(text(""), warpgroup, {}, room);
    expect_one("race with wgmma", text("cvt.f32.f16 %f0, %h1;\n"), warpgroup, {}, room);
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
