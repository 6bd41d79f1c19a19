// SPDX-License-Identifier: MIT
// Vector registers, and vectors of special registers.
#include <gtest/gtest.h>

#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

TEST(VectorRegister, ElementsAreRegistersOfTheirOwn) {
    const auto r = run_threads(".reg .v4 .b32 %v; .reg .v2 .b32 %w<3>;\n"
                               "mov.u32 %v.x, %i; add.u32 %v.y, %v.x, 10; add.u32 %v.z, %v.y, 10; mov.b32 %v.w, 7;\n"
                               "mov.v2.b32 %w1, {%v.z, %v.w}; mov.v2.b32 %w2, %w1; mov.v2.b32 %w0, {%v.y, _};\n"
                               "add.u32 %v.x, %w2.x, %w0.x; st.global.v4.b32 [%rd0], {%v.x, %w2.y, %v.b, %v.a};",
                               {.block = {64}}, 4);
    for (std::uint32_t t = 0; t < 64; ++t) {
        EXPECT_EQ(r.words[4 * t], 2 * t + 30) << t;
        EXPECT_EQ(r.words[4 * t + 1], 7u);
        EXPECT_EQ(r.words[4 * t + 2], t + 20);
        EXPECT_EQ(r.words[4 * t + 3], 7u);
    }
}

TEST(VectorRegister, LoadsStoresAndAddresses) {
    const auto r =
        run_threads(".reg .v4 .u32 %v; .reg .v2 .b64 %at; .reg .v2 .f32 %f; .shared .align 16 .b8 room[1024];\n"
                    "mov.v4.u32 %v, {1, %i, 3, 4}; mov.u32 %r4, room; mad.lo.u32 %r4, %i, 16, %r4;\n"
                    "st.shared.v4.u32 [%r4], %v; mov.v4.u32 %v, {0, 0, 0, 0}; ld.shared.v4.u32 %v, [%r4];\n"
                    "mov.b64 %at.y, %rd0; st.global.v4.u32 [%at.y], %v;\n"
                    "mov.v2.f32 %f, {0f3F800000, 0f40000000}; mov.b64 %at.x, %f;\n"
                    "st.global.b64 [%at.y+16], %at.x;",
                    {.block = {64}}, 8);
    for (std::uint32_t t = 0; t < 64; ++t) {
        const std::vector<std::uint32_t> mine(r.words.begin() + 8 * t, r.words.begin() + 8 * t + 6);
        EXPECT_EQ(mine, (std::vector<std::uint32_t>{1, t, 3, 4, 0x3F800000, 0x40000000}));
    }
}

// All elements are read before any is written.
TEST(VectorRegister, ElementsChangePlaces) {
    check({"mov.v2.b32 {%d, %f}, {%a, %b}; mov.v2.b32 {%d, %f}, {%f, %d};", {"b32", "b32"}, {"b32", "b32"}},
          cross({{1, 2}, {3, 4}}), [](const row& r) {
              return row{r[1], r[0]};
          });
}

TEST(VectorRegister, SpecialRegisters) {
    program p(kernel(".reg .v4 .u32 %v; mov.v4.u32 %v, %tid; mov.v4.u32 {%r4, %r5, _, %r6}, %ctaid; add.u32 %r4, %r4, "
                     "%r6; add.u32 %r4, %r4, %v.w;\n"
                     "mov.u32 %r7, %ntid.x; mad.lo.u32 %r8, %v.y, %r7, %v.x; mul.wide.u32 %rd1, %r8, 16;\n"
                     "mov.u32 %r9, %nctaid.x; mad.lo.u32 %r9, %r5, %r9, %r4; mul.wide.u32 %rd2, %r9, 192;\n"
                     "add.u64 %rd0, %p0, %rd1; add.u64 %rd0, %rd0, %rd2;\n"
                     "mov.v4.u32 %v, {%v.x, %v.y, %r4, %r5}; st.global.v4.u32 [%rd0], %v; ret;"));
    const std::uint64_t at = p.buffer<std::uint32_t>(4 * 6 * 12);
    p.run({.grid = {3, 2}, .block = {4, 3}}, {at});
    const auto words = p.contents<std::uint32_t>(at, 4 * 6 * 12);
    for (std::uint32_t n = 0; n < 6 * 12; ++n) {
        const std::vector<std::uint32_t> mine(words.begin() + 4 * n, words.begin() + 4 * n + 4);
        EXPECT_EQ(mine, (std::vector<std::uint32_t>{n % 4, n / 4 % 3, n / 12 % 3, n / 36})) << n;
    }
}

TEST(VectorRegister, WhatDoesNotFitIsAnError) {
    if (on_hardware()) {
        GTEST_SKIP();
    }
    for (const std::string text : {"mov.v4.b32 %v, {%r1, %r2};", "mov.v2.b32 %r1, %v;", "ld.global.b32 %r1, [%v];",
                                   "add.u32 %v, %v, %v;", "mov.v2.u32 {%r1, %r2}, %tid;"}) {
        program p(kernel(".reg .v4 .b32 %v; " + text + " ret;"));
        EXPECT_EQ(p.attempt({}, {0}).error.kind, machine::fault_kind::invalid_ptx) << text;
    }
}

} // namespace
} // namespace softgpu::test
