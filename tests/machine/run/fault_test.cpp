// SPDX-License-Identifier: MIT
// Accesses that must not be: the kind of fault, what the message names, and a process that goes on.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

using machine::fault_kind;

std::string hexadecimal(std::uint64_t v) {
    char text[24];
    std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(v));
    return text;
}

class fault_test : public testing::Test {
protected:
    void SetUp() override {
        if (on_hardware()) {
            GTEST_SKIP() << "a fault there ends the context";
        }
    }

    // Runs the body in 2 blocks of 64; %p0 is a buffer of 64 bytes with nothing beside it, %p1 what the test says.
    machine::launch_result run(const std::string& body, std::uint64_t p1 = 0, const std::string& declarations = {}) {
        on_.emplace(kernel(body + "\nret;", declarations));
        on_->buffer<std::uint8_t>(64); // so that what lies before the other is not the window of local memory
        buffer_ = on_->buffer<std::uint8_t>(64);
        return on_->attempt({.grid = {2}, .block = {64}}, {buffer_, p1});
    }
    void expect(const machine::launch_result& r, fault_kind kind, std::initializer_list<std::string> parts) {
        EXPECT_EQ(r.error.kind, kind) << r.error.message;
        for (const std::string& part : parts) {
            EXPECT_NE(r.error.message.find(part), std::string::npos) << "no \"" << part << "\" in: " << r.error.message;
        }
        EXPECT_EQ(r.error.message.find('\n'), std::string::npos);
    }

    std::optional<program> on_;
    std::uint64_t buffer_ = 0;
};

const std::string only_thread_37 = "setp.ne.u32 %q0, %i, 37; @%q0 exit;\n";

// Also of a constant whose address was narrow.
TEST_F(fault_test, BehindConstantsOfNarrowAddress) {
    expect(run("mov.u32 %r3, c; mad.lo.u32 %r3, %i, 4, %r3; ld.const.u32 %r4, [%r3];", 0,
               ".const .align 4 .u32 c[4] = {1, 2, 3, 4};"),
           fault_kind::illegal_address, {"thread (4,0,0)", "read 4 bytes"});
}

TEST_F(fault_test, OneByteBehindAndBefore) {
    for (const char* op :
         {"ld.global.u8 %r3, [%rd1]", "st.global.u8 [%rd1], %r3", "ld.u8 %r3, [%rd1]", "st.u8 [%rd1], %r3"}) {
        const bool store = op[0] == 's';
        auto r = run(only_thread_37 + "add.u64 %rd1, %p0, 64; " + op + ";");
        expect(r, fault_kind::illegal_address,
               {"kernel k", "block (0,0,0)", "thread (37,0,0)", hexadecimal(buffer_ + 64),
                store ? "write 1 byte" : "read 1 byte", "64 bytes at " + hexadecimal(buffer_)});
        r = run(only_thread_37 + "add.u64 %rd1, %p0, -1; " + op + ";");
        expect(r, fault_kind::illegal_address, {"thread (37,0,0)", hexadecimal(buffer_ - 1), "begins 1 bytes behind"});
    }
}

TEST_F(fault_test, RunsOverTheEnd) {
    on_.emplace(kernel("ld.global.u32 %r3, [%p0+60]; ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%p0+48]; ld.global.v2.u32 "
                       "{%r3, %r4}, [%p0+56]; ret;"));
    buffer_ = on_->buffer<std::uint8_t>(64);
    EXPECT_EQ(on_->attempt({}, {buffer_}).error.kind, fault_kind::none);
    const std::uint64_t odd = on_->buffer<std::uint8_t>(62);
    expect(on_->attempt({}, {odd}), fault_kind::illegal_address,
           {hexadecimal(odd + 60), "4 bytes", "runs over its end"});
}

// A whole warp runs off the end: the first lane that does is named.
TEST_F(fault_test, NamesTheFirstLane) {
    auto r = run("mul.wide.u32 %rd1, %i, 4; add.u64 %rd1, %rd1, %p0; st.global.u32 [%rd1], %i;");
    expect(r, fault_kind::illegal_address, {"block (0,0,0)", "thread (16,0,0)", hexadecimal(buffer_ + 64)});
    r = run("mul.wide.u32 %rd1, %i, 12; add.u64 %rd1, %rd1, %p0; st.global.u32 [%rd1], %i;");
    expect(r, fault_kind::illegal_address, {"thread (6,0,0)", hexadecimal(buffer_ + 72)});
}

TEST_F(fault_test, NullAndWildAddresses) {
    for (const std::uint64_t at : {0ull, 4ull, 0x10000ull, 1ull << 60, ~0ull - 3, 0x7FFFFFFFFFFCull}) {
        for (const char* op :
             {"ld.global.u32 %r3, [%p1]", "st.global.u32 [%p1], %r3", "ld.u32 %r3, [%p1]", "st.u32 [%p1], %r3",
              "atom.global.add.u32 %r3, [%p1], 1", "red.add.u32 [%p1], 1", "ld.global.u16 %h0, [%p1]"}) {
            const auto r = run(std::string(op) + ";", at);
            expect(r, fault_kind::illegal_address, {"kernel k", "thread (0,0,0)", hexadecimal(at)});
        }
    }
}

