// SPDX-License-Identifier: MIT
// Loads and stores of every width, in every space, and how they are addressed.
#include <gtest/gtest.h>

#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

// A space, the code that puts a thread's own 32 bytes of it into %at, and the address as an instruction takes it.
struct place {
    std::string space; // ".global", or nothing for generic
    std::string before;
};
const std::string shared_variable = ".shared .align 16 .b8 s[3072]; .reg .b32 %narrow; mov.u32 %narrow, %tid.x;\n";
const std::string local_variable = ".local .align 16 .b8 l[32];\n";
const std::vector<place>& every_place() {
    static const std::vector<place> list{
        {".global", ".reg .b64 %at; mov.b64 %at, %own;\n"},
        {".shared", shared_variable + ".reg .b32 %at; mov.u32 %at, s; mad.lo.u32 %at, %narrow, 32, %at;\n"},
        {".local", local_variable + ".reg .b64 %at; mov.u64 %at, l;\n"},
        {"", ".reg .b64 %at; mov.b64 %at, %own;\n"},
        {"", shared_variable +
                 ".reg .b64 %at; mov.u64 %at, s; mad.wide.u32 %at, %narrow, 32, %at; cvta.shared.u64 %at, %at;\n"},
        {"", local_variable + ".reg .b64 %at; mov.u64 %at, l; cvta.local.u64 %at, %at;\n"},
    };
    return list;
}

std::string register_of(unsigned bits) { return "b" + std::to_string(std::max(bits, 16u)); }

// LLVM moves the place of a parameter to 32 bits, and makes an address of it by cvta.param.
TEST(Memory, AddressesOfParametersIn32Bits) {
    program p(kernel("mov.b32 %r0, p1+8; cvt.u64.u32 %rd0, %r0; cvta.param.u64 %rd0, %rd0; ld.u64 %rd1, [%rd0];\n"
                     "mov.b64 %rd2, p3; cvta.param.u64 %rd2, %rd2; ld.u64 %rd3, [%rd2];\n"
                     "st.global.v2.u64 [%p0], {%rd1, %rd3}; ret;"));
    const std::uint64_t out = p.buffer<std::uint64_t>(2);
    p.run({}, {out, 11, 22, 33});
    EXPECT_EQ(p.contents<std::uint64_t>(out, 2), (std::vector<std::uint64_t>{22, 33}));
}

// nvcc makes one load of three numbers and of what is behind the last one, and says which bytes it wants.
TEST(Memory, UnusedBytesOfALoadMayBeBehindTheEnd) {
    const auto attempt = [](const std::string& mask, unsigned numbers, const std::string& load) {
        program p(kernel(".pragma \"used_bytes_mask " + mask + "\";\n" + load + " st.global.u32 [%p0], %r3; ret;"));
        const std::uint64_t out = p.buffer<std::uint32_t>(1);
        const std::uint64_t in = p.buffer<std::uint32_t>(numbers, 21);
        const auto how = p.attempt({.block = {1}}, {out, in});
        return std::pair(how.error.kind, p.contents<std::uint32_t>(out, 1)[0]);
    };
    using machine::fault_kind;
    const std::string load = "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%p1];";
    EXPECT_EQ(attempt("0xFFF", 3, load), std::pair(fault_kind::none, 21u));
    EXPECT_EQ(attempt("3855", 3, load), std::pair(fault_kind::none, 21u));
    if (on_hardware()) {
        return; // a GPU does not notice the rest
    }
    EXPECT_EQ(attempt("0xFFFF", 3, load).first, fault_kind::illegal_address);
    EXPECT_EQ(attempt("0xFFF", 2, load).first, fault_kind::illegal_address);
    EXPECT_EQ(attempt("0xF", 2, "ld.global.u32 %r4, [%p1];" + load).first, fault_kind::illegal_address);
}

// A store changes its own bytes only; a load extends by the sign of its type.
TEST(Memory, EveryWidthInEverySpace) {
    for (const place& where : every_place()) {
        for (const int_type& t : all_int_types) {
            for (const unsigned reg : {16u, 32u, 64u}) {
                if (reg < t.bits) {
                    continue;
                }
                const std::string r = register_of(reg);
                const std::string s = where.space;
                check({"st" + s + ".b64 [%at], %b; st" + s + "." + t.name + " [%at], %a; ld" + s + "." + t.name +
                           " %d, [%at]; ld" + s + ".b64 %f, [%at];",
                       {r, "b64"},
                       {r, "b64"},
                       where.before},
                      cross({thinned(int_edges(reg), 2), {0, 0x0123456789ABCDEF}}), [&](const row& v) {
                          const int_type whole{"", reg, false};
                          const std::uint64_t keep = t.bits == 64 ? 0 : ~0ull << t.bits;
                          return row{whole.pattern(t.number(v[0])), (v[1] & keep) | t.truncated(v[0])};
                      });
            }
        }
    }
}

