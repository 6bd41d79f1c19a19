// SPDX-License-Identifier: MIT
// Calls: every thread gets what its own calls return, however lanes part before, in and behind them.
#include <gtest/gtest.h>

#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

using machine::fault_kind;

// %r8 = f(%r8)
std::string call(const std::string& f) {
    return "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r8; call (r), " + f +
           ", (a); ld.param.b32 %r8, [r]; }\n";
}
std::string store(const std::string& r) { return "st.global.u32 [%rd0], " + r + ";"; }

const std::string increment = ".func (.param .b32 r) increment(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a];\n"
                              "add.u32 %x, %x, 1; st.param.b32 [r], %x; ret; }\n";
const std::string twice = ".func (.param .b32 r) twice(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a];\n"
                          "shl.b32 %x, %x, 1; st.param.b32 [r], %x; ret; }\n";
// 1, 1, 2, 3, 5: lanes of one warp go down to different depths.
const std::string fibonacci =
    ".func (.param .b32 r) fibonacci(.param .b32 a)\n{ .reg .b32 %x<9>; .reg .pred %q; ld.param.b32 %x1, [a];\n"
    "setp.lt.s32 %q, %x1, 2; @%q bra small; sub.u32 %x2, %x1, 1; sub.u32 %x3, %x1, 2;\n"
    "{ .param .b32 b; .param .b32 s; st.param.b32 [b], %x2; call (s), fibonacci, (b); ld.param.b32 %x4, [s]; }\n"
    "{ .param .b32 b; .param .b32 s; st.param.b32 [b], %x3; call (s), fibonacci, (b); ld.param.b32 %x5, [s]; }\n"
    "add.u32 %x6, %x4, %x5; st.param.b32 [r], %x6; ret;\n small: st.param.b32 [r], 1; ret; }\n";

std::uint32_t fibonacci_of(std::uint32_t n) { return n < 2 ? 1 : fibonacci_of(n - 1) + fibonacci_of(n - 2); }

TEST(Call, ReturnsWhatEachThreadWants) {
    const auto r = run_threads("mov.u32 %r8, %i;\n" + call("increment") + call("twice") + call("increment") +
                                   "activemask.b32 %r9; st.global.v2.u32 [%rd0], {%r8, %r9};",
                               {.grid = {3}, .block = {80}}, 2, increment + twice);
    for (std::uint32_t t = 0; t < 240; ++t) {
        EXPECT_EQ(r.words[2 * t], 2 * (t + 1) + 1) << t;
        if (!on_hardware()) {
            EXPECT_EQ(r.words[2 * t + 1], t % 80 < 64 ? 0xFFFFFFFFu : 0xFFFFu) << t; // they are together again
        }
    }
}

TEST(Call, RegistersAsResultsAndParameters) {
    const std::string counted =
        ".func (.reg .b32 r) counted(.reg .u32 a, .reg .b64 b)\n{ .reg .pred %q; .reg .b32 %x; setp.eq.u32 %q, a, 3;\n"
        "mov.b32 r, 7; @%q ret; cvt.u32.u64 %x, b; add.u32 r, %x, a; }\n"; // returns at the end, too
    const std::string whole = ".func (.reg .f64 x) half(.reg .f64 a) { mul.f64 x, a, 0d3FE0000000000000; ret; }\n";
    const auto r = run_threads("and.b32 %r8, %i, 7; cvt.u64.u32 %rd4, %i; call (%r9), counted, (%r8, %rd4);\n"
                               "cvt.rn.f64.u32 %fd1, %i; call (%fd2), half, (%fd1); cvt.rn.f32.f64 %f1, %fd2;\n"
                               "st.global.v2.b32 [%rd0], {%r9, %f1};",
                               {.block = {64}}, 2, counted + whole);
    for (std::uint32_t t = 0; t < 64; ++t) {
        EXPECT_EQ(r.words[2 * t], t % 8 == 3 ? 7 : t + t % 8) << t;
        EXPECT_EQ(r.words[2 * t + 1], bits_of(static_cast<float>(t) / 2)) << t;
    }
}

