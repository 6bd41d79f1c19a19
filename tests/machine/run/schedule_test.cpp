// SPDX-License-Identifier: MIT
// Who runs when: locks make progress, waiting for ever ends with a report, and the adversarial schedule finds what works by
// luck, and only that.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

using machine::fault_kind;

class schedule_test : public testing::Test {
protected:
    void SetUp() override {
        if (on_hardware()) {
            GTEST_SKIP() << "schedules are the software GPU's";
        }
    }
    static void expect_deadlock(const std::string& body, const launch_options& how,
                                std::initializer_list<std::string> parts, const std::string& declarations = {}) {
        program p(kernel(body + "\nret;", declarations));
        const auto r = p.attempt(how, {p.buffer<std::uint32_t>(64)});
        EXPECT_EQ(r.error.kind, fault_kind::deadlock) << r.error.message;
        for (const std::string& part : parts) {
            EXPECT_NE(r.error.message.find(part), std::string::npos) << "no \"" << part << "\" in: " << r.error.message;
        }
        EXPECT_EQ(r.error.message.find('\n'), std::string::npos);
    }
};

// A counter behind a lock, in the three ways in which people write the lock.
const std::string add_one =
    "ld.volatile.global.u32 %r5, [%p0+4]; add.u32 %r5, %r5, 1; st.volatile.global.u32 [%p0+4], %r5;\n"
    "membar.gl; atom.global.exch.b32 %r6, [%p0], 0;\n";
const std::string spin_then_enter =
    "again: atom.global.cas.b32 %r4, [%p0], 0, 1; setp.ne.u32 %q0, %r4, 0; @%q0 bra again;\n" + add_one;
const std::string loop_until_done =
    "mov.u32 %r3, 0;\nagain: atom.global.cas.b32 %r4, [%p0], 0, 1; setp.ne.u32 %q0, %r4, 0;\n"
    "@%q0 bra not_mine;\n" +
    add_one +
    "mov.u32 %r3, 1;\n"
    "not_mine: setp.eq.u32 %q1, %r3, 0; @%q1 bra again;\n";
const std::string exchange_then_enter =
    "again: atom.global.exch.b32 %r4, [%p0], 1; setp.ne.u32 %q0, %r4, 0; @%q0 bra again;\n" + add_one;

TEST_F(schedule_test, EveryThreadOfAGridTakesALock) {
    for (const std::string& body : {spin_then_enter, loop_until_done, exchange_then_enter}) {
        for (const unsigned workers : {1u, 2u}) {
            program p(kernel(body + "ret;"));
            const std::uint64_t at = p.buffer<std::uint32_t>(2);
            p.run({.grid = {16}, .block = {128}, .workers = workers}, {at});
            EXPECT_EQ(p.contents<std::uint32_t>(at, 2), (std::vector<std::uint32_t>{0, 2048})) << body;
        }
    }
}

// Lane 0 waits for lane 31 of its own warp, warp 0 for the last, and block 0 for block 9.
TEST_F(schedule_test, WaitingForLaterLanesWarpsAndBlocks) {
    program p(kernel(
        "setp.ne.u32 %q0, %i, 0; @%q0 bra others;\n"
        "wait: ld.volatile.global.u32 %r3, [%p1]; setp.ne.u32 %q1, %r3, 7; @%q1 bra wait;\n"
        "bra done;\nothers: setp.eq.u32 %q2, %i, 31; @%q2 red.global.add.u32 [%p1], 1;\n"
        "setp.eq.u32 %q2, %i, 255; @%q2 red.global.add.u32 [%p1], 2;\n"
        "setp.eq.u32 %q2, %i, 2559; @%q2 red.global.add.u32 [%p1], 4;\ndone: red.global.add.u32 [%p0], 1; ret;"));
    const std::uint64_t out = p.buffer<std::uint32_t>(1);
    p.run({.grid = {10}, .block = {256}}, {out, p.buffer<std::uint32_t>(1)});
    EXPECT_EQ(p.contents<std::uint32_t>(out, 1)[0], 2560u);
}

TEST_F(schedule_test, ALockThatNobodyOpens) {
    expect_deadlock("again: atom.global.cas.b32 %r4, [%p0], 1, 2; setp.ne.u32 %q0, %r4, 1; @%q0 bra again;",
                    {.grid = {3}, .block = {40}},
                    {"kernel k", "deadlock", "32 threads of block (", "wait for a change of global memory at 0x",
                     "atom.global.cas"});
}