// The address of a constant or a shared variable fits into 32 bits, also where others have 64.
TEST(Memory, NarrowAddressesOfConstants) {
    const threads_result r =
        run_threads("mov.u32 %r3, second; and.b32 %r4, %i, 3; mad.lo.u32 %r3, %r4, 4, %r3;\n"
                    "ld.const.u32 %r5, [%r3]; mov.u32 %r6, second; ld.const.v2.u32 {%r7, %r8}, [%r6+8];\n"
                    "mov.u32 %r9, first; ld.const.u8 %r9, [%r9+2];\n"
                    "st.global.v4.u32 [%rd0], {%r5, %r7, %r8, %r9};",
                    {.block = {32}}, 4,
                    ".const .align 4 .b8 first[4] = {1, 2, 3, 4};\n"
                    ".const .align 16 .u32 second[4] = {10, 20, 30, 40};\n");
    for (std::uint32_t t = 0; t < 32; ++t) {
        EXPECT_EQ(r.words[4 * t], 10 * (t % 4 + 1));
        EXPECT_EQ(r.words[4 * t + 1], 30u);
        EXPECT_EQ(r.words[4 * t + 2], 40u);
        EXPECT_EQ(r.words[4 * t + 3], 3u);
    }
}

TEST(Memory, FloatsAndWideBits) {
    for (const place& where : every_place()) {
        const std::string s = where.space;
        check({"st" + s + ".f32 [%at+4], %a; ld" + s + ".f32 %d, [%at+4];", {"f32"}, {"f32"}, where.before},
              cross({float_edges()}), [](const row& r) { return r; });
        check({"st" + s + ".f64 [%at+8], %a; ld" + s + ".f64 %d, [%at+8];", {"f64"}, {"f64"}, where.before},
              cross({double_edges()}), [](const row& r) { return r; });
        check({"mov.b128 %x, {%a, %b}; st" + s + ".b128 [%at+16], %x; ld" + s +
                   ".b128 %x, [%at+16]; mov.b128 {%d, %f}, %x;",
               {"b64", "b64"},
               {"b64", "b64"},
               where.before + ".reg .b128 %x; mov.b128 %x, {%own, %own};\n"},
              cross({thinned(int_edges(64), 3), thinned(int_edges(64), 3)}), [](const row& r) { return r; });
    }
}

TEST(Memory, Vectors) {
    for (const place& where : every_place()) {
        const std::string s = where.space;
        for (const int_type& t : all_int_types) {
            const std::string reg = register_of(t.bits);
            const int_type whole{"", std::max(t.bits, 16u), false};
            const auto extended = [&](std::uint64_t v) { return whole.pattern(t.number(v)); };
            const std::vector<std::uint64_t> v = thinned(int_edges(t.bits), 4);
            check({"st" + s + ".v2." + t.name + " [%at], {%a, %b}; ld" + s + ".v2." + t.name + " {%d, %f}, [%at]; ld" +
                       s + "." + t.name + " %g, [%at+" + std::to_string(t.bits / 8) + "];",
                   {reg, reg},
                   {reg, reg, reg},
                   where.before},
                  cross({v, v}), [&](const row& r) {
                      return row{extended(r[0]), extended(r[1]), extended(r[1])};
                  });
            if (t.bits < 64) {
                check({"st" + s + ".v4." + t.name + " [%at], {%a, %b, %c, %e}; ld" + s + ".v4." + t.name +
                           " {%d, %f, %g, %k}, [%at];",
                       {reg, reg, reg, reg},
                       {reg, reg, reg, reg},
                       where.before},
                      cross({v, v, {1, 2}, {3, 4}}), [&](const row& r) {
                          return row{extended(r[0]), extended(r[1]), extended(r[2]), extended(r[3])};
                      });
            }
        }
    }
    // A destination of the vector is also the address; one that nobody wants; constants among what is stored.
    check({"st.global.v2.b64 [%at], {%a, %b}; ld.global.v2.b64 {%at, %d}, [%at]; mov.b64 %f, %at;",
           {"b64", "b64"},
           {"b64", "b64"},
           every_place()[0].before},
          cross({{1, 2, 3}, {4, 5, 6}}), [](const row& r) {
              return row{r[1], r[0]};
          });
    check({"st.global.v4.b32 [%at], {%a, 7, %b, -1}; ld.global.v4.b32 {%d, %f, %g, %k}, [%at];",
           {"b32", "b32"},
           {"b32", "b32", "b32", "b32"},
           every_place()[0].before},
          cross({{1, 2, 3}, {4, 5, 6}}), [](const row& r) {
              return row{r[0], 7, r[1], 0xFFFFFFFF};
          });
}