TEST(Call, LastParameterWithoutASize) {
    const std::string sum =
        ".func (.param .b32 r) sum_of(.param .b32 n, .param .align 8 .b8 a[])\n"
        "{ .reg .b64 %y; .reg .b32 %x<4>; .reg .pred %q; mov.b64 %y, a; ld.param.b32 %x1, [n]; ld.param.b32 %x0, [a];\n"
        "more: sub.u32 %x1, %x1, 1; setp.eq.u32 %q, %x1, 0; @%q bra end; add.u64 %y, %y, 4; ld.param.b32 %x2, [%y];\n"
        "add.u32 %x0, %x0, %x2; bra more;\n end: st.param.b32 [r], %x0; ret; }\n";
    const auto call_with = [](const std::string& bytes) {
        return "{ .param .b32 n; .param .b32 r; .param .align 8 .b8 a[" + bytes +
               "];\nst.param.b32 [n], 3; st.param.b32 [a], %i; st.param.b32 [a+4], 100; st.param.b32 [a+8], 1000;\n"
               "call (r), sum_of, (n, a); ld.param.b32 %r8, [r]; }\n";
    };
    const auto r = run_threads(call_with("12") + store("%r8"), {.block = {64}}, 1, sum);
    for (std::uint32_t t = 0; t < 64; ++t) {
        EXPECT_EQ(r.words[t], t + 1100) << t;
    }
    if (!on_hardware()) {
        program p(kernel(call_with("300") + "ret;", sum));
        EXPECT_EQ(p.attempt({}, {}).error.kind, fault_kind::invalid_ptx);
    }
}

TEST(Call, LanesThatArePartedCallDifferentFunctions) {
    const auto r =
        run_threads("mov.u32 %r8, %i; and.b32 %r3, %i, 3; setp.eq.u32 %q0, %r3, 1; setp.eq.u32 %q1, %r3, 2;\n"
                    "@%q0 bra one; @%q1 bra two; " +
                        call("increment") + call("increment") + "bra join;\none: " + call("twice") +
                        "bra join;\ntwo: " + call("increment") + call("twice") +
                        "join: activemask.b32 %r9; st.global.v2.u32 [%rd0], {%r8, %r9};",
                    {.block = {64}}, 2, increment + twice);
    for (std::uint32_t t = 0; t < 64; ++t) {
        EXPECT_EQ(r.words[2 * t], t % 4 == 1 ? 2 * t : t % 4 == 2 ? 2 * (t + 1) : t + 2) << t;
        if (!on_hardware()) {
            EXPECT_EQ(r.words[2 * t + 1], 0xFFFFFFFFu);
        }
    }
}

TEST(Call, UnderAGuard) {
    const auto r = run_threads("mov.u32 %r8, %i; and.b32 %r3, %i, 1; setp.eq.u32 %q0, %r3, 1;\n"
                               "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r8; st.param.b32 [r], 7;\n"
                               "@%q0 call (r), twice, (a); ld.param.b32 %r8, [r]; }" +
                                   store("%r8"),
                               {.block = {64}}, 1, twice);
    for (std::uint32_t t = 0; t < 64; ++t) {
        EXPECT_EQ(r.words[t], t % 2 == 1 ? 2 * t : 7) << t;
    }
}

TEST(Call, Recursion) {
    const auto r = run_threads("and.b32 %r8, %i, 15;\n" + call("fibonacci") +
                                   "activemask.b32 %r9; st.global.v2.u32 [%rd0], {%r8, %r9};",
                               {.grid = {2}, .block = {70}}, 2, fibonacci);
    for (std::uint32_t t = 0; t < 140; ++t) {
        EXPECT_EQ(r.words[2 * t], fibonacci_of(t & 15)) << t;
        if (!on_hardware()) {
            EXPECT_EQ(r.words[2 * t + 1], t % 70 < 64 ? 0xFFFFFFFFu : 0x3Fu);
        }
    }
}

// 500 calls deep, returns one by one.
TEST(Call, DeepRecursion) {
    const std::string deep = ".func (.param .b32 r) deep(.param .b32 a)\n{ .reg .b32 %x<4>; .reg .pred %q;\n"
                             "ld.param.b32 %x1, [a]; setp.ne.u32 %q, %x1, 0; @%q bra more; st.param.b32 [r], 0; ret;\n"
                             "more: sub.u32 %x2, %x1, 1;\n{ .param .b32 b; .param .b32 s; st.param.b32 [b], %x2;\n"
                             "call (s), deep, (b); ld.param.b32 %x3, [s]; } add.u32 %x3, %x3, %x1;\n"
                             "st.param.b32 [r], %x3; ret; }\n";
    const auto r = run_threads("and.b32 %r8, %i, 31; mul.lo.u32 %r8, %r8, 16;\n" + call("deep") + store("%r8"),
                               {.block = {64}}, 1, deep);
    for (std::uint32_t t = 0; t < 64; ++t) {
        const std::uint32_t n = 16 * (t & 31);
        EXPECT_EQ(r.words[t], n * (n + 1) / 2) << t;
    }
}