TEST_F(schedule_test, AFlagThatNobodySets) {
    for (const unsigned workers : {1u, 2u}) {
        expect_deadlock(
            "mov.u32 %r8, flag; wait: ld.volatile.shared.u32 %r3, [flag]; setp.eq.u32 %q0, %r3, 0; @%q0 bra wait;",
            {.grid = {2}, .workers = workers}, {"shared memory at 0x0", "ld.volatile.shared"}, ".shared .u32 flag;\n");
        expect_deadlock(
            "setp.ne.u32 %q1, %i, 5; @%q1 bra meet; wait: nanosleep.u32 100; ld.acquire.gpu.global.u32 %r3, "
            "[flag]; setp.eq.u32 %q0, %r3, 0; @%q0 bra wait; meet: bar.sync 0;",
            {.block = {64}, .workers = workers},
            {"wait for a change of global memory", "(flag)", "wait at barrier 0",
             "1 thread of block (0,0,0), "
             "the first (5,0,0),"},
            ".global .u32 flag;\n");
    }
}

TEST_F(schedule_test, ReportsNameKernelAndLineAsOthersDo) {
    std::string ptx = kernel(".loc 1 12 3\nagain: ld.volatile.global.u32 %r3, [%p0];\n"
                             ".loc 1 13 3\nsetp.eq.u32 %q0, %r3, 0; @%q0 bra again; ret;",
                             ".file 1 \"spin.cu\"\n");
    const std::string written = ".entry k(";
    const std::size_t at = ptx.find(written);
    ASSERT_NE(at, std::string::npos);
    ptx.replace(at, written.size(), ".entry _Z4spinPVi(");
    const auto on = make_software_device(ptx);
    const std::uint64_t flag = on->allocate(4);
    const std::uint32_t zero = 0;
    on->write(flag, &zero, 4);
    const auto r = on->launch("_Z4spinPVi", {.block = {40}}, {flag, 0, 0, 0, 0, 0, 0, 0});
    EXPECT_EQ(r.error.kind, fault_kind::deadlock);
    for (const std::string part : {"kernel spin(int volatile*), block (0,0,0): deadlock: ", "[%p0];', spin.cu:12"}) {
        EXPECT_NE(r.error.message.find(part), std::string::npos) << "no \"" << part << "\" in: " << r.error.message;
    }
}

TEST_F(schedule_test, ALoopOfNothing) { expect_deadlock("for_ever: bra for_ever;", {}, {"does nothing"}); }

// As cuda::barrier and cuda::atomic wait: they sleep the longer, the longer they have waited.
TEST_F(schedule_test, ALoopThatSleepsLongerAndLonger) {
    expect_deadlock(
        "mov.u64 %rd1, %globaltimer; mov.u32 %r5, 0; bra look;\n"
        "more: add.u32 %r5, %r5, 1;\n"
        "look: ld.acquire.gpu.global.u32 %r3, [%p0]; setp.ne.u32 %q0, %r3, 0; @%q0 bra done;\n"
        "setp.lt.u32 %q1, %r5, 16; @%q1 bra more;\n"
        "mov.u64 %rd2, %globaltimer; sub.u64 %rd2, %rd2, %rd1; setp.lt.u64 %q2, %rd2, 40000; @%q2 bra look;\n"
        "shr.u64 %rd2, %rd2, 2; cvt.u32.u64 %r4, %rd2; nanosleep.u32 %r4; bra look; done:",
        {.grid = {2}}, {"wait for a change of global memory"});
    expect_deadlock(
        "mov.u64 %rd1, %globaltimer; mov.u32 %r5, 0;\n" // the look stands behind the sleep
        "again: setp.lt.u32 %q1, %r5, 16; @%q1 bra more; bra sleep;\n"
        "more: add.u32 %r5, %r5, 1; bra look;\n"
        "sleep: mov.u64 %rd2, %globaltimer; sub.u64 %rd2, %rd2, %rd1; setp.lt.u64 %q2, %rd2, 40000; @%q2 bra look;\n"
        "shr.u64 %rd2, %rd2, 2; cvt.u32.u64 %r4, %rd2; nanosleep.u32 %r4;\n"
        "look: ld.acquire.gpu.global.u32 %r3, [%p0]; setp.eq.u32 %q0, %r3, 0; @%q0 bra again;",
        {.grid = {2}}, {"wait for a change of global memory"});
}

