// SPDX-License-Identifier: MIT
// Variables, parameters and initialisers.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "softgpu/ptx/ast.hpp"
#include "tests/ptx/texts.hpp"

namespace {

using namespace softgpu::ptx;

variable only(const std::string& text) {
    const module m = parse(test::in_module(text));
    EXPECT_EQ(m.variables.size(), 1u) << text;
    return m.variables.at(0);
}

std::vector<std::uint64_t> bits_of(const variable& v) {
    std::vector<std::uint64_t> bits;
    for (const initial_value& value : v.initial) {
        bits.push_back(value.bits);
    }
    return bits;
}

using numbers = std::vector<std::uint64_t>;

TEST(variables, space_type_alignment) {
    const variable v = only(".visible .const .align 16 .v4 .f32 x[3];");
    EXPECT_EQ(v.name, "x");
    EXPECT_EQ(v.space, suffix::const_);
    EXPECT_EQ(v.type, suffix::f32);
    EXPECT_EQ(v.vector, 4u);
    EXPECT_EQ(v.alignment, 16u);
    EXPECT_EQ(v.dimensions, numbers{3});
    EXPECT_EQ(v.bytes(), 48u);
    EXPECT_EQ(v.link, linkage::visible);
    EXPECT_EQ(v.where, (location{4, 36}));
    EXPECT_EQ(only(".global .v2 .u16 x;").aligned_to(), 4u);
}

TEST(variables, linkage_and_attributes) {
    EXPECT_EQ(only(".extern .global .b8 x;").link, linkage::external);
    EXPECT_EQ(only(".weak .global .b8 x;").link, linkage::weak);
    EXPECT_EQ(only(".common .global .b8 x;").link, linkage::common);
    EXPECT_EQ(only(".global .b8 x;").link, linkage::none);
    EXPECT_TRUE(only(".global .attribute(.managed) .b8 x;").managed);
    EXPECT_FALSE(only(".global .b8 x;").managed);
    const variable both = only(".global .attribute(.managed, .unified(3, 4)) .b8 x;");
    EXPECT_TRUE(both.managed);
    EXPECT_EQ(both.attribute, ".unified(3, 4)");
}

TEST(variables, arrays) {
    const variable unknown = only(".extern .shared .align 16 .b8 x[];");
    EXPECT_TRUE(unknown.is_array);
    EXPECT_TRUE(unknown.dimensions.empty());
    EXPECT_EQ(unknown.bytes(), 0u);
    EXPECT_EQ(only(".global .b32 x[4][2 * 4];").bytes(), 128u);
    EXPECT_EQ(only(".global .b32 x[] = {1, 2, 3};").dimensions, numbers{3});
    EXPECT_EQ(only(".global .b32 x[][2] = {{1}, {2, 3}};").dimensions, (numbers{2, 2}));
}

TEST(variables, lists) {
    const module m = parse(test::in_module(".global .align 8 .b32 a, b[2] = {1}, c = 5;"));
    ASSERT_EQ(m.variables.size(), 3u);
    EXPECT_EQ(m.variables[1].name, "b");
    EXPECT_EQ(m.variables[2].alignment, 8u);
    EXPECT_EQ(bits_of(m.variables[2]), numbers{5});
}

TEST(variables, integers_are_cut_to_the_type) {
    EXPECT_EQ(bits_of(only(".global .b8 x[4] = {-1, 255, 300, 0x80};")), (numbers{255, 255, 44, 128}));
    EXPECT_EQ(bits_of(only(".global .s16 x = -2;")), numbers{0xFFFE});
    EXPECT_EQ(bits_of(only(".global .s64 x = -2;")), numbers{0xFFFFFFFFFFFFFFFE});
}

TEST(variables, floats_take_the_bits_of_the_type) {
    EXPECT_EQ(bits_of(only(".global .f32 x = 0.1;")), numbers{std::bit_cast<std::uint32_t>(0.1f)});
    EXPECT_EQ(bits_of(only(".global .f64 x = 0.1;")), numbers{std::bit_cast<std::uint64_t>(0.1)});
    EXPECT_EQ(bits_of(only(".global .f64 x = 0f3F800000;")), numbers{std::bit_cast<std::uint64_t>(1.0)});
    EXPECT_EQ(bits_of(only(".global .b32 x = 0f3F800000;")), numbers{0x3F800000});
    EXPECT_EQ(bits_of(only(".global .u64 x = 1.0;")), numbers{std::bit_cast<std::uint64_t>(1.0)});
}

TEST(variables, rows_are_filled_up) {
    EXPECT_EQ(bits_of(only(".global .b32 x[3][2] = {{1}, {2, 3}, {4}};")), (numbers{1, 0, 2, 3, 4}));
    EXPECT_EQ(bits_of(only(".global .b32 x[2][2][2] = {{{1}, {2}}, {{3}}};")), (numbers{1, 0, 2, 0, 3}));
    EXPECT_EQ(bits_of(only(".global .v2 .b32 x[2] = {{1}, {2, 3}};")), (numbers{1, 0, 2, 3}));
    EXPECT_EQ(bits_of(only(".global .b32 x[2] = {};")), numbers{});
}

TEST(variables, strings) {
    EXPECT_EQ(bits_of(only(".global .b8 x[] = \"a\\\"\\n\\101\";")), (numbers{'a', '"', '\n', 'A', 0}));
    EXPECT_EQ(bits_of(only(".global .b8 x[2] = \"ab\";")), (numbers{'a', 'b'}));
    EXPECT_EQ(only(".global .b8 x[] = \"ab\";").dimensions, numbers{3});
}

TEST(variables, addresses) {
    const module m = parse(test::in_module(".global .b32 a; .global .u64 x[] = {a, a+4, generic(a), generic(a) - 4, "
                                           "0xff(a), 0xFF00(generic(a)+8), 0xFF00(0x1234)};"));
    const std::vector<initial_value>& initial = m.variables.at(1).initial;
    ASSERT_EQ(initial.size(), 7u);
    EXPECT_EQ(initial[0].symbol, "a");
    EXPECT_FALSE(initial[0].generic);
    EXPECT_EQ(initial[1].offset, 4);
    EXPECT_TRUE(initial[2].generic);
    EXPECT_EQ(initial[3].offset, -4);
    EXPECT_EQ(initial[4].mask, 0xFFu);
    EXPECT_EQ(initial[5].mask, 0xFF00u);
    EXPECT_EQ(initial[5].offset, 8);
    EXPECT_TRUE(initial[5].generic);
    EXPECT_EQ(initial[6].bits, 0x12u);
    EXPECT_EQ(initial[6].mask, 0u);
}

TEST(variables, parameters) {
    const module m = parse(test::in_module(".visible .entry k(.param .u64 .ptr .global .align 16 a, .param .u64 .ptr "
                                           ".align 1 b, .param .align 8 .b8 c[24]);"));
    const std::vector<variable>& p = m.functions.at(0).parameters;
    ASSERT_EQ(p.size(), 3u);
    EXPECT_TRUE(p[0].is_pointer);
    EXPECT_EQ(p[0].pointed_space, suffix::global);
    EXPECT_EQ(p[0].pointed_alignment, 16u);
    EXPECT_EQ(p[0].alignment, 0u);
    EXPECT_EQ(p[1].pointed_space, suffix::none);
    EXPECT_EQ(p[2].bytes(), 24u);
    EXPECT_EQ(p[2].aligned_to(), 8u);
    EXPECT_EQ(p[2].space, suffix::param);
}

TEST(variables, found_by_name) {
    module m = parse(test::in_module(".extern .global .b32 x; .global .b32 x = 5; .func f(); .func f() { ret; }"));
    ASSERT_NE(m.find_variable("x"), nullptr);
    EXPECT_EQ(m.find_variable("x")->initial.size(), 1u);
    EXPECT_EQ(m.find_variable("y"), nullptr);
    ASSERT_NE(m.find_function("f"), nullptr);
    EXPECT_TRUE(m.find_function("f")->has_body);
    EXPECT_EQ(m.find_function("g"), nullptr);
}

} // namespace