TEST(Call, ThroughPointers) {
    const std::string table = ".global .align 8 .u64 table[3] = {increment, twice, fibonacci};\n";
    const auto r = run_threads("mov.u32 %r8, %laneid; and.b32 %r8, %r8, 7; rem.u32 %r3, %i, 3;\n"
                               "mul.wide.u32 %rd1, %r3, 8; mov.u64 %rd2, table; add.u64 %rd2, %rd2, %rd1;\n"
                               "ld.global.u64 %rd3, [%rd2];\n"
                               "p: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                               "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r8; call (r), %rd3, (a), p;\n"
                               "ld.param.b32 %r8, [r]; } activemask.b32 %r9; mov.u64 %rd4, twice;\n"
                               "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r8; call (r), %rd4, (a), p;\n"
                               "ld.param.b32 %r8, [r]; } st.global.v2.u32 [%rd0], {%r8, %r9};",
                               {.block = {64}}, 2, increment + twice + fibonacci + table);
    for (std::uint32_t t = 0; t < 64; ++t) {
        const std::uint32_t n = t & 7;
        EXPECT_EQ(r.words[2 * t], 2 * (t % 3 == 0 ? n + 1 : t % 3 == 1 ? 2 * n : fibonacci_of(n))) << t;
        if (!on_hardware()) {
            EXPECT_EQ(r.words[2 * t + 1], 0xFFFFFFFFu);
        }
    }
}

// A structure of 12 bytes goes by value, its bytes read and written in every width.
TEST(Call, StructuresByValue) {
    const std::string change =
        ".func (.param .align 4 .b8 r[12]) change(.param .align 4 .b8 a[12], .param .b64 b)\n"
        "{ .reg .b16 %h<5>; .reg .b32 %x<5>; .reg .b64 %y;\n"
        "ld.param.b32 %x1, [a]; ld.param.v4.b8 {%h1, %h2, %h3, %h4}, [a+4]; ld.param.s16 %x2, [a+8];\n"
        "ld.param.u8 %x3, [a+11]; ld.param.b64 %y, [b]; cvt.u32.u64 %x4, %y; add.u32 %x1, %x1, %x4;\n"
        "st.param.b32 [r], %x1; st.param.v2.b8 [r+4], {%h4, %h3}; st.param.v2.b8 [r+6], {%h2, %h1};\n"
        "st.param.b16 [r+8], %x2; st.param.b8 [r+10], %x3; st.param.b8 [r+11], %x2; ret; }\n";
    const auto r = run_threads(
        "{ .param .align 4 .b8 a[12]; .param .b64 b; .param .align 4 .b8 r[12]; st.param.b32 [a], %i;\n"
        "st.param.v4.b8 [a+4], {1, 2, 3, 4}; mov.b32 %r3, 0x7F00FFFE; st.param.b32 [a+8], %r3; st.param.b64 [b], 100;\n"
        "call (r), change, (a, b); ld.param.v2.b32 {%r4, %r5}, [r]; ld.param.b32 %r6, [r+8]; }\n"
        "st.global.v2.u32 [%rd0], {%r4, %r5}; st.global.u32 [%rd0+8], %r6;",
        {.block = {64}}, 4, change);
    for (std::uint32_t t = 0; t < 64; ++t) {
        EXPECT_EQ(r.words[4 * t], t + 100);
        EXPECT_EQ(r.words[4 * t + 1], 0x01020304u);
        EXPECT_EQ(r.words[4 * t + 2], 0xFE7FFFFEu);
    }
}

// Scalars of 16 bytes as arguments and results.
TEST(Call, SixteenBytesByValue) {
    const std::string next = ".func (.param .b128 r) next(.param .b128 a)\n{ .reg .b128 %q; .reg .b64 %y<3>;\n"
                             "ld.param.b128 %q, [a]; mov.b128 {%y1, %y2}, %q; add.u64 %y1, %y1, 1;\n"
                             "add.u64 %y2, %y2, 2; mov.b128 %q, {%y1, %y2}; st.param.b128 [r], %q; ret; }\n";
    const auto r = run_threads(".reg .b128 %x; mov.b64 %rd1, 10; cvt.u64.u32 %rd2, %i; mov.b128 %x, {%rd1, %rd2};\n"
                               "{ .param .b128 a; .param .b128 r; st.param.b128 [a], %x; call (r), next, (a);\n"
                               "ld.param.b128 %x, [r]; } mov.b128 {%rd1, %rd2}, %x;\n"
                               "st.global.v2.b64 [%rd0], {%rd1, %rd2};",
                               {.block = {64}}, 4, next);
    for (std::uint32_t t = 0; t < 64; ++t) {
        EXPECT_EQ(r.words[4 * t], 11u);
        EXPECT_EQ(r.words[4 * t + 2], t + 2) << t;
    }
}