TEST_F(schedule_test, ALoopThatTimeEndsIsNoDeadlock) {
    const std::string passed =
        "mov.u64 %rd2, %globaltimer; sub.u64 %rd2, %rd2, %rd1; setp.gt.u64 %q1, %rd2, 5000000;\n";
    const std::string look = "mov.u32 %r5, 0; mov.u64 %rd1, %globaltimer;\nagain: ld.volatile.global.u32 %r3, [%p0]; "
                             "setp.ne.u32 %q0, %r3, 0; @%q0 bra done;\n" +
                             passed;
    for (const std::string& ends : {
             std::string("@!%q1 bra again;"),                                                           // a way out
             std::string("@%q1 mov.u32 %r5, 1; setp.eq.u32 %q2, %r5, 0; @%q2 bra again;"),              // a guard
             std::string("@!%q1 bra on; mov.u32 %r5, 1; on: setp.eq.u32 %q2, %r5, 0; @%q2 bra again;"), // a way around
             std::string(
                 "@!%q1 bra again; ld.volatile.global.u32 %r3, [%p0+4]; setp.eq.u32 %q2, %r3, 0; @%q2 bra again;"),
         }) {
        std::string body = look;
        body.append(ends).append("done: ret;");
        program p(kernel(body));
        p.run({.deadlock_seconds = 1e-6}, {p.buffer(std::vector<std::uint32_t>{0, 1})});
    }
}

TEST_F(schedule_test, BarriersThatAreNotReached) {
    expect_deadlock("setp.lt.u32 %q0, %i, 40; @%q0 bra one; bar.sync 1, 96; ret; one: bar.sync 2, 96; ret;",
                    {.block = {64}}, {"32 threads of block (0,0,0), the first (0,0,0), wait at barrier 2", "bar.sync"});
    expect_deadlock(
        "setp.lt.u32 %q0, %i, 16; @%q0 bra one; bar.warp.sync -1; bra one2; one: bar.sync 0; one2: bar.sync 0;",
        {.block = {33}}, {"wait"});
}

// While somebody else may still write, there is no report; when it writes, the kernel goes on.
TEST_F(schedule_test, SomebodyElseMayWrite) {
    program p(kernel("wait: ld.volatile.global.u32 %r3, [%p0]; setp.eq.u32 %q0, %r3, 0; @%q0 bra wait; ret;"));
    const std::uint64_t flag = p.buffer<std::uint32_t>(1);
    unsigned asked = 0;
    const auto write_late = [&] {
        if (++asked == 1000) {
            const std::uint32_t one = 1;
            std::atomic_ref(*reinterpret_cast<std::uint32_t*>(flag)).store(one);
        }
        return true;
    };
    p.run({.deadlock_seconds = 1e-6, .outside = write_late}, {flag});
    EXPECT_GE(asked, 1000u);
}

// A worker stands still before it looks at what has been written. Its own time has not passed, whatever the clock says.
TEST_F(schedule_test, AWorkerThatStandsStillIsNoDeadlock) {
    using namespace std::chrono_literals;
    const std::string wait = "wait: ld.volatile.global.u32 %r3, [%p0]; setp.eq.u32 %q0, %r3, 0; @%q0 bra wait; ret;";
    const auto set = [](std::uint64_t flag) {
        std::atomic_ref(*reinterpret_cast<std::uint32_t*>(flag)).store(1);
        return false;
    };
    program alone(kernel(wait));
    const std::uint64_t first = alone.buffer<std::uint32_t>(1);
    int looks = 0;
    const auto stand_still_once = [&] {
        if (++looks == 2) {
            std::this_thread::sleep_for(100ms);
        }
        return looks == 3 && set(first);
    };
    alone.run({.deadlock_seconds = 0.01, .outside = stand_still_once}, {first});
    EXPECT_GE(looks, 3);

    program both(kernel(wait));
    const std::uint64_t second = both.buffer<std::uint32_t>(1);
    std::atomic<std::thread::id> worker{};
    std::atomic<bool> stands{false};
    const auto stand_still = [&] { // the worker that comes first; the other one goes on
        std::thread::id none{};
        const auto self = std::this_thread::get_id();
        if (worker.compare_exchange_strong(none, self) || none == self) {
            return false;
        }
        if (!stands.exchange(true)) {
            std::this_thread::sleep_for(200ms);
            return set(second);
        }
        return false;
    };
    both.run({.grid = {2}, .workers = 2, .resident_blocks = 1, .deadlock_seconds = 0.01, .outside = stand_still},
             {second});
    EXPECT_TRUE(stands);
}

