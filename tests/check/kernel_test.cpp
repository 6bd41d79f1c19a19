// SPDX-License-Identifier: MIT
// The checks on kernels of a few lines: what is planted is found, with both accesses, and its corrected twin is silent.
#include <gtest/gtest.h>

#include "tests/check/check_fixture.hpp"

namespace softgpu::test {
namespace {

// %r4: the thread's own word in s, %r5: that of the thread %r3 away.
const std::string own_and_other = "mov.u32 %r6, %tid.x; shl.b32 %r4, %r6, 2; mov.u32 %r7, s; add.u32 %r4, %r4, %r7;\n"
                                  "xor.b32 %r5, %r6, %r3; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r7;\n";
std::string exchange(unsigned distance, const std::string& order) {
    return "mov.u32 %r3, " + std::to_string(distance) + ";\n" + own_and_other + "st.shared.u32 [%r4], %i;\n" + order +
           "\nld.shared.u32 %r8, [%r5]; mul.wide.u32 %rd0, %i, 4; add.u64 %rd0, %rd0, %p0; st.global.u32 [%rd0], %r8;";
}

TEST_F(Check, WarpsWithoutBarrier) {
    const std::uint64_t out = zeros(4 * 256);
    const finding f = expect_one(shared_race, exchange(32, ""), {.block = {256}}, {out}, shared_array);
    EXPECT_EQ(f.check, check::race);
    ASSERT_EQ(f.accesses.size(), 2u);
    EXPECT_NE(f.message.find("two warps"), std::string::npos) << f.message;
    EXPECT_EQ(f.accesses[0].what, "write of 4 bytes");
    EXPECT_EQ(f.accesses[1].what, "read of 4 bytes");
    EXPECT_NE(f.accesses[0].where.instruction.find("st.shared.u32"), std::string::npos);
    EXPECT_EQ(f.allocation, "variable s, byte 128");
    EXPECT_NE(f.accesses[0].thread, f.accesses[1].thread);
    EXPECT_GE(f.times, 32u);
    expect_none(exchange(32, "bar.sync 0;"), {.block = {256}}, {out}, shared_array);
    expect_none(exchange(32, "barrier.sync 3;"), {.block = {256}}, {out}, shared_array);
}

// As Numba's kernels have them. The second round meets patterns of addresses that the first one has left.
TEST_F(Check, SharedAddressesOf64Bits) {
    const std::uint64_t out = zeros(4 * 256);
    const auto round = [](const std::string& order) {
        return "cvt.u64.u32 %rd4, %r4; cvt.u64.u32 %rd5, %r5; st.shared.u32 [%rd4], %i;\n" + order +
               "\nld.shared.u32 %r8, [%rd5];\n";
    };
    const auto body = [&](const std::string& order) {
        return "mov.u32 %r3, 32;\n" + own_and_other + round("bar.sync 0;") + "bar.sync 0;\n" + round(order) +
               "mul.wide.u32 %rd0, %i, 4; add.u64 %rd0, %rd0, %p0; st.global.u32 [%rd0], %r8;";
    };
    EXPECT_EQ(expect_one(shared_race, body(""), {.block = {256}}, {out}, shared_array).times, 256u);
    expect_none(body("bar.sync 0;"), {.block = {256}}, {out}, shared_array);
    expect_one("out of bounds", "mov.u64 %rd4, 4294967296; st.shared.u32 [%rd4], 1;", {.block = {1}}, {}, shared_array);
}

TEST_F(Check, LanesWithoutSynchronisation) {
    const std::uint64_t out = zeros(4 * 256);
    const finding f = expect_one(shared_race, exchange(1, ""), {.block = {64}}, {out}, shared_array);
    EXPECT_NE(f.message.find("two lanes"), std::string::npos) << f.message;
    for (const char* order : {"bar.warp.sync -1;", "shfl.sync.bfly.b32 %r9, %r4, 1, 31, -1;", "bar.sync 0;",
                              "vote.sync.ballot.b32 %r9, 1, -1;", "redux.sync.add.s32 %r9, %r4, -1;"}) {
        expect_none(exchange(1, order), {.block = {64}}, {out}, shared_array);
    }
    // Only half of the lanes meet: those may see each other's words, others not.
    const std::string halves =
        "mov.u32 %r10, %laneid; shr.u32 %r10, %r10, 4; shl.b32 %r10, %r10, 4; mov.u32 %r11, 65535; "
        "shl.b32 %r11, %r11, %r10; bar.warp.sync %r11;";
    expect_none(exchange(1, halves), {.block = {64}}, {out}, shared_array);
    expect_one(shared_race, exchange(16, halves), {.block = {64}}, {out}, shared_array);
}

TEST_F(Check, VolatileDoesNotOrderLanes) {
    const std::uint64_t out = zeros(4 * 64);
    std::string body = exchange(1, "");
    for (std::size_t at = 0; (at = body.find(".shared.u32", at)) != std::string::npos; at += 20) {
        body.insert(at, ".volatile");
    }
    const finding f = expect_one(shared_race, body, {.block = {32}}, {out}, shared_array);
    EXPECT_TRUE(f.accesses.at(0).what.starts_with("volatile ")) << f.accesses[0].what;
}

TEST_F(Check, ReadThenWriteByAnother) {
    const std::uint64_t out = zeros(4 * 256);
    const auto body = [](const std::string& order) {
        return "mov.u32 %r3, 32;\n" + own_and_other +
               "st.shared.u32 [%r4], %i; bar.sync 0; ld.shared.u32 %r8, [%r5];\n" + order +
               "st.shared.u32 [%r4], %r8; bar.sync 0;";
    };
    expect_one(shared_race, body(""), {.block = {64}}, {out}, shared_array);
    expect_none(body("bar.sync 0;"), {.block = {64}}, {out}, shared_array);
    // All read one word, then one thread writes it.
    const auto broadcast = [](const std::string& order) {
        return "mov.u32 %r7, s; setp.eq.u32 %q0, %i, 255; @%q0 st.shared.u32 [%r7], %i; bar.sync 0; ld.shared.u32 %r8, "
               "[%r7];\n" +
               order + "@%q0 st.shared.u32 [%r7], %r8;";
    };
    expect_one(shared_race, broadcast(""), {.block = {256}}, {out}, shared_array);
    expect_none(broadcast("bar.sync 0;\n"), {.block = {256}}, {out}, shared_array);
    expect_one(shared_race, broadcast("bar.warp.sync -1;"), {.block = {256}}, {out}, shared_array);
}

TEST_F(Check, OneInstructionOneWord) {
    const finding f =
        expect_one(shared_race, "mov.u32 %r7, s; st.shared.u32 [%r7], %i; bar.warp.sync -1; ld.shared.u32 %r8, [%r7];",
                   {}, {}, shared_array);
    EXPECT_FALSE(f.is_note);
    EXPECT_NE(f.message.find("different values"), std::string::npos);
    const finding same = expect_one(shared_race, "mov.u32 %r7, s; st.shared.u32 [%r7], 1;", {}, {}, shared_array);
    EXPECT_TRUE(same.is_note);
    expect_none("mov.u32 %r7, s; setp.eq.u32 %q0, %i, 0; @%q0 st.shared.u32 [%r7], 0; bar.warp.sync -1; "
                "atom.shared.add.u32 %r8, [%r7], 1;",
                {}, {}, shared_array);
}

// All blocks read a word, meet, and one of them reads it again and writes it.
TEST_F(Check, ReadAgainBehindABarrierOfTheGrid) {
    const auto body = [](const std::string& meet) {
        return "ld.global.u32 %r3, [%p0];\n" + meet +
               "setp.ne.u32 %q0, %i, 32; @%q0 exit; ld.global.u32 %r3, [%p0]; add.u32 %r3, %r3, 1; st.global.u32 "
               "[%p0], "
               "%r3;";
    };
    const std::string meet =
        "bar.sync 0; mov.u32 %r4, %tid.x; setp.ne.u32 %q1, %r4, 0; @%q1 bra MET;\n"
        "membar.gl; atom.global.add.u32 %r5, [%p1], 1;\n"
        "WAIT: ld.volatile.global.u32 %r5, [%p1]; setp.lt.u32 %q2, %r5, 3; @%q2 bra WAIT; membar.gl;\n"
        "MET: bar.sync 0;\n";
    const launch_options how{.grid = {3}, .block = {32}, .cooperative = true};
    expect_none(body(meet), how, {zeros(4), zeros(4)});
    EXPECT_FALSE(run(body(""), how, {zeros(4), zeros(4)}).empty());
}

TEST_F(Check, BarriersOfSome) {
    // Warp 0 produces and arrives, warp 1 waits and consumes.
    const auto body = [](const std::string& producer, const std::string& consumer) {
        return "mov.u32 %r3, 32;\n" + own_and_other + "setp.ge.u32 %q0, %i, 32; @%q0 bra CONSUME;\n" +
               "st.shared.u32 [%r4], %i;\n" + producer + "bra DONE;\nCONSUME:\n" + consumer +
               "ld.shared.u32 %r8, [%r5];\nDONE:";
    };
    const launch_options how{.block = {64}};
    expect_none(body("bar.arrive 1, 64;", "bar.sync 1, 64;"), how, {}, shared_array);
    expect_none(body("bar.sync 1, 64;", "bar.sync 1, 64;"), how, {}, shared_array);
    // The producer goes on writing after it has arrived.
    expect_one(shared_race, body("bar.arrive 1, 64; st.shared.u32 [%r4], %i;", "bar.sync 1, 64; bar.sync 2, 32;"), how,
               {}, shared_array);
    expect_one(shared_race, body("bar.arrive 1, 64;", "bar.sync 2, 32;"), how, {}, shared_array);
}

// Lanes of a warp that write different values to one word of shared memory: an error where somebody reads it.
TEST_F(Check, LostValuesThatNobodyReads) {
    const std::string write = "mov.u32 %r7, s; st.shared.u32 [%r7], %i; bar.sync 0;\n";
    expect_none(write, {.block = {32}}, {}, shared_array);
    expect_none(write + "setp.eq.u32 %q0, %i, 0; @%q0 st.shared.u32 [%r7], 1; bar.sync 0; ld.shared.u32 %r8, [%r7];\n"
                        "add.u32 %r9, %r8, 1;",
                {.block = {32}}, {}, shared_array);
    expect_one("race in shared memory", write + "ld.shared.u32 %r8, [%r7]; add.u32 %r9, %r8, 1;", {.block = {32}}, {},
               shared_array);
}

// Each block writes its own word; the last one, by a ticket, reads all.
std::string ticket(const std::string& fence) {
    return "mov.u32 %r3, %ctaid.x; mul.wide.u32 %rd0, %r3, 4; add.u64 %rd0, %rd0, %p0; mov.u32 %r4, %tid.x; "
           "setp.ne.u32 %q0, %r4, 0;\n"
           "@%q0 bra MEET; st.global.u32 [%rd0], %r3;\n" +
           fence +
           "atom.global.inc.u32 %r5, [%p1], 1000; mov.u32 %r6, %nctaid.x; sub.u32 %r6, %r6, 1; set.eq.u32.u32 %r5, "
           "%r5, %r6; st.shared.u32 "
           "[s], %r5;\n"
           "MEET: bar.sync 0; ld.shared.u32 %r5, [s]; setp.eq.u32 %q1, %r5, 0; @%q1 exit;\n"
           "mul.wide.u32 %rd1, %r4, 4; add.u64 %rd1, %rd1, %p0; ld.global.u32 %r7, [%rd1]; add.u32 %r7, %r7, 1;";
}

TEST_F(Check, LastBlockByTicket) {
    for (const unsigned workers : {1u, 2u}) {
        const launch_options how{.grid = {64}, .block = {64}, .workers = workers};
        expect_none(ticket("membar.gl;\n"), how, {zeros(256), zeros(4)}, shared_array);
        expect_none(ticket("fence.acq_rel.gpu;\n"), how, {zeros(256), zeros(4)}, shared_array);
        const finding f = expect_one(global_race, ticket(""), how, {zeros(256), zeros(4)}, shared_array);
        EXPECT_NE(f.message.find("two blocks"), std::string::npos) << f.message;
        ASSERT_EQ(f.accesses.size(), 2u);
        EXPECT_NE(f.accesses[0].block, f.accesses[1].block);
        expect_one(global_race, ticket("membar.cta;\n"), how, {zeros(256), zeros(4)}, shared_array);
    }
}

// Block 0 writes data and then a flag; the others spin on it and read.
std::string look_back(const std::string& store, const std::string& load) {
    return "mov.u32 %r3, %ctaid.x; setp.ne.u32 %q0, %r3, 0; @%q0 bra WAIT;\nst.global.u32 [%p0], 7;\n" + store +
           "ret;\nWAIT:\n" + load +
           "setp.eq.u32 %q1, %r4, 0; @%q1 bra WAIT; ld.global.u32 %r5, [%p0]; add.u32 %r5, %r5, 1;";
}

TEST_F(Check, ReleaseAndAcquire) {
    for (const unsigned workers : {1u, 2u}) {
        const launch_options how{.grid = {8}, .block = {1}, .workers = workers};
        const auto quiet = [&](const std::string& store, const std::string& load) {
            expect_none(look_back(store, load), how, {zeros(4), zeros(4)});
        };
        quiet("st.release.gpu.global.u32 [%p1], 1;\n", "ld.acquire.gpu.global.u32 %r4, [%p1];\n");
        quiet("membar.gl; st.volatile.global.u32 [%p1], 1;\n", "ld.volatile.global.u32 %r4, [%p1]; membar.gl;\n");
        quiet("fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%p1], 1;\n",
              "ld.relaxed.gpu.global.u32 %r4, [%p1]; fence.acq_rel.gpu;\n");
        quiet("membar.gl; atom.global.exch.b32 %r6, [%p1], 1;\n", "atom.global.or.b32 %r4, [%p1], 0;\n");
        // Without the fence the data may come after the flag.
        expect_one(global_race, look_back("st.volatile.global.u32 [%p1], 1;\n", "ld.volatile.global.u32 %r4, [%p1];\n"),
                   how, {zeros(4), zeros(4)});
    }
}

TEST_F(Check, ReleaseIsPassedOn) {
    // Block n waits for block n-1, adds to the one word and goes on: each knows of all before it.
    const std::string chain =
        "mov.u32 %r3, %ctaid.x; mul.wide.u32 %rd0, %r3, 4; add.u64 %rd0, %rd0, %p1; setp.eq.u32 %q0, %r3, 0; @%q0 bra "
        "GO;\n"
        "WAIT: ld.acquire.gpu.global.u32 %r4, [%rd0+-4]; setp.eq.u32 %q1, %r4, 0; @%q1 bra WAIT;\n"
        "GO: setp.ne.u32 %q2, %r3, 31; mul.wide.u32 %rd1, %r3, 4; add.u64 %rd1, %rd1, %p0; st.global.u32 [%rd1], %r3;\n"
        "@%q2 bra ON; ld.global.u32 %r5, [%p0]; add.u32 %r5, %r5, 1;\nON: st.release.gpu.global.u32 [%rd0], 1;";
    expect_none(chain, {.grid = {32}, .block = {1}, .workers = 2}, {zeros(128), zeros(128)});
}

TEST_F(Check, SpinLock) {
    const auto body = [](const std::string& fences) {
        return "LOCK: atom.global.cas.b32 %r3, [%p1], 0, 1; setp.ne.u32 %q0, %r3, 0; @%q0 bra LOCK;\n" + fences +
               "ld.global.u32 %r4, [%p0]; add.u32 %r4, %r4, 1; st.global.u32 [%p0], %r4;\n" + fences +
               "atom.global.exch.b32 %r5, [%p1], 0;";
    };
    const launch_options how{.grid = {6}, .block = {4}, .workers = 2};
    expect_none(body("membar.gl;\n"), how, {zeros(4), zeros(4)});
    EXPECT_FALSE(run(body(""), how, {zeros(4), zeros(4)}).empty());
}

TEST_F(Check, BlocksOnOneWord) {
    const std::string write =
        "mov.u32 %r3, %tid.x; mul.wide.u32 %rd0, %r3, 4; add.u64 %rd0, %rd0, %p0; st.global.u32 [%rd0], %i;";
    expect_one(global_race, write, {.grid = {2}, .block = {32}}, {zeros(128)});
    expect_none(write, {.grid = {1}, .block = {32}}, {zeros(128)});
    // The next launch comes after the one before.
    const std::uint64_t data = zeros(128);
    expect_none(write, {.grid = {1}, .block = {32}}, {data});
    expect_none(write, {.grid = {1}, .block = {32}}, {data});
    // Each reads its neighbour's word in place.
    const std::string stencil =
        "mul.wide.u32 %rd0, %i, 4; add.u64 %rd0, %rd0, %p0; ld.global.u32 %r3, [%rd0+4]; st.global.u32 [%rd0], %r3;";
    EXPECT_FALSE(run(stencil, {.grid = {4}, .block = {32}}, {zeros(1024)}).empty());
    expect_none(
        "mul.wide.u32 %rd0, %i, 4; add.u64 %rd0, %rd0, %p0; ld.global.u32 %r3, [%rd0]; st.global.u32 [%rd0], %r3;",
        {.grid = {4}, .block = {32}}, {zeros(1024)});
    // Both blocks read, one of them writes: its own barrier does not bind the other.
    const std::string read_then_write =
        "mul.wide.u32 %rd0, %r0, 4; add.u64 %rd0, %rd0, %p0; ld.global.u32 %r3, [%rd0]; bar.sync 0;\n"
        "setp.eq.u32 %q0, %r1, 0; @%q0 exit; st.global.u32 [%rd0], %i;";
    EXPECT_NE(
        expect_one(global_race, read_then_write, {.grid = {2}, .block = {32}}, {zeros(128)}).message.find("two blocks"),
        std::string::npos);
    expect_none("red.global.add.u32 [%p0], 1; ld.volatile.global.u32 %r3, [%p0];", {.grid = {4}, .block = {32}},
                {zeros(1024)});
    expect_one(global_race, "red.global.add.u32 [%p0], 1; ld.global.u32 %r3, [%p0]; add.u32 %r3, %r3, 1;",
               {.grid = {4}, .block = {32}}, {zeros(1024)});
}

TEST_F(Check, ManyBarriersInOneBlock) {
    // More of them than a stamp of global memory counts.
    const std::string body = "mov.u32 %r3, 0; xor.b32 %r4, %i, 32; mul.wide.u32 %rd0, %i, 4; add.u64 %rd0, %rd0, %p0; "
                             "mul.wide.u32 %rd1, %r4, 4; add.u64 %rd1, %rd1, %p0;\n"
                             "LOOP: st.global.u32 [%rd0], %r3; bar.sync 0; ld.global.u32 %r5, [%rd1]; bar.sync 0;\n"
                             "add.u32 %r3, %r3, 1; setp.lt.u32 %q0, %r3, 20000; @%q0 bra LOOP;\n";
    expect_none(body, {.block = {64}}, {zeros(256)});
    expect_one(global_race, body + "st.global.u32 [%rd0], %r3; ld.global.u32 %r5, [%rd1];", {.block = {64}},
               {zeros(256)});
}

TEST_F(Check, OutOfBoundsAndFreed) {
    const std::uint64_t one = zeros(64);
    zeros(64);
    const std::string write = "mul.wide.u32 %rd0, %i, 4; add.u64 %rd0, %rd0, %p0; st.global.u32 [%rd0], %i;";
    const finding f = expect_one("out of bounds", write, {.block = {17}}, {one});
    EXPECT_EQ(f.check, check::memory);
    EXPECT_EQ(fault_.kind, machine::fault_kind::illegal_address);
    EXPECT_EQ(f.accesses.at(0).thread[0], 16u);
    expect_none(write, {.block = {16}}, {one});
    memory_.release(one);
    EXPECT_EQ(expect_one("use after free", write, {.block = {16}}, {one}).times, 1u);
    expect_one("misaligned access", write, {.block = {4}}, {zeros(64) + 2});
    expect_one("out of bounds", "mov.u32 %r7, s; st.shared.u32 [%r7+8192], 1;", {.block = {1}}, {}, shared_array);
}

TEST_F(Check, ShuffleAndMasks) {
    const launch_options how{};
    expect_none("shfl.sync.down.b32 %r3, %i, 16, 31, -1;", how);
    // Lanes 16 to 31 are not named, yet execute it.
    expect_one("lane outside its own mask", "shfl.sync.idx.b32 %r3, %i, 0, 31, 65535;", how);
    // The upper half is away.
    const std::string lower = "setp.ge.u32 %q0, %i, 16; @%q0 exit;\n";
    expect_one("shuffle from an absent lane", lower + "shfl.sync.idx.b32 %r3, %i, 20, 31, -1;", how);
    expect_none(lower + "shfl.sync.idx.b32 %r3, %i, 5, 31, 65535;", how);
    expect_one("shuffle from an absent lane", lower + "shfl.sync.bfly.b32 %r3, %i, 16, 31, 65535;", how);
    // Lanes meet from calls of their own, whose registers are apart.
    const std::string next =
        ".func next(.param .b32 m, .param .b32 by) { .reg .b32 %m, %by, %d; ld.param.u32 %m, [m];\n"
        "ld.param.u32 %by, [by]; shfl.sync.down.b32 %d, %m, %by, 31, %m; ret; }\n";
    const std::string call =
        "{ .param .b32 m; .param .b32 by; st.param.b32 [m], -1; st.param.b32 [by], 1; call next, (m, by); }\n";
    expect_none("setp.lt.u32 %q0, %i, 13; @%q0 bra LOW;\n" + call + "bra JOIN;\nLOW: " + call + "JOIN:", how, {}, next);
}

TEST_F(Check, LanesThatNeverCome) {
    const launch_options how{};
    // The lower half goes around the vote, and ends.
    const auto around = [](const std::string& mask) {
        return "setp.lt.u32 %q0, %i, 16; @%q0 bra AROUND; vote.sync.ballot.b32 %r3, 1, " + mask +
               "; AROUND:\nmul.wide.u32 %rd0, %i, 4; add.u64 %rd0, %rd0, %p0; st.global.u32 [%rd0], %i;";
    };
    const std::uint64_t out = zeros(128);
    const finding f = expect_one("lanes that never come", around("-1"), how, {out});
    EXPECT_NE(f.message.find("for lanes 0x0000ffff"), std::string::npos) << f.message;
    expect_none(around("0xFFFF0000"), how, {out});
    // Lanes that have ended before are not waited for, whatever the mask.
    expect_none("setp.lt.u32 %q0, %i, 16; @%q0 exit; vote.sync.ballot.b32 %r3, 1, -1;", how);
    // They come later, by another way.
    expect_none("setp.lt.u32 %q0, %i, 16; @%q0 bra AROUND; bar.warp.sync -1; AROUND:\n"
                "@!%q0 bra END; bar.warp.sync -1; END: add.u32 %r4, %i, 1;",
                how);
}

TEST_F(Check, LeftAtTheEnd) {
    const std::uint64_t kept = zeros(300);
    memory_.release(zeros(100));
    memory_.allocate(8, memory::allocation_kind::variable, "v");
    session_.find_leaks(memory_);
    const auto found = sink_.list();
    ASSERT_EQ(found.size(), 1u) << text(found);
    EXPECT_EQ(found[0].kind, "leak");
    EXPECT_NE(found[0].message.find("300 bytes"), std::string::npos);
    memory_.release(kept);
    // The heap of kernels, in one finding.
    (void)sink_.take();
    const std::uint64_t freed = memory_.allocate_on_heap(16, 1 << 20);
    const std::uint64_t left = memory_.allocate_on_heap(24, 1 << 20);
    memory_.allocate_on_heap(8, 1 << 20);
    memory_.release_on_heap(freed);
    session_.find_leaks(memory_);
    const auto on_heap = sink_.take();
    ASSERT_EQ(on_heap.size(), 1u) << text(on_heap);
    EXPECT_EQ(on_heap[0].kind, "leak");
    EXPECT_NE(on_heap[0].message.find("32 bytes of malloc() in kernels were never freed, in 2 pieces"),
              std::string::npos)
        << on_heap[0].message;
    EXPECT_EQ(on_heap[0].address, check::hexadecimal(left));
}

} // namespace
} // namespace softgpu::test
