// SPDX-License-Identifier: MIT
// What the compiler leaves to the driver: printf, assertions and the heap.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

using machine::fault_kind;

class Builtin : public testing::Test {
protected:
    void SetUp() override {
        if (on_hardware()) {
            GTEST_SKIP() << "ptxas wants the driver's own declarations";
        }
    }
};

const std::string printf_declaration = ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n";

std::string text_variable(const std::string& name, const std::string& text) {
    std::ostringstream s;
    s << ".global .align 1 .b8 " << name << '[' << text.size() + 1 << "] = {";
    for (const char c : text) {
        s << static_cast<int>(static_cast<unsigned char>(c)) << ", ";
    }
    s << "0};\n";
    return s.str();
}

// Calls vprintf with what the body has stored in `room`; %r9 is what it returns.
const std::string print =
    "mov.u64 %rd1, format; cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, room; cvta.local.u64 %rd2, %rd2;\n"
    "{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd1; st.param.b64 [a], %rd2;\n"
    "call.uni (r), vprintf, (f, a); ld.param.b32 %r9, [r]; }\nst.global.u32 [%rd0], %r9;\n";

TEST_F(Builtin, PrintsEveryConversion) {
    const auto r = run_threads(
        ".local .align 8 .b8 room[256]; st.local.u32 [room], -5; st.local.u32 [room+4], 255; st.local.u32 [room+8], "
        "8;\n"
        "st.local.u64 [room+16], -1; st.local.u64 [room+24], 0x123456789ABC; st.local.u32 [room+32], 0x1FF;\n"
        "st.local.u32 [room+36], 65; mov.u64 %rd3, word; cvta.global.u64 %rd3, %rd3; st.local.u64 [room+40], %rd3;\n"
        "st.local.u64 [room+48], 0; mov.f64 %fd0, 0d3FF8000000000000; st.local.f64 [room+56], %fd0;\n"
        "st.local.f64 [room+64], %fd0; st.local.f64 [room+72], %fd0; st.local.f64 [room+80], %fd0;\n"
        "st.local.u32 [room+88], 6; st.local.u32 [room+92], 42; st.local.u32 [room+96], 2; mov.f64 %fd1, "
        "0d400921FB54442D18; st.local.f64 [room+104], %fd1; st.local.u64 [room+112], 0xABC; st.local.u32 [room+120], "
        "0x18001;" +
            print,
        {.block = {1}}, 1,
        printf_declaration + text_variable("word", "abc") +
            text_variable("format", "%d|%x|%o|%ld|%llX|%hhu|%c|%5s|%s|%f|%10.3e|%-8g|%a|%*d|%.*f|%p|%hd|100%%|%y\n"));
    EXPECT_EQ(
        r.how.printed,
        "-5|ff|10|-1|123456789ABC|255|A|  abc|(null)|1.500000| 1.500e+00|1.5     |0x1.8p+0|    42|3.14|0xabc|-32767|"
        "100%|%y\n");
    EXPECT_EQ(r.words[0], 19u); // 16 conversions with an argument, of which two take another for a star
}

TEST_F(Builtin, PrintsAPercentSignWhateverItsWidth) {
    const auto r = run_threads(".local .align 8 .b8 room[16]; st.local.u32 [room], 7;" + print, {.block = {1}}, 1,
                               printf_declaration + text_variable("format", "%5%|%-5.2%|%%|%d|%5"));
    EXPECT_EQ(r.how.printed, "%|%|%|7|%5");
}

TEST_F(Builtin, PrintsNoMoreThan32Arguments) {
    std::string stores;
    std::string format;
    std::string expected;
    for (int n = 0; n < 34; ++n) {
        stores += "st.local.u32 [room+" + std::to_string(4 * n) + "], " + std::to_string(n) + ";";
        format += "%d,";
        expected += n < 32 ? std::to_string(n) + "," : "%d,";
    }
    const auto r = run_threads(".local .align 8 .b8 room[256];" + stores + print, {.block = {1}}, 1,
                               printf_declaration + text_variable("format", format));
    EXPECT_EQ(r.how.printed, expected);
    EXPECT_EQ(r.words[0], 32u);
}

TEST_F(Builtin, PrintsBlockAfterBlock) {
    const auto r = run_threads(".local .align 8 .b8 room[16]; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %tid.x;\n"
                               "st.local.v2.u32 [room], {%r3, %r4};" +
                                   print,
                               {.grid = {40}, .block = {3}, .workers = 3}, 1,
                               printf_declaration + text_variable("format", "%d.%d "));
    std::string expected;
    for (int b = 0; b < 40; ++b) {
        for (int t = 0; t < 3; ++t) {
            expected += std::to_string(b) + "." + std::to_string(t) + " ";
        }
    }
    EXPECT_EQ(r.how.printed, expected);
}

const std::string assert_declaration =
    ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);\n" +
    text_variable("message", "x > 0") + text_variable("file", "file.cu") + text_variable("name", "void kernel(int)");