// No alarm where the grid only seems to stand still: a long loop over one address that ends by counting.
TEST_F(schedule_test, LongLoopsAreNoDeadlock) {
    program p(
        kernel("mov.u32 %r4, 0; again: ld.volatile.global.u32 %r3, [%p0]; add.u32 %r4, %r4, 1; setp.lt.u32 %q0, %r4, "
               "300000; @%q0 bra again; ret;"));
    p.run({.grid = {2}, .deadlock_seconds = 1e-6}, {p.buffer<std::uint32_t>(1)});
}

// Sums of 64 threads in shared memory, neighbours last, as the lectures have it; {} is what stands between the steps.
std::string tree(const std::string& between, std::uint32_t from) {
    std::string s = "mov.u32 %r3, %tid.x; shl.b32 %r4, %r3, 2; mov.u32 %r5, room; add.u32 %r4, %r4, %r5;\n"
                    "st.volatile.shared.u32 [%r4], %i; bar.sync 0;\n";
    for (std::uint32_t step = from; step > 0; step /= 2) {
        s += "setp.lt.u32 %q0, %r3, " + std::to_string(step) + ";\n@%q0 ld.volatile.shared.u32 %r6, [%r4+" +
             std::to_string(4 * step) + "];\n@%q0 ld.volatile.shared.u32 %r7, [%r4]; add.u32 %r7, %r7, %r6;\n" +
             "@%q0 st.volatile.shared.u32 [%r4], %r7;\n" + between;
    }
    return s + "ld.volatile.shared.u32 %r8, [room]; st.global.u32 [%rd0], %r8;";
}

std::size_t seeds_that_fail(const std::string& body, std::uint32_t block, std::uint32_t expected,
                            const std::string& declarations) {
    std::size_t failed = 0;
    for (std::uint64_t seed = 0; seed < 32; ++seed) {
        const auto r = run_threads(body, {.block = {block}, .seed = seed}, 1, declarations);
        failed += r.words[0] != expected ? 1 : 0;
    }
    return failed;
}

TEST_F(schedule_test, WhatWorksByLuckFailsForSomeSeed) {
    const std::string room = ".shared .align 4 .b8 room[1024];\n";
    // One warp: in the fair order its lanes run together.
    const std::string lucky = tree("", 16);
    EXPECT_EQ(run_threads(lucky, {.block = {32}}, 1, room).words[0], 496u);
    EXPECT_GT(seeds_that_fail(lucky, 32, 496, room), 0u);
    EXPECT_EQ(seeds_that_fail(tree("bar.warp.sync -1;\n", 16), 32, 496, room), 0u);
    EXPECT_GT(seeds_that_fail(tree("bar.warp.sync -1;\n", 64), 128, 8128, room), 0u); // it takes a barrier of the block
    EXPECT_EQ(seeds_that_fail(tree("bar.sync 0;\n", 64), 128, 8128, room), 0u);
}

// Tiles of four, each with its own lanes as members: wherever lanes part, each tile waits for its own lanes only.
TEST_F(schedule_test, TilesOfOneWarpMeetEachByItself) {
    const std::string tiles = "mov.u32 %r3, %laneid; and.b32 %r4, %r3, 28; mov.u32 %r5, 15; shl.b32 %r5, %r5, %r4;\n";
    const auto fail = [&](const std::string& body, auto&& expected) {
        std::size_t failed = 0;
        for (std::uint64_t seed = 0; seed < 64; ++seed) {
            const auto r =
                run_threads(tiles + body, {.block = {32}, .seed = seed}, 1, ".shared .align 4 .b8 room[128];\n");
            for (std::uint32_t t = 0; t < 32; ++t) {
                failed += r.words[t] != expected(t) ? 1 : 0;
            }
        }
        return failed;
    };
    EXPECT_EQ(fail("shfl.sync.bfly.b32 %r6, %r3, 3, 0x1C1F, %r5; st.global.u32 [%rd0], %r6;",
                   [](std::uint32_t t) { return t ^ 3; }),
              0u);
    EXPECT_EQ(fail("and.b32 %r6, %r3, 1; setp.eq.u32 %q0, %r6, 1; vote.sync.ballot.b32 %r6, %q0, %r5;\n"
                   "st.global.u32 [%rd0], %r6;",
                   [](std::uint32_t t) { return 10u << (t & 28); }),
              0u);
    EXPECT_EQ(fail("mov.u32 %r6, room; shl.b32 %r7, %r3, 2; add.u32 %r6, %r6, %r7; st.shared.u32 [%r6], %r3;\n"
                   "bar.warp.sync %r5; xor.b32 %r7, %r7, 12; mov.u32 %r6, room; add.u32 %r6, %r6, %r7;\n"
                   "ld.shared.u32 %r8, [%r6]; st.global.u32 [%rd0], %r8;",
                   [](std::uint32_t t) { return t ^ 3; }),
              0u);
}