// Each call has local memory of its own, and a parameter can be reached through its address.
TEST(Call, LocalMemoryOfCallees) {
    const std::string inner =
        ".func (.param .b32 r) inner(.param .align 8 .b8 a[16])\n{ .reg .b64 %y<3>; .reg .b32 %x<3>;\n"
        ".local .align 8 .b8 own[16]; mov.u64 %y1, a; ld.local.u32 %x1, [%y1+8]; st.local.u32 [own+8], %x1;\n"
        "st.local.u32 [%y1+8], 77; ld.param.u32 %x2, [a+8]; ld.local.u32 %x1, [own+8]; add.u32 %x1, %x1, %x2;\n"
        "st.param.b32 [r], %x1; ret; }\n";
    const std::string outer =
        ".func (.param .b32 r) outer(.param .b32 a)\n{ .reg .b64 %y<4>; .reg .b32 %x<4>; .local .align 8 .b8 own[8];\n"
        "ld.param.b32 %x1, [a]; mov.u64 %y1, own; cvta.local.u64 %y2, %y1; st.u32 [%y2+4], %x1; add.u32 %x1, %x1, 5;\n"
        "{ .param .align 8 .b8 b[16]; .param .b32 s; st.param.b32 [b+8], %x1; call (s), inner, (b);\n"
        "ld.param.b32 %x2, [s]; } ld.local.u32 %x3, [%y1+4]; shl.b32 %x3, %x3, 8; add.u32 %x3, %x3, %x2;\n"
        "st.param.b32 [r], %x3; ret; }\n";
    const auto r = run_threads(".local .align 4 .b8 mine[16]; st.local.u32 [mine+12], %i; mov.u32 %r8, %i;\n" +
                                   call("outer") + "ld.local.u32 %r3, [mine+12]; st.global.v2.u32 [%rd0], {%r8, %r3};",
                               {.block = {64}}, 2, inner + outer);
    for (std::uint32_t t = 0; t < 64; ++t) {
        EXPECT_EQ(r.words[2 * t], (t << 8) + t + 5 + 77) << t;
        EXPECT_EQ(r.words[2 * t + 1], t);
    }
}

// Room on the stack that is asked for at run time: as much as each thread wants, given back when the function returns.
TEST(Call, RoomOnTheStack) {
    const std::string sum =
        ".func (.param .b32 r) sum(.param .b32 a)\n{ .reg .b64 %y<6>; .reg .b32 %x<6>; .reg .pred %q;\n"
        "ld.param.b32 %x1, [a]; mul.wide.u32 %y1, %x1, 4; stacksave.u64 %y5; alloca.u64 %y2, %y1, 16; mov.u32 %x2, 0;\n"
        "fill: setp.ge.u32 %q, %x2, %x1; @%q bra filled; mul.wide.u32 %y3, %x2, 4; add.u64 %y3, %y2, %y3;\n"
        "st.local.u32 [%y3], %x2; add.u32 %x2, %x2, 1; bra fill;\nfilled: mov.u32 %x2, 0; mov.u32 %x3, 0;\n"
        "add: setp.ge.u32 %q, %x2, %x1; @%q bra added; mul.wide.u32 %y3, %x2, 4; add.u64 %y3, %y2, %y3;\n"
        "ld.local.u32 %x4, [%y3]; add.u32 %x3, %x3, %x4; add.u32 %x2, %x2, 1; bra add;\n"
        "added: stackrestore.u64 %y5; st.param.b32 [r], %x3; ret; }\n";
    const auto r = run_threads("mov.u32 %r8, %i;\n" + call("sum") + "mov.u32 %r10, %r8; mov.u32 %r8, 3;" + call("sum") +
                                   "add.u32 %r10, %r10, %r8;" + store("%r10"),
                               {.block = {64}}, 1, sum);
    for (std::uint32_t t = 0; t < 64; ++t) {
        EXPECT_EQ(r.words[t], t * (t - 1) / 2 + 3) << t;
    }
}