TEST_F(Builtin, AssertionsSayWhatCudaSays) {
    program p(kernel("mov.u32 %r3, %tid.x; setp.ne.u32 %q0, %r3, 2; setp.ne.and.u32 %q0, %r3, 3, %q0; @%q0 bra fine;\n"
                     "mov.u64 %rd1, message; mov.u64 %rd2, file; mov.u64 %rd3, name;\n"
                     "{ .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 c;\n"
                     "st.param.b64 [m], %rd1; st.param.b64 [f], %rd2; st.param.b32 [l], 12; st.param.b64 [n], %rd3;\n"
                     "st.param.b64 [c], 1; call.uni __assertfail, (m, f, l, n, c); }\nfine: ret;",
                     assert_declaration));
    const auto r = p.attempt({.grid = {1, 1, 1}, .block = {8, 2, 1}}, {});
    EXPECT_EQ(r.error.kind, fault_kind::assertion);
    EXPECT_EQ(r.error.message,
              "file.cu:12: void kernel(int): block: [0,0,0], thread: [2,0,0] Assertion `x > 0` failed.\n"
              "file.cu:12: void kernel(int): block: [0,0,0], thread: [3,0,0] Assertion `x > 0` failed.\n"
              "file.cu:12: void kernel(int): block: [0,0,0], thread: [2,1,0] Assertion `x > 0` failed.\n"
              "file.cu:12: void kernel(int): block: [0,0,0], thread: [3,1,0] Assertion `x > 0` failed.");
}

const std::string heap_declarations = ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
                                      ".extern .func free(.param .b64 p);\n";
std::string allocate(const std::string& bytes) {
    return "{ .param .b64 n; .param .b64 r; st.param.b64 [n], " + bytes +
           "; call.uni (r), malloc, (n); ld.param.b64 %rd1, [r]; }\n";
}
const std::string release = "{ .param .b64 p; st.param.b64 [p], %rd1; call.uni free, (p); }\n";

// Memory of the heap stays when its kernel ends, is each thread's own, and can be given back by another kernel.
TEST_F(Builtin, HeapMemoryOutlivesItsKernel) {
    program p(
        kernel("mul.wide.u32 %rd2, %i, 8; add.u64 %rd2, %rd2, %p0; setp.eq.u64 %q0, %p1, 1; @%q0 bra second;\n" +
                   allocate("40") +
                   "st.u32 [%rd1+36], %i; st.global.u64 [%rd2], %rd1; ret;\n"
                   "second: ld.global.u64 %rd1, [%rd2]; ld.u32 %r3, [%rd1+36]; setp.ne.u32 %q0, %r3, %i; @%q0 trap;\n" +
                   release + "ret;",
               heap_declarations));
    const std::uint64_t pointers = p.buffer<std::uint64_t>(256);
    p.run({.grid = {4}, .block = {64}, .workers = 2}, {pointers, 0});
    p.run({.grid = {4}, .block = {64}, .workers = 2}, {pointers, 1});
    const auto again = p.attempt({.grid = {4}, .block = {64}}, {pointers, 1});
    EXPECT_EQ(again.error.kind, fault_kind::illegal_address) << again.error.message;
}

TEST_F(Builtin, TheHeapIsFullOnce) {
    const auto r = run_threads(allocate("1000000") +
                                   "setp.ne.u64 %q0, %rd1, 0; selp.u32 %r3, 1, 0, %q0;\n"
                                   "st.global.u32 [%rd0], %r3;" +
                                   allocate("0x1000000000000000") + "setp.ne.u64 %q0, %rd1, 0; @%q0 trap;",
                               {.block = {32}}, 1, heap_declarations);
    std::uint32_t given = 0;
    for (const std::uint32_t w : r.words) {
        given += w;
    }
    EXPECT_EQ(given, 8u); // of 8 MiB
}

TEST_F(Builtin, WhatIsFreedTwiceIsNamed) {
    program p(kernel(allocate("8") + release + release + "ret;", heap_declarations));
    const auto r = p.attempt({.block = {1}}, {});
    EXPECT_EQ(r.error.kind, fault_kind::illegal_address);
    EXPECT_NE(r.error.message.find("free of 0x"), std::string::npos) << r.error.message;
    program q(kernel(allocate("8") + release + "ld.u32 %r3, [%rd1]; ret;", heap_declarations));
    EXPECT_EQ(q.attempt({.block = {1}}, {}).error.kind, fault_kind::illegal_address);
}

TEST_F(Builtin, CopiesAndFills) {
    const auto r = run_threads(".local .align 8 .b8 room[16]; mov.u64 %rd1, room; cvta.local.u64 %rd1, %rd1;\n"
                               "{ .param .b64 p; .param .b32 v; .param .b64 n; .param .b64 r; st.param.b64 [p], %rd1; "
                               "st.param.b32 [v], 0x1AB;\n"
                               "st.param.b64 [n], 7; call.uni (r), memset, (p, v, n); }\n"
                               "{ .param .b64 p; .param .b64 q; .param .b64 n; .param .b64 r; st.param.b64 [p], %rd0; "
                               "st.param.b64 [q], %rd1;\n"
                               "st.param.b64 [n], 7; call.uni (r), memcpy, (p, q, n); }",
                               {.block = {64}}, 2,
                               ".extern .func (.param .b64 r) memset(.param .b64 p, .param .b32 v, .param .b64 n);\n"
                               ".extern .func (.param .b64 r) memcpy(.param .b64 p, .param .b64 q, .param .b64 n);\n");
    for (std::size_t t = 0; t < 64; ++t) {
        EXPECT_EQ(r.words[2 * t], 0xABABABABu);
        EXPECT_EQ(r.words[2 * t + 1], 0xABABABu);
    }
}

} // namespace
} // namespace softgpu::test