// Whether or not anything is allocated on the device.
TEST_F(fault_test, MemoryOfTheHost) {
    int there = 0;
    const auto at = reinterpret_cast<std::uint64_t>(&there);
    const std::initializer_list<std::string> parts{hexadecimal(at), "memory of the host, which kernels cannot reach"};
    expect(run("ld.global.u32 %r3, [%p1];", at), fault_kind::illegal_address, parts);
    on_.emplace(kernel("ld.global.u32 %r3, [%p0]; ret;"));
    expect(on_->attempt({}, {at}), fault_kind::illegal_address, parts);
    expect(on_->attempt({}, {0}), fault_kind::illegal_address, {"nothing is allocated"});
}

TEST_F(fault_test, FreedMemory) {
    on_.emplace(kernel("mul.wide.u32 %rd1, %i, 4; add.u64 %rd1, %rd1, %p0; st.global.u32 [%rd1], %i; ret;"));
    const std::uint64_t at = on_->buffer<std::uint32_t>(32);
    EXPECT_EQ(on_->attempt({}, {at}).error.kind, fault_kind::none);
    on_->release(at);
    expect(on_->attempt({}, {at}), fault_kind::illegal_address, {hexadecimal(at), "thread (0,0,0)"});
}

TEST_F(fault_test, Misaligned) {
    const std::vector<std::pair<std::string, unsigned>> accesses{{"ld.global.u16 %h0, [%rd1]", 1},
                                                                 {"ld.global.u32 %r3, [%rd1]", 2},
                                                                 {"st.global.u32 [%rd1], %r3", 1},
                                                                 {"ld.global.u64 %rd2, [%rd1]", 4},
                                                                 {"ld.global.v2.u32 {%r3, %r4}, [%rd1]", 4},
                                                                 {"st.global.v4.u32 [%rd1], {%r3, %r3, %r3, %r3}", 8},
                                                                 {"ld.global.v2.u64 {%rd2, %rd3}, [%rd1]", 8},
                                                                 {"ld.u32 %r3, [%rd1]", 2},
                                                                 {"atom.global.add.u32 %r3, [%rd1], 1", 2},
                                                                 {"red.global.add.u64 [%rd1], 1", 4}};
    for (const auto& [op, by] : accesses) {
        std::string text = only_thread_37;
        text.append("add.u64 %rd1, %p0, ").append(std::to_string(by)).append("; ").append(op).append(";");
        const auto r = run(text);
        expect(r, fault_kind::misaligned_address,
               {"kernel k", "thread (37,0,0)", hexadecimal(buffer_ + by), "misaligned"});
    }
    expect(run(".shared .align 8 .b8 s[64]; ld.shared.u32 %r3, [s+2];"), fault_kind::misaligned_address,
           {"shared", "0x2"});
    expect(run(".local .align 8 .b8 l[64]; ld.local.u32 %r3, [l+2];"), fault_kind::misaligned_address,
           {"local", "0x2"});
}

TEST_F(fault_test, BeyondShared) {
    const std::string s = ".shared .align 4 .b8 s[64]; mov.u32 %r3, s; mov.u64 %rd1, s; cvta.shared.u64 %rd1, %rd1;\n";
    expect(run(s + only_thread_37 + "ld.shared.u32 %r4, [%r3+64];"), fault_kind::illegal_address,
           {"shared", "thread (37,0,0)", "0x40", "64 bytes"});
    expect(run(s + "st.shared.u8 [%r3+64], %r4;"), fault_kind::illegal_address, {"write 1 byte", "shared"});
    expect(run(s + "st.shared.u8 [%r3+-1], %r4;"), fault_kind::illegal_address, {"shared"});
    expect(run(s + "mul.lo.u32 %r5, %i, 4; add.u32 %r5, %r5, %r3; st.shared.u32 [%r5], %r4;"),
           fault_kind::illegal_address, {"thread (16,0,0)"});
    expect(run(s + "st.u32 [%rd1+64], %r4;"), fault_kind::illegal_address, {"shared"});
    expect(run(s + "atom.shared.add.u32 %r4, [%r3+64], 1;"), fault_kind::illegal_address, {"shared"});
    expect(run(s + "atom.add.u32 %r4, [%rd1+64], 1;"), fault_kind::illegal_address,
           {"cannot atomically update 4 bytes of shared memory"});
    expect(run("mov.u32 %r3, 0; ld.shared.u32 %r4, [%r3];"), fault_kind::illegal_address, {"shared", "0 bytes"});
}

