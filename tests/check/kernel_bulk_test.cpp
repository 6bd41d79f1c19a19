// SPDX-License-Identifier: MIT
// cp.async.bulk under the checks: what is touched before its mbarrier says that it is there.
#include "tests/check/check_fixture.hpp"

namespace softgpu::test {
namespace {

const launch_options block{.block = {64}};
const std::string room = ".shared .align 128 .b8 s[4096]; .shared .align 8 .b64 bar;";
const std::string begin = "mov.u32 %r3, %tid.x; mov.u32 %r4, s; mov.u32 %r5, bar; setp.eq.u32 %q0, %r3, 0;\n"
                          "@%q0 mbarrier.init.shared.b64 [%r5], 1;\nbar.sync 0;\n"
                          "shl.b32 %r7, %r3, 2; add.u32 %r7, %r7, %r4;\n";
const std::string issue =
    "@!%q0 bra REST;\nmbarrier.arrive.expect_tx.shared.b64 %rd9, [%r5], 256;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%p1], 256, [%r5];\n"
    "REST:\n";
const std::string wait = "WAIT: mbarrier.try_wait.parity.shared.b64 %q1, [%r5], 0; @!%q1 bra WAIT;\n";
const std::string read = "ld.shared.u32 %r8, [%r7]; add.u32 %r8, %r8, 1;\n";
const std::string write = "st.shared.u32 [%r7], %r3;\n";

TEST_F(Check, BulkCopiesInOrder) {
    const std::uint64_t in = zeros(1024);
    expect_none(begin + issue + wait + read, block, {0, in}, room);
    expect_none(begin + write + "bar.sync 0;\n" + issue + wait + read + "bar.sync 0;\n" + write, block, {0, in}, room);
    expect_none(begin + write +
                    "fence.proxy.async;\nbar.sync 0;\n@!%q0 bra REST;\n"
                    "cp.async.bulk.global.shared::cta.bulk_group [%p1], [%r4], 256;\n"
                    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nREST:\n",
                block, {0, in}, room);
}

TEST_F(Check, BulkCopiesWithoutOrder) {
    const std::uint64_t in = zeros(1024);
    // Nobody waits, or only a barrier of the block.
    expect_one(shared_race, begin + issue + read, block, {0, in}, room);
    expect_one(shared_race, begin + issue + "bar.sync 0;\n" + read, block, {0, in}, room);
    // Written while the copy is under way; started while others may still read.
    expect_one(shared_race, begin + issue + write + wait, block, {0, in}, room);
    expect_one(shared_race, begin + write + "bar.sync 0;\n" + read + issue + wait, block, {0, in}, room);
    // Read by the copy while others may still write.
    expect_one(shared_race,
               begin + write +
                   "@!%q0 bra REST;\ncp.async.bulk.global.shared::cta.bulk_group [%p1], [%r4], 256;\nREST:\n",
               block, {0, in}, room);
    // The source has not been written.
    const auto found = run(begin + issue + wait, block, {0, unwritten(1024)}, room);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].kind, "read of unwritten memory");
}

// st.bulk is a store of its thread: it needs a barrier as any other, and what it has cleared has been written.
TEST_F(Check, BulkZeros) {
    const std::string clear = "@%q0 st.bulk.weak.shared::cta [%r4], 256, 0;\n";
    expect_none(begin + clear + "bar.sync 0;\n" + read + "add.u64 %rd1, %p0, 64; st.global.u32 [%rd1], %r8;\n",
                {.block = {1}}, {zeros(1024)}, room);
    expect_none(begin + clear + "bar.sync 0;\n" + read + "bar.sync 0;\n" + write, block, {0}, room);
    expect_one(shared_race, begin + clear + read, block, {0}, room);
    expect_one(shared_race, begin + write + clear, block, {0}, room);
}

// What no copy can have ends the kernel, and is not looked at piece by piece before.
TEST_F(Check, BulkCopiesOfWrongSizes) {
    const std::uint64_t in = zeros(1024);
    for (const std::string bytes : {"0xFFFFFFF0", "0xFFFFFFFF", "24"}) {
        std::string text = begin;
        text.append("@!%q0 bra REST;\nmov.u32 %r9, ").append(bytes);
        run(text +
                ";\n"
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%p1], %r9, [%r5];\nREST:\n",
            block, {0, in}, room);
        EXPECT_TRUE(fault_) << bytes;
    }
}

} // namespace
} // namespace softgpu::test
