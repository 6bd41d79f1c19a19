// SPDX-License-Identifier: MIT
// Reads of memory that nobody has written.
#include <gtest/gtest.h>

#include "tests/check/check_fixture.hpp"

namespace softgpu::test {
namespace {

TEST_F(Check, UnwrittenMemory) {
    const std::uint64_t out = zeros(4 * 64);
    const std::string read =
        "mul.wide.u32 %rd0, %i, 4; add.u64 %rd1, %rd0, %p1; ld.global.u32 %r3, [%rd1]; add.u64 %rd2, "
        "%rd0, %p0; st.global.u32 [%rd2], %r3;";
    const std::string unwritten_kind = "read of unwritten memory";
    const finding f = expect_one(unwritten_kind, read, {.block = {64}}, {out, unwritten(256)});
    EXPECT_EQ(f.check, check::init);
    EXPECT_EQ(f.times, 64u);
    EXPECT_NE(f.allocation.find("256 bytes"), std::string::npos) << f.allocation;
    expect_none(read, {.block = {64}}, {out, zeros(256)});
    // Half of it written by a kernel.
    const std::uint64_t half = unwritten(256);
    expect_none("mul.wide.u32 %rd0, %i, 4; add.u64 %rd1, %rd0, %p1; st.global.u32 [%rd1], %i;", {.block = {32}},
                {0, half});
    EXPECT_EQ(expect_one(unwritten_kind, read, {.block = {64}}, {out, half}).times, 32u);
    expect_none(read, {.block = {32}}, {out, half});
    // Copies take it along.
    const std::uint64_t copy = unwritten(256);
    session_.copied(copy, half, 256);
    EXPECT_EQ(expect_one(unwritten_kind, read, {.block = {64}}, {out, copy}).times, 32u);
    // Shared and local memory.
    const std::string shared_read = "mov.u32 %r7, s; ld.shared.u32 %r8, [%r7+16]; add.u32 %r9, %r8, 1;";
    expect_one(unwritten_kind, shared_read, {}, {}, shared_array);
    expect_none("mov.u32 %r7, s; st.shared.u32 [%r7+16], 3; bar.warp.sync -1; ld.shared.u32 %r8, [%r7+16]; add.u32 "
                "%r9, %r8, 1;",
                {.block = {1}}, {}, shared_array);
    expect_one(unwritten_kind,
               ".local .align 8 .b8 l[64]; mov.u64 %rd3, l; ld.local.u32 %r8, [%rd3+8]; add.u32 %r9, %r8, 1;", {});
    expect_none(".local .align 8 .b8 l[64]; mov.u64 %rd3, l; st.local.u32 [%rd3+8], 1; ld.local.u32 %r8, [%rd3+8]; "
                "add.u32 %r9, %r8, 1;",
                {});
    // A block has no part in what another one left in shared memory.
    const std::string first_block =
        "mov.u32 %r7, s; mov.u32 %r9, %ctaid.x; setp.eq.u32 %q0, %r9, 0; @%q0 st.shared.u32 "
        "[%r7+16], 3; ld.shared.u32 %r8, [%r7+16]; add.u32 %r9, %r8, 1;";
    EXPECT_EQ(expect_one(unwritten_kind, first_block, {.grid = {2}, .block = {1}}, {}, shared_array).times, 1u);
}

TEST_F(Check, UnwrittenMemoryByPattern) {
    // The same loads twice, of written words and then of some further on.
    const auto body = [](const std::string& offset, unsigned on) {
        return "mov.u32 %r7, s; shl.b32 %r3, %i, 2; add.u32 %r3, %r3, %r7; st.shared.u32 [%r3], %i; st.shared.u32 "
               "[%r3+256], %i; bar.warp.sync -1;\n" +
               offset +
               "add.u32 %r4, %r4, %r7; mov.u32 %r5, 0;\nLOOP: ld.shared.u32 %r8, [%r4]; add.u32 %r9, %r8, 1;\n" +
               "add.u32 %r4, %r4, " + std::to_string(on) +
               "; add.u32 %r5, %r5, 1; setp.lt.u32 %q0, %r5, 2; @%q0 bra LOOP;";
    };
    for (const char* offset : {"shl.b32 %r4, %i, 2;", "mov.u32 %r4, 64;", "and.b32 %r4, %i, 15; shl.b32 %r4, %r4, 2;",
                               "shr.u32 %r4, %i, 3; shl.b32 %r4, %r4, 4;",
                               "mul.lo.u32 %r4, %i, 7; and.b32 %r4, %r4, 31; shl.b32 %r4, %r4, 2;"}) {
        // Nothing was written between the two halves.
        EXPECT_EQ(expect_one("read of unwritten memory", body(offset, 128), {}, {}, shared_array).times, 32u) << offset;
        expect_none(body(offset, 256), {}, {}, shared_array);
    }
}

// What comes from unwritten shared memory may be copied and left: the finding is where it is used, at the load.
TEST_F(Check, UnwrittenMemoryThatNobodyUses) {
    const std::string load = "mov.u32 %r7, s; ld.shared.u32 %r8, [%r7+16]; mov.u32 %r9, %r8; setp.lt.u32 %q0, %i, 8;\n";
    expect_none(load, {}, {}, shared_array);
    // The other side of a choice, and a condition that another one settles.
    expect_none(load + "selp.b32 %r9, 5, %r9, %q0; @%q0 add.u32 %r9, %r9, 1;", {}, {}, shared_array);
    EXPECT_EQ(expect_one("read of unwritten memory", load + "selp.b32 %r9, 5, %r9, %q0; add.u32 %r9, %r9, 1;",
                         {.block = {32}}, {}, shared_array)
                  .times,
              24u);
    expect_none(load + "setp.gt.u32 %q1, %r9, 3; and.pred %q1, %q1, %q0; @!%q0 bra on; bra out;\n"
                       "on: @%q1 bra out; add.u32 %r3, %i, 1;\nout: add.u32 %r3, %i, 1;",
                {}, {}, shared_array);
    expect_one("read of unwritten memory",
               load + "setp.gt.u32 %q1, %r9, 3; @%q1 bra out; add.u32 %r3, %i, 1;\n"
                      "out: add.u32 %r3, %i, 1;",
               {}, {}, shared_array);
    // Written anew before it is used.
    expect_none(load + "mov.u32 %r9, 1; add.u32 %r9, %r9, 1;", {}, {}, shared_array);
}

} // namespace
} // namespace softgpu::test