TEST(Memory, Qualifiers) {
    for (const std::string load : {"ld.volatile.global", "ld.relaxed.gpu.global", "ld.acquire.gpu.global",
                                   "ld.global.ca", "ld.global.cg", "ld.relaxed.sys.global", "ld.acquire.cta.global"}) {
        for (const std::string store : {"st.volatile.global", "st.relaxed.gpu.global", "st.release.gpu.global",
                                        "st.global.wb", "st.global.cg", "st.release.sys.global"}) {
            check({store + ".u32 [%own], %a; " + load + ".u32 %d, [%own];", {"b32"}, {"b32"}}, cross({int_edges(32)}),
                  [](const row& r) { return r; });
        }
    }
    check({"st.volatile.shared.u32 [%at], %a; ld.volatile.shared.u32 %d, [%at];",
           {"b32"},
           {"b32"},
           every_place()[1].before},
          cross({int_edges(32)}), [](const row& r) { return r; });
    check({"st.relaxed.cta.shared.u64 [%at], %a; ld.acquire.cta.shared.u64 %d, [%at];",
           {"b64"},
           {"b64"},
           every_place()[1].before},
          cross({int_edges(64)}), [](const row& r) { return r; });
    program p(
        kernel("mul.wide.u32 %rd0, %i, 4; add.u64 %rd1, %rd0, %p0; add.u64 %rd0, %rd0, %p1;\n"
               "ld.global.nc.u32 %r3, [%rd0]; ld.global.nc.L1::no_allocate.u32 %r4, [%rd0]; add.u32 %r3, %r3, %r4;\n"
               "prefetch.global.L2 [%rd0]; st.global.u32 [%rd1], %r3; ret;"));
    const std::uint64_t out = p.buffer<std::uint32_t>(32);
    p.run({}, {out, p.buffer<std::uint32_t>(32, 21)});
    EXPECT_EQ(p.contents<std::uint32_t>(out, 32), std::vector<std::uint32_t>(32, 42));
}

// The lanes of one access in three spaces.
TEST(Memory, GenericLanesApart) {
    const std::string before =
        shared_variable + local_variable +
        ".reg .b64 %at; .reg .b64 %x; rem.u32 %r3, %narrow, 3; setp.eq.u32 %q1, %r3, 1; setp.eq.u32 %q2, %r3, 2;\n"
        "mov.b64 %at, %own; mov.u64 %x, s; mad.wide.u32 %x, %narrow, 32, %x; cvta.shared.u64 %x, %x; selp.b64 %at, %x, "
        "%at, %q1;\n"
        "mov.u64 %x, l; cvta.local.u64 %x, %x; selp.b64 %at, %x, %at, %q2;\n";
    check({"st.u32 [%at], %a; st.v2.u32 [%at+8], {%b, %a}; ld.u32 %d, [%at]; ld.v2.u32 {%f, %g}, [%at+8];",
           {"b32", "b32"},
           {"b32", "b32", "b32"},
           before},
          cross({int_edges(32), {1, 2, 3}}), [](const row& r) {
              return row{r[0], r[1], r[0]};
          });
}

TEST(Memory, IsSpace) {
    const threads_result r = run_threads(
        shared_variable + local_variable +
            "mov.u64 %rd1, s; cvta.shared.u64 %rd1, %rd1; mov.u64 %rd2, l; cvta.local.u64 %rd2, %rd2; mov.u32 %r3, 0;\n"
            "isspacep.shared %q0, %rd1; @%q0 or.b32 %r3, %r3, 1; isspacep.local %q0, %rd1; @%q0 or.b32 %r3, %r3, 2;\n"
            "isspacep.global %q0, %rd1; @%q0 or.b32 %r3, %r3, 4; isspacep.shared %q0, %rd2; @%q0 or.b32 %r3, %r3, 8;\n"
            "isspacep.local %q0, %rd2; @%q0 or.b32 %r3, %r3, 16; isspacep.global %q0, %rd2; @%q0 or.b32 %r3, %r3, 32;\n"
            "isspacep.shared %q0, %p0; @%q0 or.b32 %r3, %r3, 64; isspacep.local %q0, %p0; @%q0 or.b32 %r3, %r3, 128;\n"
            "isspacep.global %q0, %p0; @%q0 or.b32 %r3, %r3, 256; st.global.u32 [%rd0], %r3;\n"
            // To generic and back.
            "cvta.to.shared.u64 %rd3, %rd1; cvta.to.local.u64 %rd4, %rd2; mov.u64 %rd5, s; mov.u64 %rd6, l;\n"
            "setp.eq.u64 %q0, %rd3, %rd5; setp.eq.and.u64 %q0, %rd4, %rd6, %q0; selp.u32 %r4, 1, 0, %q0; st.global.u32 "
            "[%rd0+4], %r4;",
        {}, 2);
    for (unsigned t = 0; t < 32; ++t) {
        EXPECT_EQ(r.words[2 * t], 1u | 16u | 256u);
        EXPECT_EQ(r.words[2 * t + 1], 1u);
    }
}