TEST_F(fault_test, BeyondLocal) {
    const std::string l = ".local .align 4 .b8 l[32]; mov.u64 %rd1, l; cvta.local.u64 %rd2, %rd1;\n";
    expect(run(l + "st.local.u32 [%rd1+28], %r4; ld.local.u32 %r4, [%rd1+32];"), fault_kind::illegal_address,
           {"local", "32 bytes"});
    expect(run(l + only_thread_37 + "st.local.u8 [%rd1+-1], %r4;"), fault_kind::illegal_address,
           {"local", "thread (37,0,0)"});
    expect(run(l + "st.u32 [%rd2+32], %r4;"), fault_kind::illegal_address, {"local"});
}

TEST_F(fault_test, Variables) {
    expect(run("ld.global.u32 %r3, [v+16];", 0, ".global .align 4 .u32 v[4];"), fault_kind::illegal_address,
           {"variable v", "16 bytes"});
    expect(run("mov.u64 %rd1, c; mad.wide.u32 %rd1, %i, 4, %rd1; ld.const.u32 %r3, [%rd1];", 0,
               ".const .align 4 .u32 c[4] = {1, 2, 3, 4};"),
           fault_kind::illegal_address, {"thread (4,0,0)", "variable c"});
}

// A guard that fails protects.
TEST_F(fault_test, NotWhereTheGuardFails) {
    const auto r = run(
        "setp.eq.u32 %q0, %i, 999; mov.u64 %rd1, 0; @%q0 ld.global.u32 %r3, [%rd1]; @%q0 st.global.u32 [%rd1], %r3;\n"
        "@%q0 ld.shared.u32 %r3, [100]; @%q0 atom.global.add.u32 %r3, [%rd1], 1; @%q0 trap;\n"
        "setp.lt.u32 %q1, %i, 16; mul.wide.u32 %rd1, %i, 4; add.u64 %rd1, %rd1, %p0; @%q1 st.global.u32 [%rd1], %i;");
    EXPECT_EQ(r.error.message, "");
}

TEST_F(fault_test, TrapAndUnsupported) {
    expect(run(only_thread_37 + "trap;"), fault_kind::trap, {"kernel k", "thread (37,0,0)", "trap"});
    expect(run("multimem.red.relaxed.gpu.global.add.u32 [%p0], %r3;"), fault_kind::unsupported,
           {"kernel k", "not supported", "multimem.red.relaxed.gpu.global.add.u32 [%p0], %r3;"});
    // Only where it is reached.
    EXPECT_EQ(run("setp.eq.u32 %q0, %i, 999; @!%q0 bra over; multimem.red.relaxed.gpu.global.add.u32 [%p0], %r3; over:")
                  .error.message,
              "");
    expect(run("bar.sync 16;"), fault_kind::trap, {"barriers"});
}

// A call is named itself, not the moves of its arguments and results around it.
TEST_F(fault_test, FunctionsThatAreMissingAreNamed) {
    const auto r = run("{ .param .b32 param0; st.param.b32 [param0+0], %r3; .param .b32 retval0;\n"
                       "call.uni (retval0), callee, (param0); ld.param.b32 %r4, [retval0+0]; }",
                       0, ".extern .func (.param .b32 result) callee (.param .b32 argument);\n");
    expect(r, fault_kind::unsupported, {"kernel k", "thread (0,0,0)", "call of callee, which neither the program"});
}

TEST_F(fault_test, BodiesThatMakeNoSense) {
    for (const char* body :
         {"bra nowhere;", "add.u32 %r3, %unknown, 1;", "ld.global.u32 %r3, [nothing];",
          "mov.u32 %r3, %no_such_register;", "add.u32 5, %r3, %r4;", "ld.global.u32 %r3, %rd1;", "add.u32 %r3, %r4;",
          "shfl.sync.up.b32 %r3;", "atom.global.add.u32 %r3;", "mov.u64 %rd1, absent;"}) {
        const auto r = run(body);
        EXPECT_EQ(r.error.kind, fault_kind::invalid_ptx) << body << ": " << r.error.message;
        EXPECT_NE(r.error.message.find("kernel k"), std::string::npos) << r.error.message;
    }
}

// After a fault the module and its memory are as good as before.
TEST_F(fault_test, TheNextLaunchRuns) {
    on_.emplace(kernel("mul.wide.u32 %rd1, %i, 4; add.u64 %rd1, %rd1, %p0; st.global.u32 [%rd1], %i; bar.sync 0; "
                       "ld.global.u32 %r3, [%p1]; ret;"));
    const std::uint64_t at = on_->buffer<std::uint32_t>(256);
    for (unsigned n = 0; n < 4; ++n) {
        EXPECT_EQ(on_->attempt({.grid = {2}, .block = {128}, .workers = 2}, {at, 0}).error.kind,
                  fault_kind::illegal_address);
        EXPECT_EQ(on_->attempt({.grid = {2}, .block = {128}, .workers = 2}, {at, at}).error.kind, fault_kind::none);
    }
}

} // namespace
} // namespace softgpu::test
