// SPDX-License-Identifier: MIT
// Barriers of the block and of the warp, and progress: spinning on a lane, a warp or a block that has to move as well.
#include <gtest/gtest.h>

#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

// Sets %r3 to tid, %r4 to the address of word tid of a shared array.
const std::string shared_words =
    ".shared .align 4 .b8 s[4096]; mov.u32 %r3, %tid.x; mov.u32 %r5, s; mad.lo.u32 %r4, %r3, 4, %r5;\n";

TEST(Barrier, TreeReduction) {
    std::string body = shared_words + "st.shared.u32 [%r4], %i; bar.sync 0;\n";
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        const std::string n = std::to_string(stride);
        body += "setp.lt.u32 %q0, %r3, " + n + "; @!%q0 bra skip" + n +
                "; ld.shared.u32 %r6, [%r4]; ld.shared.u32 %r7, [%r4+" + std::to_string(4 * stride) +
                "]; add.u32 %r6, %r6, %r7; st.shared.u32 [%r4], %r6; skip" + n + ": bar.sync 0;\n";
    }
    const threads_result r = run_threads(body + "ld.shared.u32 %r6, [s]; st.global.u32 [%rd0], %r6;",
                                         {.grid = {6}, .block = {256}, .workers = 2});
    for (std::uint32_t t = 0; t < r.words.size(); ++t) {
        const std::uint32_t first = t / 256 * 256;
        EXPECT_EQ(r.words[t], 256 * first + 255 * 128) << t;
    }
}

// Warps at different places of the program meet at one barrier.
TEST(Barrier, FromDifferentPlaces) {
    const threads_result r = run_threads(
        shared_words + "st.shared.u32 [%r4], %r3; setp.lt.u32 %q0, %r3, 64; @%q0 bra first; bar.sync 0; bra both;\n"
                       "first: bar.sync 0; both: xor.b32 %r6, %r3, 64; mad.lo.u32 %r6, %r6, 4, %r5; ld.shared.u32 %r7, "
                       "[%r6]; st.global.u32 [%rd0], %r7;",
        {.block = {128}});
    for (std::uint32_t t = 0; t < 128; ++t) {
        EXPECT_EQ(r.words[t], t ^ 64);
    }
}

// Threads that have ended are not waited for.
TEST(Barrier, AfterSomeEnded) {
    const threads_result r = run_threads(
        shared_words +
            "st.shared.u32 [%r4], %r3; setp.ge.u32 %q0, %r3, 70; @%q0 exit; bar.sync 0; xor.b32 %r6, %r3, 32;\n"
            "mad.lo.u32 %r6, %r6, 4, %r5; ld.shared.u32 %r7, [%r6]; bar.sync 0; st.global.u32 [%rd0], %r7;",
        {.block = {128}});
    for (std::uint32_t t = 0; t < 64; ++t) {
        EXPECT_EQ(r.words[t], t ^ 32);
    }
}

// Two halves of the block use barriers of their own, with a count.
TEST(Barrier, OwnBarriersWithCounts) {
    const threads_result r =
        run_threads(shared_words + "shr.u32 %r8, %r3, 6; add.u32 %r8, %r8, 1; mov.u32 %r9, 0;\n"
                                   "again: add.u32 %r6, %r3, %r9; st.shared.u32 [%r4], %r6; bar.sync %r8, 64; xor.b32 "
                                   "%r6, %r3, 32; mad.lo.u32 %r6, %r6, 4, %r5;\n"
                                   "ld.shared.u32 %r7, [%r6]; bar.sync %r8, 64; add.u32 %r9, %r9, 1; shl.b32 %r10, "
                                   "%r8, 2; setp.lt.u32 %q0, %r9, %r10; @%q0 bra again;\n"
                                   "st.global.u32 [%rd0], %r7;",
                    {.block = {128}});
    for (std::uint32_t t = 0; t < 128; ++t) {
        EXPECT_EQ(r.words[t], (t ^ 32) + (t < 64 ? 3 : 7)) << t;
    }
}