// Local memory is every thread's own; shared memory every block's.
// Parameters are a part of global memory, constants are not, as on an H200.
TEST(Memory, IsSpaceOfConstantsAndParameters) {
    std::string body =
        "mov.u64 %rd1, fixed; cvta.const.u64 %rd1, %rd1; mov.u64 %rd2, place; cvta.global.u64 %rd2, %rd2;\n"
        "mov.b64 %rd3, p1; cvta.param.u64 %rd3, %rd3; mov.u32 %r3, 0;\n";
    unsigned bit = 0;
    for (const std::string at : {"%rd1", "%rd2", "%rd3"}) {
        for (const std::string space : {"global", "const", "param", "local", "shared"}) {
            body +=
                "isspacep." + space + " %q0, " + at + "; @%q0 or.b32 %r3, %r3, " + std::to_string(1u << bit++) + ";\n";
        }
    }
    const threads_result r = run_threads(body + "isspacep.param::entry %q0, %rd3; @%q0 or.b32 %r3, %r3, 0x8000;\n"
                                                "st.global.u32 [%rd0], %r3;",
                                         {}, 1, ".const .align 4 .b32 fixed[4]; .global .align 4 .b32 place[4];");
    for (const std::uint32_t word : r.words) {
        EXPECT_EQ(word, 0x8000u | 0b00101'00001'00010u);
    }
}

TEST(Memory, OwnMemory) {
    const threads_result r =
        run_threads(".local .align 4 .b8 l[16]; .shared .align 4 .b8 s[16]; mov.u64 %rd1, l; mov.u32 %r4, %tid.x; "
                    "mov.u32 %r5, %ctaid.x;\n"
                    "st.local.u32 [l+4], %i; setp.eq.u32 %q0, %r4, 0; @%q0 st.shared.u32 [s+8], %r5; bar.sync 0;\n"
                    "ld.local.u32 %r6, [%rd1+4]; ld.shared.u32 %r7, [s+8]; st.global.v2.u32 [%rd0], {%r6, %r7};",
                    {.grid = {5}, .block = {70}, .workers = 2}, 2);
    for (unsigned t = 0; t < 350; ++t) {
        EXPECT_EQ(r.words[2 * t], t);
        EXPECT_EQ(r.words[2 * t + 1], t / 70);
    }
}

