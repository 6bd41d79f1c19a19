// SPDX-License-Identifier: MIT
// Registers of matrix instructions, and forms of them and of bulk copies that ptxas refuses.
#include <gtest/gtest.h>

#include "tests/machine/kernel_harness.hpp"

namespace softgpu::test {
namespace {

// A load may write the registers that its address and its stride are in.
TEST(Wmma, LoadsIntoItsOwnOperands) {
    const std::string head = "mul.wide.u32 %rd1, %i, 16; add.u64 %rd1, %rd1, %p0; mov.u32 %r20, room;\n"
                             "shl.b32 %r21, %i, 4; add.u32 %r21, %r21, %r20;\n"
                             "st.shared.v4.u32 [%r21], {%i, %i, %i, %i}; bar.sync 0;\n";
    const std::string tail = "st.global.v4.u32 [%rd1], {%r10, %r11, %r12, %r13}; ret;";
    const auto result = [&](const std::string& load) {
        program p(kernel(head + load + tail, ".shared .align 128 .b8 room[512];"));
        const std::uint64_t out = p.buffer<std::uint32_t>(128);
        p.run({}, {out});
        return p.contents<std::uint32_t>(out, 128);
    };
    const std::string load = "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 "
                             "{%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, ";
    const auto expected = result("mov.u32 %r19, 16;\n" + load + "[%r20], %r19;\n");
    EXPECT_NE(expected, std::vector<std::uint32_t>(128));
    EXPECT_EQ(result("mov.u32 %r10, %r20; mov.u32 %r11, 16;\n" + load + "[%r10], %r11;\n"), expected);
}

// Lanes that meet at an instruction from different calls of its function get what those of one call get.
TEST(MatrixForms, LanesInDifferentCalls) {
    const std::string one_call = "call (out), g, (in);\n";
    const std::string two_calls = "setp.lt.u32 %q0, %i, 13; @%q0 bra LOW;\ncall (out), g, (in);\nbra JOIN;\n"
                                  "LOW: call (out), g, (in);\nJOIN:\n";
    const auto result = [&](const std::string& text, const std::string& calls) {
        program p(kernel("mov.u32 %r20, room; shl.b32 %r21, %i, 4; add.u32 %r21, %r21, %r20;\n"
                         "mul.lo.u32 %r22, %i, 0x1020304; add.u32 %r23, %r22, 0x1234567; mov.u32 %r24, 16;\n"
                         "st.shared.v4.u32 [%r21], {%r22, %r23, %r22, %r23}; bar.sync 0;\n"
                         "{ .param .b32 in; .param .b32 out; st.param.b32 [in], %r21;\n" +
                             calls +
                             "ld.param.b32 %r10, [out]; }\n"
                             "mul.wide.u32 %rd1, %i, 4; add.u64 %rd1, %rd1, %p0; st.global.u32 [%rd1], %r10; ret;",
                         ".shared .align 128 .b8 room[2048];\n"
                         ".func (.param .b32 y) g(.param .b32 x) { .reg .b32 %a, %b, %c, %d, %e, %s; .reg .f64 %x<4>;\n"
                         "ld.param.b32 %a, [x]; ld.shared.b32 %b, [%a]; mov.b32 %s, 16;\n" +
                             text + "\nst.param.b32 [y], %c; ret; }\n"));
        const std::uint64_t out = p.buffer<std::uint32_t>(32);
        const auto how = p.attempt({}, {out});
        EXPECT_FALSE(how.error) << text << how.error.message;
        return p.contents<std::uint32_t>(out, 32);
    };
    for (const std::string text :
         {"movmatrix.sync.aligned.m8n8.trans.b16 %c, %b;", "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%c, %d}, [%a];",
          "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%a], {%b}; ld.shared.b32 %c, [%a];",
          "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%c, %d}, {%b}, {%b}, {%a, %b};",
          "and.b32 %a, %a, -512; wmma.load.c.sync.aligned.row.m8n8k32.shared.s32 {%c, %d}, [%a], %s;",
          "cvt.rn.f64.u32 %x0, %a; mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%x1, %x2}, {%x0}, {%x0}, {%x0, "
          "%x0};\n"
          "cvt.rzi.u32.f64 %c, %x2;"}) {
        const auto expected = result(text, one_call);
        EXPECT_NE(expected, std::vector<std::uint32_t>(32)) << text;
        EXPECT_EQ(result(text, two_calls), expected) << text;
    }
}

machine::fault_kind fault_of(const std::string& text) {
    program p(kernel("mov.u32 %r20, room; mov.u32 %r21, bar; mbarrier.init.shared.b64 [%r21], 1;\n" + text + "\nret;",
                     ".shared .align 128 .b8 room[2048]; .shared .align 8 .b64 bar;"));
    return p.attempt({}, {p.buffer<std::uint32_t>(512)}).error.kind;
}

void expect_refused(const std::string& right, std::initializer_list<std::string> wrong) {
    EXPECT_EQ(fault_of(right), machine::fault_kind::none) << right;
    for (const std::string& text : wrong) {
        const machine::fault_kind kind = fault_of(text);
        EXPECT_TRUE(kind == machine::fault_kind::unsupported || kind == machine::fault_kind::invalid_ptx) << text;
    }
}

TEST(MatrixForms, LayoutsThatDoNotExist) {
    if (on_hardware()) {
        GTEST_SKIP() << "ptxas refuses them";
    }
    const auto mma = [](const std::string& layout) {
        return "mma.sync.aligned.m16n8k16" + layout +
               ".f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%f5, %f6, %f7, %f8};";
    };
    expect_refused(mma(".row.col"), {mma(".col.row"), mma(".row.row"), mma(".col.col"), mma("")});
    const auto nibbles = [](const std::string& layout) {
        return "wmma.mma.sync.aligned" + layout + ".m8n8k32.s32.s4.s4.s32 {%r10, %r11}, {%r12}, {%r13}, {%r14, %r15};";
    };
    expect_refused(nibbles(".row.col"), {nibbles(".col.row"), nibbles(".row.row"), nibbles("")});
    const auto load = [](const std::string& what, const std::string& to = "{%r10}") {
        return "wmma.load." + what + " " + to + ", [%p0], 32;";
    };
    expect_refused(load("a.sync.aligned.row.m8n8k32.global.s4"), {load("a.sync.aligned.col.m8n8k32.global.s4")});
    expect_refused(load("b.sync.aligned.col.m8n8k32.global.s4"), {load("b.sync.aligned.row.m8n8k32.global.s4")});
    for (const std::string layout : {".row", ".col"}) {
        expect_refused(load("c.sync.aligned" + layout + ".m8n8k32.global.s32", "{%r10, %r11}"),
                       {load("c.sync.aligned.m8n8k32.global.s32", "{%r10, %r11}")});
    }
}

TEST(MatrixForms, NumbersOfOperands) {
    if (on_hardware()) {
        GTEST_SKIP() << "ptxas refuses them";
    }
    const std::string mma =
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r10, %r11}, {%r12}";
    expect_refused(mma + ", {%f5, %f6, %f7, %f8};", {mma + ";", mma + ", {%f5, %f6, %f7, %f8}, {%f9};"});
    const std::string load = "wmma.load.a.sync.aligned.row.m8n8k32.global.s4 {%r10}";
    expect_refused(load + ", [%p0], 32;", {load + ";", load + ", [%p0], 32, 32;"});
    const std::string rows = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}";
    expect_refused(rows + ", [%r20];", {rows + ";", rows + ", [%r20], %r10;"});
    const std::string in = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r20], [%p0], 0";
    expect_refused(in + ", [%r21];", {in + ";", in + ", [%r21], %rd1;"});
    const std::string out = "cp.async.bulk.global.shared::cta.bulk_group [%p0], [%r20]";
    expect_refused(out + ", 0;", {out + ";", out + ", 0, %rd1;"});
}

} // namespace
} // namespace softgpu::test
