// SPDX-License-Identifier: MIT
// Constant expressions against the same expressions of C++.
#include "softgpu/ptx/parse/constant.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>

namespace {

using namespace softgpu::ptx;

constant value_of(const std::string& text) {
    token_stream in(text, {1, 1}, "the end");
    const constant c = parse_constant(in);
    EXPECT_TRUE(in.at_end()) << text;
    return c;
}

void expect_integer(const std::string& text, std::int64_t value, bool is_unsigned = false) {
    const constant c = value_of(text);
    EXPECT_EQ(c.kind, constant_kind::integer) << text;
    EXPECT_EQ(static_cast<std::int64_t>(c.bits), value) << text;
    EXPECT_EQ(c.is_unsigned, is_unsigned) << text;
}

TEST(constant, literals) {
    expect_integer("0", 0);
    expect_integer("42", 42);
    expect_integer("0x7fffFFFFffffFFFF", std::numeric_limits<std::int64_t>::max());
    expect_integer("0xFFFFFFFFFFFFFFFF", -1, true);
    expect_integer("18446744073709551615", -1, true);
    expect_integer("-9223372036854775808", std::numeric_limits<std::int64_t>::min(), true);
    expect_integer("0755", 0755);
    expect_integer("0b1101", 13);
    expect_integer("7U", 7, true);
    expect_integer("WARP_SZ", 32);
}

TEST(constant, floats) {
    EXPECT_EQ(value_of("0f3F800000").bits, std::bit_cast<std::uint32_t>(1.0f));
    EXPECT_EQ(value_of("-0f3F800000").bits, std::bit_cast<std::uint32_t>(-1.0f));
    EXPECT_EQ(value_of("0F7fc00000").kind, constant_kind::float32);
    EXPECT_EQ(value_of("0d3FF0000000000000").bits, std::bit_cast<std::uint64_t>(1.0));
    EXPECT_EQ(value_of("1.5e-3").bits, std::bit_cast<std::uint64_t>(1.5e-3));
    EXPECT_EQ(value_of("-2.").bits, std::bit_cast<std::uint64_t>(-2.0));
    EXPECT_EQ(value_of(".25").bits, std::bit_cast<std::uint64_t>(0.25));
    EXPECT_EQ(value_of("1E3").bits, std::bit_cast<std::uint64_t>(1e3));
    EXPECT_EQ(value_of("-0.0").bits, std::bit_cast<std::uint64_t>(-0.0));
}

TEST(constant, operators) {
    expect_integer("1 + 2 * 3", 7);
    expect_integer("(1 + 2) * 3", 9);
    expect_integer("10 - 3 - 2", 5);
    expect_integer("100 / 7 % 4", 2);
    expect_integer("-7 / 2", -3);
    expect_integer("-7 % 2", -1);
    expect_integer("-8 >> 1", -4);
    expect_integer("0x8000000000000000 >> 63", 1, true);
    expect_integer("1 << 70", 0);
    expect_integer("-1 >> 70", -1);
    expect_integer("~5", ~5);
    expect_integer("!5", 0);
    expect_integer("!!5", 1);
    expect_integer("- -3", 3);
    expect_integer("1 | 6 ^ 3 & 5", 1 | (6 ^ (3 & 5)));
    expect_integer("1 < 2 == 1", 1);
    expect_integer("2 <= 2 && 3 >= 4 || 5 != 5", 0);
    expect_integer("-1 < 0", 1);
    expect_integer("-1 < 0U", 0);
    expect_integer("1 ? 2 : 0 ? 3 : 4", 2);
    expect_integer("0 ? 2 : 0 ? 3 : 4", 4);
    expect_integer("(.u64) 5", 5, true);
    expect_integer("(.s64) 0xFFFFFFFFFFFFFFFF / 2", 0);
    expect_integer("0xFFFFFFFFFFFFFFFF / 2", std::numeric_limits<std::int64_t>::max(), true);
    expect_integer("-9223372036854775807 - 1", std::numeric_limits<std::int64_t>::min());
    expect_integer("(-9223372036854775807 - 1) / -1", std::numeric_limits<std::int64_t>::min());
    expect_integer("(-9223372036854775807 - 1) % -1", 0);
}

TEST(constant, errors) {
    for (const char* text : {"1 / 0", "1 % (2 - 2)", "1.5 + 1", "1 + 1.5", "~1.5", "!0f00000000", "1.5 ? 1 : 2", "(1",
                             "1 ? 2", "", "+", "(.f32) 1", "()"}) {
        EXPECT_THROW(static_cast<void>(value_of(text)), error) << text;
    }
    EXPECT_THROW(static_cast<void>(value_of(std::string(100000, '('))), error);
    EXPECT_THROW(static_cast<void>(value_of(std::string(100000, '~'))), error);
}

TEST(constant, offsets) {
    const auto offset = [](const std::string& text) {
        token_stream in(text, {1, 1}, "the end");
        return parse_offset(in);
    };
    EXPECT_EQ(offset(""), 0);
    EXPECT_EQ(offset("+4"), 4);
    EXPECT_EQ(offset("-4"), -4);
    EXPECT_EQ(offset("+-4"), -4);
    EXPECT_EQ(offset("-4+8*2-1"), 11);
    EXPECT_THROW(static_cast<void>(offset("+1.5")), error);
}

} // namespace