TEST(Memory, ModuleVariables) {
    const std::string declarations =
        ".visible .global .align 4 .u32 number = 5;\n.global .align 1 .b8 bytes[6] = {1, 2, 255};\n"
        ".const .align 4 .u32 table[4] = {10, 20, 30, 40};\n.global .align 8 .u64 pointer = number;\n"
        ".global .align 8 .u64 pointers[2] = {generic(bytes), generic(bytes)+4};\n.global .align 4 .f32 real = "
        "0f40490FDB;\n"
        ".global .align 8 .f64 reals[2] = {1.5, 0d4000000000000000};\n.global .align 4 .u32 empty[3];\n"
        ".extern .shared .align 16 .b8 dynamic[];\n.shared .align 4 .u32 fixed[8];\n";
    const threads_result r = run_threads(
        "ld.global.u32 %r3, [number]; ld.global.u8 %r4, [bytes+2]; ld.global.u8 %r5, [bytes+3]; ld.const.u32 %r6, "
        "[table+8];\n"
        "st.global.v4.u32 [%rd0], {%r3, %r4, %r5, %r6};\n"
        "ld.global.u64 %rd1, [pointer]; ld.global.u32 %r3, [%rd1]; ld.global.v2.u64 {%rd2, %rd3}, [pointers];\n"
        "ld.u8 %r4, [%rd2+1]; sub.u64 %rd3, %rd3, %rd2; cvt.u32.u64 %r5, %rd3; ld.global.u32 %r6, [real];\n"
        "st.global.v4.u32 [%rd0+16], {%r3, %r4, %r5, %r6};\n"
        "ld.global.f64 %fd0, [reals]; ld.global.f64 %fd1, [reals+8]; cvt.rzi.u32.f64 %r3, %fd0; cvt.rzi.u32.f64 %r4, "
        "%fd1;\n"
        "ld.global.u32 %r5, [empty+8]; mov.u64 %rd4, table; and.b32 %r7, %i, 3; mad.wide.u32 %rd4, %r7, 4, %rd4; "
        "ld.const.u32 %r6, [%rd4];\n"
        "st.global.v4.u32 [%rd0+32], {%r3, %r4, %r5, %r6};\n"
        "mov.u32 %r8, %tid.x; mov.u32 %r9, dynamic; mad.lo.u32 %r9, %r8, 4, %r9; st.shared.u32 [%r9], %i;\n"
        "setp.lt.u32 %q0, %r8, 8; mov.u32 %r10, fixed; mad.lo.u32 %r10, %r8, 4, %r10; @%q0 st.shared.u32 [%r10], %r8;\n"
        "bar.sync 0; xor.b32 %r8, %r8, 31; mov.u32 %r9, dynamic; mad.lo.u32 %r9, %r8, 4, %r9; ld.shared.u32 %r11, "
        "[%r9];\n"
        "ld.shared.u32 %r12, [fixed+20]; mov.u32 %r13, %dynamic_smem_size; mov.u32 %r14, 0; st.global.v4.u32 "
        "[%rd0+48], {%r11, %r12, %r13, %r14};",
        {.block = {32}, .dynamic_shared_bytes = 128}, 16, declarations);
    for (unsigned t = 0; t < 32; ++t) {
        const std::vector<std::uint32_t> mine(r.words.begin() + 16 * t, r.words.begin() + 16 * (t + 1));
        EXPECT_EQ(mine, (std::vector<std::uint32_t>{5, 255, 0, 30, 5, 2, 4, 0x40490FDB, 1, 2, 0, 10 * (t % 4 + 1),
                                                    t ^ 31, 5, 128, 0}))
            << "thread " << t;
    }
}

// Parameters of every width, at fixed and at computed places.
TEST(Memory, Parameters) {
    program p(
        ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .align 16 .b8 q[56], .param .u64 "
        "out)\n{\n"
        ".reg .b64 %rd<8>; .reg .b32 %r<16>; .reg .b16 %h<4>; .reg .pred %q0;\n"
        "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 48; add.u64 %rd0, %rd0, %rd1;\n"
        "ld.param.u8 %r1, [q]; ld.param.s8 %r2, [q+1]; ld.param.u16 %h0, [q+2]; cvt.u32.u16 %r3, %h0; ld.param.s16 "
        "%r4, [q+2];\n"
        "st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};\n"
        "ld.param.v2.u32 {%r1, %r2}, [q+8]; ld.param.s32 %rd2, [q+4]; mov.b64 {%r3, %r4}, %rd2; st.global.v4.u32 "
        "[%rd0+16], {%r1, %r2, %r3, %r4};\n"
        "setp.lt.u32 %q0, %r0, 7; mov.u32 %r1, 1; @%q0 ld.param.u32 %r1, [q+8]; mov.b64 %rd3, q; and.b32 %r5, %r0, 3;\n"
        "mad.wide.u32 %rd3, %r5, 4, %rd3; ld.param.u32 %r2, [%rd3+16]; ld.param.b64 %rd4, [q+48]; mov.b64 {%r3, %r4}, "
        "%rd4;\n"
        "st.global.v4.u32 [%rd0+32], {%r1, %r2, %r3, %r4}; ret;\n}\n");
    const std::uint64_t out = p.buffer<std::uint32_t>(12 * 32);
    p.run({}, {0x80000001'FEFDFC85, 0x11111111'22222222, 0x00000002'00000001, 0x00000004'00000003, 0, 0,
               0x33333333'44444444, out});
    const auto words = p.contents<std::uint32_t>(out, 12 * 32);
    for (unsigned t = 0; t < 32; ++t) {
        const std::vector<std::uint32_t> mine(words.begin() + 12 * t, words.begin() + 12 * (t + 1));
        EXPECT_EQ(mine,
                  (std::vector<std::uint32_t>{0x85, 0xFFFFFFFC, 0xFEFD, 0xFFFFFEFD, 0x22222222, 0x11111111, 0x80000001,
                                              0xFFFFFFFF, t < 7 ? 0x22222222u : 1u, t % 4 + 1, 0x44444444, 0x33333333}))
            << "thread " << t;
    }
}

} // namespace
} // namespace softgpu::test