// Producers arrive and go on, consumers wait: two buffers, two barriers each.
TEST(Barrier, ProducersAndConsumers) {
    const threads_result r = run_threads(
        ".shared .align 4 .b8 s[512]; mov.u32 %r3, %tid.x; and.b32 %r4, %r3, 63; mov.u32 %r5, s; mad.lo.u32 %r5, %r4, "
        "4, %r5; mov.u32 %r6, 0; mov.u32 %r7, 0;\n"
        "setp.ge.u32 %q0, %r3, 64; @%q0 bra consume;\n"
        "produce: and.b32 %r8, %r6, 1; setp.lt.u32 %q1, %r6, 2; add.u32 %r9, %r8, 3; @%q1 bra free; bar.sync %r9, "
        "128;\n"
        "free: mad.lo.u32 %r10, %r6, 1000, %r4; mad.lo.u32 %r11, %r8, 256, %r5; st.shared.u32 [%r11], %r10; add.u32 "
        "%r12, %r8, 1; bar.arrive %r12, 128;\n"
        "add.u32 %r6, %r6, 1; setp.lt.u32 %q1, %r6, 10; @%q1 bra produce; bra done;\n"
        "consume: and.b32 %r8, %r6, 1; add.u32 %r12, %r8, 1; bar.sync %r12, 128; mad.lo.u32 %r11, %r8, 256, %r5; "
        "ld.shared.u32 %r10, [%r11]; add.u32 %r7, %r7, %r10;\n"
        "add.u32 %r9, %r8, 3; setp.lt.u32 %q1, %r6, 8; @!%q1 bra last; bar.arrive %r9, 128;\n"
        "last: add.u32 %r6, %r6, 1; setp.lt.u32 %q1, %r6, 10; @%q1 bra consume;\ndone: st.global.u32 [%rd0], %r7;",
        {.block = {128}});
    for (std::uint32_t t = 0; t < 128; ++t) {
        EXPECT_EQ(r.words[t], t < 64 ? 0 : 45000 + 10 * (t - 64)) << t;
    }
}

TEST(Barrier, Reductions) {
    const threads_result r = run_threads("mov.u32 %r3, %tid.x; rem.u32 %r4, %r3, 3; setp.eq.u32 %q0, %r4, 0; "
                                         "bar.red.popc.u32 %r5, 0, %q0; bar.red.popc.u32 %r6, 0, !%q0;\n"
                                         "setp.lt.u32 %q1, %r3, 1000; bar.red.and.pred %q2, 0, %q1; selp.u32 %r7, 1, "
                                         "0, %q2; bar.red.and.pred %q2, 1, %q0; selp.u32 %r8, 1, 0, %q2;\n"
                                         "bar.red.or.pred %q2, 0, %q0; selp.u32 %r9, 1, 0, %q2; bar.red.or.pred %q2, "
                                         "0, !%q1; selp.u32 %r10, 1, 0, %q2;\n"
                                         "shl.b32 %r8, %r8, 1; or.b32 %r7, %r7, %r8; shl.b32 %r9, %r9, 2; or.b32 %r7, "
                                         "%r7, %r9; shl.b32 %r10, %r10, 3; or.b32 %r7, %r7, %r10;\n"
                                         "st.global.v2.u32 [%rd0], {%r5, %r6}; st.global.u32 [%rd0+8], %r7;",
                                         {.grid = {3}, .block = {100}, .workers = 2}, 4);
    for (std::uint32_t t = 0; t < 300; ++t) {
        EXPECT_EQ(r.words[4 * t], 34u);
        EXPECT_EQ(r.words[4 * t + 1], 66u);
        EXPECT_EQ(r.words[4 * t + 2], 5u);
    }
}

// Quick warps overtake slow ones by one use of the barrier and read the result of their own use.
TEST(Barrier, ReductionsInALoop) {
    const threads_result r =
        run_threads("mov.u32 %r3, %tid.x; mov.u32 %r6, 0; mov.u32 %r7, 0;\n"
                    "again: setp.le.u32 %q0, %r3, %r6; bar.red.popc.u32 %r5, 0, %q0; mad.lo.u32 %r7, %r7, 3, %r5; "
                    "add.u32 %r6, %r6, 1; setp.lt.u32 %q1, %r6, 9; @%q1 bra again;\n"
                    "st.global.u32 [%rd0], %r7;",
                    {.block = {256}});
    std::uint32_t expected = 0;
    for (std::uint32_t n = 1; n <= 9; ++n) {
        expected = expected * 3 + n;
    }
    for (std::uint32_t t = 0; t < 256; ++t) {
        EXPECT_EQ(r.words[t], expected) << t;
    }
}

