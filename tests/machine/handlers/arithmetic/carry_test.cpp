// SPDX-License-Identifier: MIT
// Carry chains: each link by itself, and sums, differences and products of 128 bits made of them.
#include <gtest/gtest.h>

#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

uint128 joined(std::uint64_t low, std::uint64_t high) { return static_cast<uint128>(high) << 64 | low; }
row parts(uint128 v) { return {static_cast<std::uint64_t>(v), static_cast<std::uint64_t>(v >> 64)}; }
std::vector<row> wide_pairs() {
    const std::vector<std::uint64_t> v = thinned(int_edges(64), 4);
    return cross({v, v, v, v});
}

// The carry is made visible by adding it to zero, or the borrow by subtracting it.
TEST(Carry, SingleLinks) {
    for (const int_type& t : {u32, s32, u64, s64}) {
        const std::vector<row> rows = cross({int_edges(t.bits), int_edges(t.bits)});
        const std::string n = t.name;
        const int_type u{"", t.bits, false};
        check({"add.cc." + n + " %d, %a, %b; addc." + n + " %f, 0, 0;", {t.reg(), t.reg()}, {t.reg(), t.reg()}}, rows,
              [&](const row& r) {
                  const int128 sum = u.number(r[0]) + u.number(r[1]);
                  return row{u.pattern(sum), sum > u.most() ? 1ull : 0ull};
              });
        check({"sub.cc." + n + " %d, %a, %b; subc." + n + " %f, 0, 0;", {t.reg(), t.reg()}, {t.reg(), t.reg()}}, rows,
              [&](const row& r) {
                  const int128 difference = u.number(r[0]) - u.number(r[1]);
                  return row{u.pattern(difference), difference < 0 ? u.truncated(~0ull) : 0ull};
              });
    }
}

TEST(Carry, Sum128) {
    check({"add.cc.u64 %d, %a, %c; addc.u64 %f, %b, %e;", {"b64", "b64", "b64", "b64"}, {"b64", "b64"}}, wide_pairs(),
          [](const row& r) { return parts(joined(r[0], r[1]) + joined(r[2], r[3])); });
    check({"sub.cc.u64 %d, %a, %c; subc.u64 %f, %b, %e;", {"b64", "b64", "b64", "b64"}, {"b64", "b64"}}, wide_pairs(),
          [](const row& r) { return parts(joined(r[0], r[1]) - joined(r[2], r[3])); });
}

// Four links of 32 bits, three of which take a carry and pass one on.
TEST(Carry, Sum128InWords) {
    for (const bool subtract : {false, true}) {
        const std::string op = subtract ? "sub" : "add";
        check({"mov.b64 {%r2, %r3}, %a; mov.b64 {%r4, %r5}, %b; mov.b64 {%r6, %r7}, %c; mov.b64 {%r8, %r9}, %e;" + op +
                   ".cc.u32 %r10, %r2, %r6;" + op + "c.cc.u32 %r11, %r3, %r7;" + op + "c.cc.u32 %r12, %r4, %r8;" + op +
                   "c.u32 %r13, %r5, %r9; mov.b64 %d, {%r10, %r11}; mov.b64 %f, {%r12, %r13};",
               {"b64", "b64", "b64", "b64"},
               {"b64", "b64"}},
              wide_pairs(), [&](const row& r) {
                  const uint128 a = joined(r[0], r[1]);
                  const uint128 b = joined(r[2], r[3]);
                  return parts(subtract ? a - b : a + b);
              });
    }
}

// 64 x 64 bits in 32-bit words: mad.lo.cc, madc.hi.cc and their kin.
TEST(Carry, Product128InWords) {
    check({"mov.b64 {%r2, %r3}, %a; mov.b64 {%r4, %r5}, %b;"
           "mul.lo.u32 %r10, %r2, %r4; mul.hi.u32 %r11, %r2, %r4;"
           "mad.lo.cc.u32 %r11, %r2, %r5, %r11; madc.hi.u32 %r12, %r2, %r5, 0;"
           "mad.lo.cc.u32 %r11, %r3, %r4, %r11; madc.hi.cc.u32 %r12, %r3, %r4, %r12; addc.u32 %r13, 0, 0;"
           "mad.lo.cc.u32 %r12, %r3, %r5, %r12; madc.hi.u32 %r13, %r3, %r5, %r13;"
           "mov.b64 %d, {%r10, %r11}; mov.b64 %f, {%r12, %r13};",
           {"b64", "b64"},
           {"b64", "b64"}},
          cross({int_edges(64), int_edges(64)}), [](const row& r) { return parts(static_cast<uint128>(r[0]) * r[1]); });
}

// (a * b + c) >> 64, with a carry into the high half.
TEST(Carry, MadOfDoubleWords) {
    const std::vector<std::uint64_t> v = thinned(int_edges(64), 2);
    check({"mad.lo.cc.u64 %d, %a, %b, %c; madc.hi.u64 %f, %a, %b, 0;", {"b64", "b64", "b64"}, {"b64", "b64"}},
          cross({v, v, v}), [](const row& r) { return parts(static_cast<uint128>(r[0]) * r[1] + r[2]); });
    check({"mad.lo.cc.s64 %d, %a, %b, %c; madc.hi.s64 %f, %a, %b, 0;", {"b64", "b64", "b64"}, {"b64", "b64"}},
          cross({v, v, v}),
          [](const row& r) { return parts(static_cast<uint128>(s64.number(r[0]) * s64.number(r[1])) + r[2]); });
    const std::vector<std::uint64_t> w = thinned(int_edges(32), 2);
    check({"mad.lo.cc.s32 %d, %a, %b, %c; madc.hi.s32 %f, %a, %b, 0;", {"b32", "b32", "b32"}, {"b32", "b32"}},
          cross({w, w, w}), [](const row& r) {
              const std::uint64_t whole = static_cast<std::uint64_t>(s32.number(r[0]) * s32.number(r[1])) + r[2];
              return row{whole & 0xFFFFFFFFu, whole >> 32};
          });
}

// Each lane has a condition code of its own, and lanes that a guard leaves out keep theirs.
TEST(Carry, OfEachLane) {
    const threads_result r = run_threads(
        "and.b32 %r1, %i, 1; setp.eq.u32 %q0, %r1, 0; neg.s32 %r2, %r1;" // odd lanes: all ones
        "add.cc.u32 %r3, %r2, 1; @%q0 add.cc.u32 %r3, -1, 1; addc.u32 %r4, 0, 0; st.global.u32 [%rd0], %r4;",
        {.block = {64}});
    for (std::size_t t = 0; t < r.words.size(); ++t) {
        EXPECT_EQ(r.words[t], 1u) << "thread " << t;
    }
}

} // namespace
} // namespace softgpu::test