// Lanes return early, others end in the function for good, the rest goes on to the end of it.
TEST(Call, ReturnsAndEndsInTheMiddle) {
    const std::string f = ".func (.param .b32 r) f(.param .b32 a)\n{ .reg .b32 %x<4>; .reg .pred %q<4>;\n"
                          "ld.param.b32 %x1, [a]; and.b32 %x2, %x1, 3; setp.eq.u32 %q1, %x2, 1; st.param.b32 [r], 10;\n"
                          "@%q1 ret; setp.eq.u32 %q2, %x2, 2; @%q2 exit; setp.eq.u32 %q3, %x2, 3; @!%q3 bra last;\n"
                          "st.param.b32 [r], 30; ret;\nlast: st.param.b32 [r], 40; ret; }\n";
    const auto r = run_threads("st.global.u32 [%rd0], 5; mov.u32 %r8, %i;\n" + call("f") +
                                   "activemask.b32 %r9; st.global.v2.u32 [%rd0], {%r8, %r9};",
                               {.block = {64}}, 2, f);
    for (std::uint32_t t = 0; t < 64; ++t) {
        EXPECT_EQ(r.words[2 * t], t % 4 == 1 ? 10u : t % 4 == 2 ? 5u : t % 4 == 3 ? 30u : 40u) << t;
        if (t % 4 != 2 && !on_hardware()) {
            EXPECT_EQ(r.words[2 * t + 1], 0xBBBBBBBBu) << t;
        }
    }
}

// A barrier of the block inside a function that the warps reach from different calls, and shared memory of the function.
TEST(Call, BarriersAndSharedMemoryInFunctions) {
    const std::string turn =
        ".shared .align 4 .b8 other[16];\n"
        ".func (.param .b32 r) turn(.param .b32 a)\n{ .reg .b32 %x<6>; .shared .align 4 .b8 room[512];\n"
        "ld.param.b32 %x1, [a]; mov.u32 %x2, %tid.x; shl.b32 %x3, %x2, 2; mov.u32 %x4, room; add.u32 %x4, %x4, %x3;\n"
        "st.shared.u32 [%x4], %x1; bar.sync 0; mov.u32 %x5, room; xor.b32 %x3, %x3, 508; add.u32 %x5, %x5, %x3;\n"
        "ld.shared.u32 %x1, [%x5]; bar.sync 0; st.param.b32 [r], %x1; ret; }\n";
    const auto r = run_threads("st.shared.u32 [other], %i; mov.u32 %r8, %i; mov.u32 %r3, %tid.x;\n"
                               "setp.lt.u32 %q0, %r3, 64; @%q0 bra low;\n" +
                                   call("turn") + "bra join;\nlow: add.u32 %r8, %r8, 1000;\n" + call("turn") +
                                   "join:" + store("%r8"),
                               {.grid = {2}, .block = {128}}, 1, turn);
    for (std::uint32_t t = 0; t < 256; ++t) {
        const std::uint32_t from = t / 128 * 128 + 127 - t % 128;
        EXPECT_EQ(r.words[t], from % 128 < 64 ? from + 1000 : from) << t;
    }
}

// Lanes come to one shuffle in a function by two calls: their registers are in different frames.
TEST(Call, ShufflesBetweenCalls) {
    const std::string rotate =
        ".func (.param .b32 r) rotate(.param .b32 a)\n{ .reg .b32 %x<4>; .reg .pred %q<3>; ld.param.b32 %x1, [a];\n"
        "mov.u32 %x2, %laneid; add.u32 %x2, %x2, 1; shfl.sync.idx.b32 %x3|%q1, %x1, %x2, 31, -1;\n"
        "setp.lt.u32 %q2, %x1, 8; vote.sync.ballot.b32 %x2, %q2, -1; xor.b32 %x3, %x3, %x2; bar.warp.sync -1;\n"
        "st.param.b32 [r], %x3; ret; }\n";
    const auto r = run_threads("mov.u32 %r8, %i; and.b32 %r3, %i, 1; setp.eq.u32 %q0, %r3, 0; @%q0 bra even;\n" +
                                   call("rotate") + "bra join;\neven: " + call("rotate") + "join:" + store("%r8"),
                               {.block = {32}}, 1, rotate);
    for (std::uint32_t t = 0; t < 32; ++t) {
        EXPECT_EQ(r.words[t], ((t + 1) % 32) ^ 0xFFu) << t;
    }
}