// bar.warp.sync in different branches lets the lanes see each other's stores.
TEST(Barrier, OfAWarpFromDifferentBranches) {
    const threads_result r =
        run_threads(shared_words + "and.b32 %r6, %r3, 1; setp.eq.u32 %q0, %r6, 0; xor.b32 %r7, %r3, 1; mad.lo.u32 %r7, "
                                   "%r7, 4, %r5; @%q0 bra even;\n"
                                   "mul.lo.u32 %r8, %r3, 10; st.shared.u32 [%r4], %r8; bar.warp.sync 0xFFFFFFFF; "
                                   "ld.shared.u32 %r9, [%r7]; bra join;\n"
                                   "even: mul.lo.u32 %r8, %r3, 100; st.shared.u32 [%r4], %r8; bar.warp.sync "
                                   "0xFFFFFFFF; ld.shared.u32 %r9, [%r7]; add.u32 %r9, %r9, 1;\n"
                                   "join: activemask.b32 %r10; st.global.v2.u32 [%rd0], {%r9, %r10};",
                    {.block = {64}}, 2);
    for (std::uint32_t t = 0; t < 64; ++t) {
        EXPECT_EQ(r.words[2 * t], t % 2 == 0 ? 10 * (t + 1) + 1 : 100 * (t - 1)) << t;
        if (!on_hardware()) {
            EXPECT_EQ(r.words[2 * t + 1], 0xFFFFFFFFu) << t;
        }
    }
}

// Lanes of different loop counts shuffle with those that are left: the mask is computed before.
TEST(Barrier, ShufflesInADivergentLoop) {
    const threads_result r =
        run_threads("mov.u32 %r3, %laneid; mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0xFFFFFFFF;\n"
                    "again: setp.lt.u32 %q0, %r4, %r3; vote.sync.ballot.b32 %r6, %q0, %r6; @!%q0 bra done; "
                    "shfl.sync.idx.b32 %r7, %r3, 31, 31, %r6;\n"
                    "add.u32 %r5, %r5, %r7; redux.sync.add.u32 %r8, 1, %r6; add.u32 %r5, %r5, %r8; add.u32 %r4, %r4, "
                    "1; bra again;\n"
                    "done: bar.warp.sync -1; activemask.b32 %r9; st.global.v2.u32 [%rd0], {%r5, %r9};",
                    {.block = {96}}, 2);
    for (std::uint32_t t = 0; t < 96; ++t) {
        std::uint32_t sum = 0;
        for (std::uint32_t n = 0; n < t % 32; ++n) {
            sum += 31 + (31 - n);
        }
        EXPECT_EQ(r.words[2 * t], sum) << t;
        if (!on_hardware()) {
            EXPECT_EQ(r.words[2 * t + 1], 0xFFFFFFFFu) << t;
        }
    }
}

// A lock that the lanes of one warp take in turn, each holding it while the others spin; then many warps and blocks.
TEST(Progress, SpinLock) {
    program p(
        kernel("again: atom.acquire.gpu.global.cas.b32 %r3, [%p0], 0, 1; setp.ne.u32 %q0, %r3, 0; @%q0 bra again;\n"
               "ld.relaxed.gpu.global.u32 %r4, [%p0+4]; add.u32 %r4, %r4, 1; st.relaxed.gpu.global.u32 [%p0+4], %r4;\n"
               "atom.release.gpu.global.exch.b32 %r5, [%p0], 0; ret;"));
    const std::uint64_t at = p.buffer<std::uint32_t>(2);
    p.run({.block = {32}}, {at});
    EXPECT_EQ(p.contents<std::uint32_t>(at, 2), (std::vector<std::uint32_t>{0, 32}));
    p.run({.block = {96}}, {at});
    p.run({.grid = {3}, .block = {32}, .workers = 2}, {at});
    EXPECT_EQ(p.contents<std::uint32_t>(at, 2), (std::vector<std::uint32_t>{0, 32 + 96 + 96}));
}

