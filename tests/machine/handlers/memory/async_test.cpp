// SPDX-License-Identifier: MIT
// cp.async and its groups, and barrier objects (mbarrier).
#include <gtest/gtest.h>

#include <numeric>

#include "tests/machine/kernel_harness.hpp"

namespace softgpu::test {
namespace {

const std::string shared = ".shared .align 16 .b8 room[4096]; .shared .align 8 .b64 bar[4];";

std::vector<std::uint32_t> counted(std::size_t n) {
    std::vector<std::uint32_t> v(n);
    std::iota(v.begin(), v.end(), 1u);
    return v;
}

// Runs the body for `threads` threads of one block with `contents` at %p1; `words` results a thread.
threads_result run_with(const std::string& body, unsigned threads, std::size_t words,
                        const std::vector<std::uint32_t>& contents) {
    program p(
        kernel("mul.wide.u32 %rd0, %i, " + std::to_string(4 * words) + "; add.u64 %rd0, %rd0, %p0;\n" + body + "\nret;",
               shared));
    launch_options how;
    how.block.x = threads;
    const std::uint64_t out = p.buffer<std::uint32_t>(words * threads);
    threads_result r;
    r.how = p.run(how, {out, p.buffer(contents)});
    r.words = p.contents<std::uint32_t>(out, words * threads);
    return r;
}
machine::launch_result attempt(const std::string& body, unsigned threads = 32) {
    program p(kernel(body + "\nret;", shared));
    launch_options how;
    how.block.x = threads;
    return p.attempt(how, {p.buffer<std::uint32_t>(1024), p.buffer<std::uint32_t>(1024)});
}

const std::string addresses = "mov.u32 %r4, room; mul.lo.u32 %r5, %r0, 16; add.u32 %r4, %r4, %r5;\n"
                              "mul.wide.u32 %rd4, %i, 16; add.u64 %rd4, %rd4, %p1;\n";

// A copy happens no sooner than its thread waits: PTX promises nothing before.
TEST(CopyAsync, GroupsInOrder) {
    const auto r = run_with(addresses + "mov.u32 %r6, 7; st.shared.v4.u32 [%r4], {%r6, %r6, %r6, %r6};\n"
                                        "cp.async.ca.shared.global [%r4], [%rd4], 4; cp.async.commit_group;\n"
                                        "cp.async.ca.shared.global [%r4+4], [%rd4+4], 4; cp.async.commit_group;\n"
                                        "cp.async.ca.shared.global [%r4+8], [%rd4+8], 4;\n"
                                        "ld.shared.u32 %r10, [%r4]; st.global.u32 [%rd0], %r10;\n"
                                        "cp.async.wait_group 1;\n"
                                        "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r4];\n"
                                        "st.global.u32 [%rd0+4], %r10; st.global.u32 [%rd0+8], %r11;\n"
                                        "cp.async.wait_group 0;\n"
                                        "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r4];\n"
                                        "st.global.u32 [%rd0+12], %r11; st.global.u32 [%rd0+16], %r12;\n"
                                        "cp.async.wait_all; ld.shared.u32 %r12, [%r4+8];\n"
                                        "st.global.u32 [%rd0+20], %r12; st.global.u32 [%rd0+24], %r13;",
                            40, 7, counted(160));
    for (std::uint32_t t = 0; t < 40; ++t) {
        const std::uint32_t* const w = r.words.data() + 7 * t;
        EXPECT_EQ(w[1], 4 * t + 1);
        EXPECT_EQ(w[3], 4 * t + 2);
        EXPECT_EQ(w[5], 4 * t + 3);
        EXPECT_EQ(w[6], 7u);
        if (!on_hardware()) {
            EXPECT_EQ(w[0], 7u) << "before any wait";
            EXPECT_EQ(w[2], 7u) << "the second group, while one may be pending";
            EXPECT_EQ(w[4], 7u) << "in no group yet";
        }
    }
    if (!on_hardware()) {
        EXPECT_EQ(r.how.total.async_copy_requests, 6u);
        EXPECT_EQ(r.how.total.async_copy_bytes, 40u * 12);
    }
}

// Each lane has groups of its own.
TEST(CopyAsync, GroupsOfDivergedLanes) {
    const auto r = run_with(addresses + "mov.u32 %r6, 7; st.shared.v4.u32 [%r4], {%r6, %r6, %r6, %r6};\n"
                                        "and.b32 %r7, %r0, 1; setp.eq.u32 %q0, %r7, 0;\n"
                                        "@%q0 bra EVEN;\n"
                                        "cp.async.ca.shared.global [%r4], [%rd4], 4; cp.async.commit_group;\n"
                                        "EVEN:\n"
                                        "cp.async.ca.shared.global [%r4+4], [%rd4+4], 4; cp.async.commit_group;\n"
                                        "cp.async.wait_group 1;\n"
                                        "ld.shared.v2.u32 {%r10, %r11}, [%r4]; st.global.v2.u32 [%rd0], {%r10, %r11};\n"
                                        "cp.async.wait_group 0;",
                            32, 2, counted(128));
    for (std::uint32_t t = 0; t < 32; ++t) {
        EXPECT_EQ(r.words[2 * t], t % 2 == 1 ? 4 * t + 1 : 7u);
        if (!on_hardware()) {
            EXPECT_EQ(r.words[2 * t + 1], 7u);
        }
    }
}

TEST(CopyAsync, SizesAndZeros) {
    const auto r = run_with(addresses + "mov.u32 %r6, 7; st.shared.v4.u32 [%r4], {%r6, %r6, %r6, %r6};\n"
                                        "and.b32 %r7, %r0, 3; mul.lo.u32 %r8, %r7, 4; setp.eq.u32 %q0, %r7, 3;\n"
                                        "and.b32 %r9, %r0, 4; setp.ne.u32 %q1, %r9, 0; @%q1 bra EIGHT;\n"
                                        "cp.async.cg.shared.global.L2::128B [%r4], [%rd4], 16, %r8; bra JOIN;\n"
                                        "EIGHT:\n"
                                        "cp.async.ca.shared.global [%r4+8], [%rd4+8], 8, %q0;\n"
                                        "JOIN: cp.async.wait_all;\n"
                                        "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r4];\n"
                                        "st.global.v4.u32 [%rd0], {%r10, %r11, %r12, %r13};",
                            32, 4, counted(128));
    for (std::uint32_t t = 0; t < 32; ++t) {
        for (std::uint32_t k = 0; k < 4; ++k) {
            const std::uint32_t copied = 4 * t + k + 1;
            const std::uint32_t expected = (t & 4) == 0   ? (k < (t & 3) ? copied : 0)
                                           : k < 2        ? 7
                                           : (t & 3) == 3 ? 0
                                                          : copied;
            EXPECT_EQ(r.words[4 * t + k], expected) << "thread " << t << " word " << k;
        }
    }
}

TEST(CopyAsync, Faults) {
    if (on_hardware()) {
        GTEST_SKIP();
    }
    using machine::fault_kind;
    EXPECT_EQ(attempt("mov.u32 %r4, room; cp.async.ca.shared.global [%r4], [%p1+4096], 4;").error.kind,
              fault_kind::illegal_address);
    EXPECT_EQ(attempt("mov.u32 %r4, room; cp.async.ca.shared.global [%r4], [%p1+2], 4;").error.kind,
              fault_kind::misaligned_address);
    EXPECT_EQ(attempt("mov.u32 %r4, room; cp.async.ca.shared.global [%r4+8192], [%p1], 4;").error.kind,
              fault_kind::illegal_address);
    EXPECT_EQ(attempt("mov.u32 %r4, room; cp.async.cg.shared.global [%r4+8], [%p1], 16;").error.kind,
              fault_kind::misaligned_address);
    // Nothing is read where nothing is copied.
    EXPECT_EQ(
        attempt("mov.u32 %r4, room; cp.async.ca.shared.global [%r4], [%p1+4096], 4, 0; cp.async.wait_all;").error.kind,
        fault_kind::none);
    const auto much = attempt("mov.u32 %r4, room; mov.u32 %r5, 8; cp.async.ca.shared.global [%r4], [%p1], 4, %r5;");
    EXPECT_EQ(much.error.kind, fault_kind::trap);
    EXPECT_NE(much.error.message.find("cp.async of more bytes than it writes"), std::string::npos)
        << much.error.message;
    EXPECT_EQ(attempt("mov.u32 %r4, room; cp.async.ca.shared.global [%r4], [%p1], 12;").error.kind,
              fault_kind::invalid_ptx);
}

const std::string initialise = "mov.u32 %r4, bar; setp.eq.u32 %q0, %r0, 0; @%q0 mbarrier.init.shared.b64 [%r4], ";

// Warps wait for one another, phase after phase.
TEST(BarrierObject, PhasesOfABlock) {
    const auto r =
        run_with(initialise + "96; bar.sync 0;\n"
                              "mov.u32 %r5, 0; mov.u32 %r12, 0; mov.u32 %r6, room;\n"
                              "AGAIN: setp.eq.u32 %q1, %r5, %r0; @%q1 st.shared.u32 [%r6], %r5;\n"
                              "mbarrier.arrive.shared.b64 %rd4, [%r4];\n"
                              "WAIT: mbarrier.test_wait.shared.b64 %q2, [%r4], %rd4; @!%q2 bra WAIT;\n"
                              "ld.shared.u32 %r7, [%r6]; add.u32 %r12, %r12, %r7;\n"
                              "mbarrier.arrive.shared.b64 _, [%r4];\n"
                              "WAIT2: mbarrier.try_wait.parity.shared::cta.b64 %q2, [%r4], 1; @!%q2 bra WAIT2;\n"
                              "add.u32 %r5, %r5, 1; setp.lt.u32 %q3, %r5, 70; @%q3 bra AGAIN;\n"
                              "st.global.u32 [%rd0], %r12;",
                 96, 1, counted(1));
    for (const std::uint32_t w : r.words) {
        EXPECT_EQ(w, 69u * 70 / 2);
    }
}

TEST(BarrierObject, LanesOfOneWarpWaitForEachOther) {
    const auto r = run_with(initialise + "32; bar.warp.sync 0xFFFFFFFF;\n"
                                         "and.b32 %r5, %r0, 1; setp.eq.u32 %q1, %r5, 0; @%q1 bra LATE;\n"
                                         "mbarrier.arrive.shared.b64 %rd4, [%r4];\n"
                                         "WAIT: mbarrier.try_wait.shared.b64 %q2, [%r4], %rd4, 1000; @!%q2 bra WAIT;\n"
                                         "bra DONE;\n"
                                         "LATE: mbarrier.arrive.shared.b64 _, [%r4];\n"
                                         "DONE: mov.u32 %r6, 1; st.global.u32 [%rd0], %r6;",
                            32, 1, counted(1));
    for (const std::uint32_t w : r.words) {
        EXPECT_EQ(w, 1u);
    }
}

// Counts, drops and bytes, by one thread.
TEST(BarrierObject, CountsDropsAndBytes) {
    const auto say = [](unsigned word) {
        return "selp.u32 %r6, 1, 0, %q2; st.global.u32 [%rd0+" + std::to_string(4 * word) + "], %r6;\n";
    };
    const std::string parity = "mbarrier.test_wait.parity.shared.b64 %q2, [%r4], ";
    const auto r = run_with(
        initialise + "3;\n" + parity + "1;" + say(0) + parity + "0;" + say(1) +
            "mbarrier.arrive.noComplete.shared.b64 %rd4, [%r4], 2; mbarrier.pending_count.b64 %r7, %rd4;\n"
            "st.global.u32 [%rd0+8], %r7; mbarrier.arrive_drop.shared.b64 %rd5, [%r4];\n"
            "mbarrier.pending_count.b64 %r7, %rd5; st.global.u32 [%rd0+12], %r7;\n" +
            parity + "0;" + say(4) + // over
            "mbarrier.arrive.shared.b64 _, [%r4], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 48;\n" + parity +
            "1;" + say(5) + // both that are left have come, 48 bytes have not
            "mbarrier.complete_tx.shared::cta.relaxed.cluster.b64 [%r4], 16;\n" + parity + "1;" + say(6) +
            "mbarrier.complete_tx.shared::cta.relaxed.cluster.b64 [%r4], 32;\n" + parity + "1;" + say(7) +
            "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r4], 8; mbarrier.arrive.shared.b64 _, [%r4], 2;\n" +
            parity + "0;" + say(8) + "mbarrier.complete_tx.shared::cta.relaxed.cluster.b64 [%r4], 8;\n" + parity +
            "0;" + say(9) + "mbarrier.inval.shared.b64 [%r4];",
        1, 10, counted(1));
    EXPECT_EQ(r.words, (std::vector<std::uint32_t>{1, 0, 3, 1, 1, 0, 0, 1, 0, 1}));
}

TEST(BarrierObject, TracksCopies) {
    for (const bool counted_in : {false, true}) {
        const std::string arrivals = counted_in ? "128" : "64";
        const std::string form = counted_in ? ".noinc" : "";
        const auto r = run_with(initialise + arrivals + "; bar.sync 0;\n" + addresses +
                                    "mov.u32 %r8, bar; cp.async.cg.shared.global [%r4], [%rd4], 16;\n"
                                    "cp.async.mbarrier.arrive" +
                                    form +
                                    ".shared.b64 [%r8];\n"
                                    "mbarrier.arrive.shared.b64 %rd5, [%r8];\n"
                                    "WAIT: mbarrier.test_wait.shared.b64 %q2, [%r8], %rd5; @!%q2 bra WAIT;\n"
                                    "xor.b32 %r9, %r0, 63; mul.lo.u32 %r9, %r9, 16; mov.u32 %r10, room;\n"
                                    "add.u32 %r9, %r9, %r10; ld.shared.u32 %r11, [%r9+8]; st.global.u32 [%rd0], %r11;",
                                64, 1, counted(256));
        for (std::uint32_t t = 0; t < 64; ++t) {
            EXPECT_EQ(r.words[t], 4 * (63 - t) + 3);
        }
    }
}

TEST(BarrierObject, Faults) {
    if (on_hardware()) {
        GTEST_SKIP();
    }
    using machine::fault_kind;
    const auto over = attempt(initialise + "2; bar.sync 0; mbarrier.arrive.shared.b64 _, [%r4], 3;");
    EXPECT_EQ(over.error.kind, fault_kind::trap);
    EXPECT_NE(over.error.message.find("more arrivals at an mbarrier than its phase expects"), std::string::npos)
        << over.error.message;
    EXPECT_EQ(attempt(initialise + "0;").error.kind, fault_kind::trap);
    EXPECT_EQ(attempt("mov.u32 %r4, bar; mbarrier.init.shared.b64 [%r4+4], 1;").error.kind,
              fault_kind::misaligned_address);
    EXPECT_EQ(attempt("mov.u32 %r4, bar; mbarrier.init.shared.b64 [%r4+65536], 1;").error.kind,
              fault_kind::illegal_address);
    EXPECT_EQ(attempt("mov.u32 %r4, bar; mbarrier.init.shared.b64 [%r4];").error.kind, fault_kind::invalid_ptx);
    EXPECT_EQ(attempt("mov.u32 %r4, bar; mbarrier.arrive.shared.b64 %r5, [%r4];").error.kind, fault_kind::invalid_ptx);
}

// By its generic address.
TEST(BarrierObject, Generic) {
    const auto r =
        run_with("cvta.shared.u64 %rd4, bar; mbarrier.init.b64 [%rd4], 1; mbarrier.arrive.b64 %rd5, [%rd4];\n"
                 "mbarrier.test_wait.b64 %q2, [%rd4], %rd5; selp.u32 %r6, 1, 0, %q2; st.global.u32 [%rd0], %r6;",
                 1, 1, counted(1));
    EXPECT_EQ(r.words[0], 1u);
}

} // namespace
} // namespace softgpu::test
