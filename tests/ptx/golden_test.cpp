// SPDX-License-Identifier: MIT
// Whole files: hand-written ones with every construct, and what nvcc 13.0 made of small kernels. Beside each x.ptx
// stands x.printed, what the printer makes of it. With SOFTGPU_UPDATE_GOLDEN set in the environment it is written anew.
#include <gtest/gtest.h>

#include <cstdlib>

#include "softgpu/ptx/ast.hpp"
#include "tests/ptx/texts.hpp"

namespace {

using namespace softgpu::ptx;

class golden : public testing::TestWithParam<std::filesystem::path> {};

std::size_t count_operands(const std::vector<operand>& operands) {
    std::size_t n = operands.size();
    for (const operand& o : operands) {
        n += count_operands(o.elements);
    }
    return n;
}

void expect_equal(const function& a, const function& b) {
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.registers.size(), b.registers.size());
    EXPECT_EQ(a.variables.size(), b.variables.size());
    EXPECT_EQ(a.parameters.size(), b.parameters.size());
    EXPECT_EQ(a.statements.size(), b.statements.size());
    ASSERT_EQ(a.instructions.size(), b.instructions.size());
    for (std::size_t i = 0; i < a.instructions.size(); ++i) {
        EXPECT_EQ(a.instructions[i].op, b.instructions[i].op);
        EXPECT_EQ(a.instructions[i].suffixes, b.instructions[i].suffixes);
        EXPECT_EQ(count_operands(a.instructions[i].operands), count_operands(b.instructions[i].operands));
    }
}

TEST_P(golden, prints_as_expected) {
    const std::string printed = print(parse(test::read(GetParam())));
    std::filesystem::path expected = GetParam();
    expected.replace_extension(".printed");
    if (std::getenv("SOFTGPU_UPDATE_GOLDEN") != nullptr) {
        std::ofstream(expected, std::ios::binary) << printed;
    }
    EXPECT_EQ(printed, test::read(expected));
}

TEST_P(golden, what_is_printed_parses_to_the_same) {
    const module first = parse(test::read(GetParam()));
    const std::string printed = print(first);
    const module second = parse(printed);
    EXPECT_EQ(print(second), printed);
    EXPECT_EQ(first.version_major, second.version_major);
    EXPECT_EQ(first.version_minor, second.version_minor);
    EXPECT_EQ(first.target, second.target);
    EXPECT_EQ(first.files.size(), second.files.size());
    EXPECT_EQ(first.variables.size(), second.variables.size());
    ASSERT_EQ(first.functions.size(), second.functions.size());
    for (std::size_t i = 0; i < first.functions.size(); ++i) {
        expect_equal(first.functions[i], second.functions[i]);
    }
}

TEST_P(golden, bodies_read_later_are_the_same) {
    const module now = parse(test::read(GetParam()));
    module later = parse(test::read(GetParam()), bodies::later);
    ASSERT_EQ(now.functions.size(), later.functions.size());
    const std::string unread = print(later);
    for (function& f : later.functions) {
        EXPECT_FALSE(f.body_parsed);
        EXPECT_TRUE(f.instructions.empty());
        parse_body(later, f);
        EXPECT_EQ(f.body_parsed, f.has_body);
    }
    EXPECT_EQ(print(later), print(now));
    EXPECT_EQ(print(parse(unread)), print(now));
}

INSTANTIATE_TEST_SUITE_P(files, golden, testing::ValuesIn(test::golden_files()),
                         [](const auto& parameter) { return parameter.param.stem().string(); });

} // namespace