// The lock is taken before a branch that only its holder takes, and left inside: the others wait at the end of the
// branch.
TEST(Progress, LockHeldInsideABranch) {
    program p(kernel(
        "mov.u32 %r6, 0;\nagain: atom.global.cas.b32 %r3, [%p0], 0, 1; setp.ne.u32 %q0, %r3, 0; @%q0 bra missed;\n"
        "ld.volatile.global.u32 %r4, [%p0+4]; add.u32 %r4, %r4, 1; st.volatile.global.u32 [%p0+4], %r4; membar.gl; "
        "mov.u32 %r6, 1;\n"
        "atom.global.exch.b32 %r5, [%p0], 0;\nmissed: setp.eq.u32 %q1, %r6, 0; @%q1 bra again; ret;"));
    const std::uint64_t at = p.buffer<std::uint32_t>(2);
    p.run({.grid = {3}, .block = {64}, .workers = 2}, {at});
    EXPECT_EQ(p.contents<std::uint32_t>(at, 2), (std::vector<std::uint32_t>{0, 192}));
}

// Lane 0 waits for what lane 31 of the same warp writes behind the branch.
TEST(Progress, LaneWaitsForLane) {
    const threads_result r = run_threads(
        ".shared .align 4 .b8 s[4]; mov.u32 %r3, %tid.x; setp.eq.u32 %q0, %r3, 0; @%q0 st.volatile.shared.u32 [s], 0; "
        "bar.sync 0; @!%q0 bra other;\n"
        "spin: ld.volatile.shared.u32 %r4, [s]; setp.ne.u32 %q1, %r4, 31; @%q1 bra spin; bra done;\n"
        "other: setp.eq.u32 %q1, %r3, 31; @%q1 st.volatile.shared.u32 [s], %r3; done: st.global.u32 [%rd0], 9;",
        {.block = {32}});
    EXPECT_EQ(r.words, std::vector<std::uint32_t>(32, 9));
}

// One warp waits for another of its block, in both orders.
TEST(Progress, WarpWaitsForWarp) {
    for (const char* waits : {"lt", "ge"}) {
        const threads_result r =
            run_threads(".shared .align 4 .b8 s[4]; mov.u32 %r3, %tid.x; setp.eq.u32 %q0, %r3, 0; @%q0 "
                        "st.volatile.shared.u32 [s], 0; bar.sync 0;\n"
                        "setp." +
                            std::string(waits) +
                            ".u32 %q1, %r3, 32; @%q1 bra spin; st.volatile.shared.u32 [s], 1; bra done;\n"
                            "spin: ld.volatile.shared.u32 %r4, [s]; setp.eq.u32 %q2, %r4, 0; @%q2 bra spin; done: "
                            "st.global.u32 [%rd0], 9;",
                        {.block = {64}});
        EXPECT_EQ(r.words, std::vector<std::uint32_t>(64, 9));
    }
}

// Block 0 waits for block 1's flag and block 1 for block 0's answer: both have to be resident, on one host thread too.
TEST(Progress, BlocksWaitForEachOther) {
    for (const unsigned workers : {1u, 2u}) {
        program p(kernel("mov.u32 %r3, %ctaid.x; mov.u32 %r4, %tid.x; setp.ne.u32 %q0, %r4, 0; @%q0 bra done; "
                         "setp.eq.u32 %q1, %r3, 0; @%q1 bra zero;\n"
                         "st.release.gpu.global.u32 [%p0], 1;\nspin1: ld.acquire.gpu.global.u32 %r5, [%p0+4]; "
                         "setp.eq.u32 %q2, %r5, 0; @%q2 bra spin1; bra done;\n"
                         "zero: ld.acquire.gpu.global.u32 %r5, [%p0]; setp.eq.u32 %q2, %r5, 0; @%q2 bra zero; "
                         "st.release.gpu.global.u32 [%p0+4], 2;\n"
                         "done: bar.sync 0; atom.global.add.u32 %r6, [%p0+8], 1; ret;"));
        const std::uint64_t at = p.buffer<std::uint32_t>(3);
        p.run({.grid = {2}, .block = {64}, .workers = workers}, {at});
        EXPECT_EQ(p.contents<std::uint32_t>(at, 3), (std::vector<std::uint32_t>{1, 2, 128}));
    }
}