TEST(Call, InstructionsOfCalleesAreCounted) {
    if (on_hardware()) {
        GTEST_SKIP() << "counters";
    }
    const auto with =
        run_threads("mov.u32 %r8, 3;\n" + call("increment") + store("%r8"), {.block = {64}}, 1, increment);
    const auto without = run_threads("mov.u32 %r8, 3;\n" + store("%r8"), {.block = {64}}, 1, increment);
    // st.param, call, ld.param here, and four there.
    EXPECT_EQ(with.how.total.warp_instructions, without.how.total.warp_instructions + 2 * 7);
    EXPECT_EQ(with.how.total.thread_instructions, without.how.total.thread_instructions + 64 * 7);
}

class call_fault : public testing::Test {
protected:
    void SetUp() override {
        if (on_hardware()) {
            GTEST_SKIP() << "a fault there ends the context";
        }
    }
    static void expect(const std::string& body, const std::string& declarations, fault_kind kind,
                       std::initializer_list<std::string> parts) {
        program p(kernel(body + "\nret;", declarations));
        const auto r = p.attempt({.block = {64}}, {p.buffer<std::uint32_t>(64)});
        EXPECT_EQ(r.error.kind, kind) << r.error.message;
        for (const std::string& part : parts) {
            EXPECT_NE(r.error.message.find(part), std::string::npos) << "no \"" << part << "\" in: " << r.error.message;
        }
    }
};

TEST_F(call_fault, EndlessRecursion) {
    expect("mov.u32 %r8, %i;" + call("again"),
           ".func (.param .b32 r) again(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a];\n"
           "{ .param .b32 b; .param .b32 s; st.param.b32 [b], %x; call (s), again, (b); ld.param.b32 %x, [s]; }\n"
           "st.param.b32 [r], %x; ret; }\n",
           fault_kind::stack_overflow, {"kernel k", "thread (0,0,0)", "stack overflow", "again, called by again"});
}

TEST_F(call_fault, FunctionsHaveTheirNamesInTheSource) {
    expect("mov.u32 %r8, %i;" + call("_Z5againi"),
           ".func (.param .b32 r) _Z5againi(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a];\n"
           "{ .param .b32 b; .param .b32 s; st.param.b32 [b], %x; call (s), _Z5againi, (b); ld.param.b32 %x, [s]; }\n"
           "st.param.b32 [r], %x; ret; }\n",
           fault_kind::stack_overflow, {"in a row, of again(int)"});
}

TEST_F(call_fault, PointersToNothing) {
    for (const std::string at : {"0", "16", "%p0"}) {
        expect("mov.u64 %rd3, " + at + "; p: .callprototype ()_ (); call %rd3, (), p;", increment,
               fault_kind::illegal_address, {"kernel k", "no function: 0x"});
    }
    expect("mov.u64 %rd3, increment; ld.global.u32 %r3, [%rd3];", increment, fault_kind::illegal_address,
           {"cannot read 4 bytes"});
    expect("mov.u64 %rd3, increment; add.u64 %rd3, %rd3, 4; p: .callprototype ()_ (); call %rd3, (), p;", increment,
           fault_kind::illegal_address, {"no function"});
}

TEST_F(call_fault, WrongNumberOfArguments) {
    expect("mov.u64 %rd3, increment; p: .callprototype ()_ (); call %rd3, (), p;", increment, fault_kind::trap,
           {"increment takes 1 arguments, and is called with 0"});
}

TEST_F(call_fault, WhatIsNotThereIsNamed) {
    expect("call cudaGetParameterBufferV2, ();", ".extern .func cudaGetParameterBufferV2();\n", fault_kind::unsupported,
           {"call of cudaGetParameterBufferV2"});
}

TEST_F(call_fault, TheCallersAreNamed) {
    expect("call outer;",
           ".func inner() { .reg .b64 %y; .reg .b32 %x; mov.u64 %y, 8; ld.global.u32 %x, [%y]; ret; }\n"
           ".func outer() { call inner; ret; }\n",
           fault_kind::illegal_address, {"cannot read 4 bytes", "in inner, called by outer"});
}

TEST_F(call_fault, BodiesThatMakeNoSense) {
    expect("call broken;", ".func broken() { bra nowhere; }\n", fault_kind::invalid_ptx, {});
    expect("call broken;", ".func broken() { .reg .b32 %x; add.s32 %x, %x; ret; }\n", fault_kind::invalid_ptx,
           {"function broken", "add with 2 operands"});
    expect("{ .param .b32 a; st.param.b64 [a], 1; }", "", fault_kind::invalid_ptx, {"beyond the parameter"});
}

} // namespace
} // namespace softgpu::test