// Blocks that find their number by counting, and blocks that believe in the order of their indices.
TEST_F(schedule_test, TheOrderOfBlocksIsNotPromised) {
    std::size_t changed = 0;
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
        program p(kernel("atom.global.add.u32 %r3, [%p1], 1; mov.u32 %r4, %ctaid.x; mul.wide.u32 %rd1, %r3, 4;\n"
                         "add.u64 %rd1, %rd1, %p0; st.global.u32 [%rd1], %r4; ret;"));
        const std::uint64_t order = p.buffer<std::uint32_t>(100);
        p.run({.grid = {100}, .block = {1}, .seed = seed}, {order, p.buffer<std::uint32_t>(1)});
        std::vector<std::uint32_t> got = p.contents<std::uint32_t>(order, 100);
        changed += std::is_sorted(got.begin(), got.end()) ? 0 : 1;
        std::sort(got.begin(), got.end());
        for (std::uint32_t b = 0; b < 100; ++b) {
            EXPECT_EQ(got[b], b);
        }
    }
    EXPECT_GT(changed, 12u);
}

TEST_F(schedule_test, ASeedGivesTheSameScheduleAgain) {
    const std::string body = "atom.global.add.u32 %r3, [%p1], 1; st.global.u32 [%rd0], %r3;";
    const auto once = [&](std::uint64_t seed) {
        program p(kernel("mul.wide.u32 %rd0, %i, 4; add.u64 %rd0, %rd0, %p0;" + body + "ret;"));
        const std::uint64_t out = p.buffer<std::uint32_t>(512);
        p.run({.grid = {8}, .block = {64}, .workers = 4, .seed = seed}, {out, p.buffer<std::uint32_t>(1)});
        return p.contents<std::uint32_t>(out, 512);
    };
    EXPECT_EQ(once(3), once(3));
    EXPECT_NE(once(3), once(4));
}

TEST_F(schedule_test, CorrectProgramsHoldInEveryOrder) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        for (const std::string& body : {spin_then_enter, loop_until_done, exchange_then_enter}) {
            program p(kernel(body + "ret;"));
            const std::uint64_t at = p.buffer<std::uint32_t>(2);
            p.run({.grid = {3}, .block = {64}, .seed = seed}, {at});
            EXPECT_EQ(p.contents<std::uint32_t>(at, 2), (std::vector<std::uint32_t>{0, 192})) << body << seed;
        }
        // Each block waits for the one before it, as a scan with look-back does.
        program chain(kernel("mov.u32 %r3, %ctaid.x; setp.eq.u32 %q0, %r3, 0; @%q0 bra first;\n"
                             "mul.wide.u32 %rd1, %r3, 4; add.u64 %rd1, %rd1, %p1;\n"
                             "wait: ld.acquire.gpu.global.u32 %r4, [%rd1+-4]; setp.eq.u32 %q1, %r4, 0; @%q1 bra wait;\n"
                             "bra join; first: mov.u32 %r4, 1; mov.u64 %rd1, %p1;\njoin: add.u32 %r5, %r4, 1;\n"
                             "st.release.gpu.global.u32 [%rd1], %r5; ret;"));
        const std::uint64_t flags = chain.buffer<std::uint32_t>(200);
        chain.run({.grid = {200}, .block = {1}, .resident_blocks = 4, .seed = seed}, {flags, flags});
        EXPECT_EQ(chain.contents<std::uint32_t>(flags, 200)[199], 201u);
    }
}

TEST_F(schedule_test, DeadlocksAreFoundInTheAdversarialOrderToo) {
    expect_deadlock("again: atom.global.cas.b32 %r4, [%p0], 1, 2; setp.ne.u32 %q0, %r4, 1; @%q0 bra again;",
                    {.grid = {2}, .block = {40}, .seed = 5}, {"wait for a change of global memory at 0x"});
}

} // namespace
} // namespace softgpu::test