// Every block waits for the one before it, as a chained scan does, with more blocks than are resident at once.
TEST(Progress, ChainOfBlocks) {
    program p(kernel("mov.u32 %r3, %ctaid.x; mov.u32 %r4, %tid.x; setp.ne.u32 %q0, %r4, 0; @%q0 bra done; mul.wide.u32 "
                     "%rd0, %r3, 4; add.u64 %rd0, %rd0, %p0;\n"
                     "spin: ld.acquire.gpu.global.u32 %r5, [%rd0]; setp.eq.u32 %q2, %r5, 0; @%q2 bra spin; add.u32 "
                     "%r5, %r5, 3; st.release.gpu.global.u32 [%rd0+4], %r5;\n"
                     "done: bar.sync 0; ret;"));
    std::vector<std::uint32_t> cells(501);
    cells[0] = 1;
    const std::uint64_t at = p.buffer(cells);
    p.run({.grid = {500}, .block = {64}, .workers = 2, .resident_blocks = 8}, {at});
    EXPECT_EQ(p.contents<std::uint32_t>(at + 2000, 1)[0], 1501u);
}

// A barrier of the whole grid, made of atomics, where every block is resident.
TEST(Progress, GridBarrier) {
    for (const unsigned workers : {1u, 2u}) {
        program p(kernel("mov.u32 %r3, %tid.x; mov.u32 %r7, %nctaid.x; mov.u32 %r8, 0;\n"
                         "round: add.u32 %r8, %r8, 1; red.global.add.u32 [%p0+4], %r8; bar.sync 0; setp.ne.u32 %q0, "
                         "%r3, 0; @%q0 bra wait; membar.gl;\n"
                         "atom.global.add.u32 %r4, [%p0], 1; mul.lo.u32 %r5, %r8, %r7;\n"
                         "spin: ld.volatile.global.u32 %r6, [%p0]; setp.lt.u32 %q1, %r6, %r5; @%q1 bra spin;\n"
                         "wait: bar.sync 0; setp.lt.u32 %q1, %r8, 4; @%q1 bra round; ret;"));
        const std::uint64_t at = p.buffer<std::uint32_t>(2);
        p.run({.grid = {20}, .block = {64}, .cooperative = true, .workers = workers}, {at});
        EXPECT_EQ(p.contents<std::uint32_t>(at, 2), (std::vector<std::uint32_t>{80, 20 * 64 * 10}));
    }
}

// The same as Triton writes it: one thread looks, tells its block through shared memory, and all wait at barriers in the loop.
TEST(Progress, GridBarrierOfWholeBlocks) {
    for (const unsigned workers : {1u, 2u}) {
        program p(kernel(
            "mov.u32 %r3, %tid.x; mov.u32 %r7, %nctaid.x; setp.eq.u32 %q0, %r3, 0;\n"
            "@%q0 atom.global.acq_rel.gpu.add.u32 %r4, [%p0], 1;\n"
            "spin: bar.sync 0; @%q0 ld.relaxed.gpu.global.b32 %r5, [%p0]; @%q0 st.shared.b32 [s], %r5; bar.sync 0;\n"
            "ld.shared.b32 %r6, [s]; setp.lt.u32 %q1, %r6, %r7; @%q1 bra spin;\n"
            "red.global.add.u32 [%p0+4], 1; ret;",
            ".shared .b32 s;\n"));
        const std::uint64_t at = p.buffer<std::uint32_t>(2);
        p.run({.grid = {20}, .block = {128}, .cooperative = true, .workers = workers}, {at});
        EXPECT_EQ(p.contents<std::uint32_t>(at, 2), (std::vector<std::uint32_t>{20, 20 * 128}));
    }
}

// What can never go on ends with a report.
TEST(Progress, DeadlockIsAFault) {
    if (on_hardware()) {
        GTEST_SKIP() << "a deadlock there is for ever";
    }
    for (const char* body :
         {// Half of the warps wait at another barrier.
          "mov.u32 %r3, %tid.x; setp.lt.u32 %q0, %r3, 64; @%q0 bra one; bar.sync 1; ret; one: bar.sync 2; ret;",
          // A count that never comes together.
          "bar.sync 0, 160; ret;",
          // A shuffle whose other lanes wait at the barrier.
          "mov.u32 %r3, %laneid; setp.lt.u32 %q0, %r3, 16; @%q0 bra low; bar.sync 0; ret; low: shfl.sync.idx.b32 %r4, "
          "%r3, 20, 31, -1; bar.sync 0; ret;"}) {
        program p(kernel(body));
        const machine::launch_result r = p.attempt({.grid = {3}, .block = {128}, .workers = 2}, {});
        EXPECT_EQ(r.error.kind, machine::fault_kind::deadlock) << body;
        EXPECT_NE(r.error.message.find("kernel k"), std::string::npos) << r.error.message;
    }
}

} // namespace
} // namespace softgpu::test
