// SPDX-License-Identifier: MIT
// What names mean: scopes, labels, variables, functions.
#include <gtest/gtest.h>

#include "softgpu/ptx/ast.hpp"
#include "tests/ptx/texts.hpp"

namespace {

using namespace softgpu::ptx;

module kernel(const std::string& text) { return parse(test::in_kernel(text)); }

TEST(scopes, inner_registers_hide_outer_ones) {
    const module m =
        kernel("mov.b32 %r1, 1; { .reg .b64 %r<2>; mov.b64 %r1, 2; { .reg .f32 %r1; mov.f32 %r1, 0f00000000; }"
               " mov.b64 %r1, 3; } mov.b32 %r1, 4;");
    const function& f = m.functions.at(0);
    const auto type_written = [&f](std::size_t i) { return f.registers[f.instructions[i].operands[0].reg].type; };
    ASSERT_EQ(f.instructions.size(), 5u);
    EXPECT_EQ(type_written(0), suffix::b32);
    EXPECT_EQ(type_written(1), suffix::b64);
    EXPECT_EQ(type_written(2), suffix::f32);
    EXPECT_EQ(type_written(3), suffix::b64);
    EXPECT_EQ(type_written(4), suffix::b32);
    EXPECT_EQ(f.instructions[0].operands[0].reg, f.instructions[4].operands[0].reg);
    EXPECT_EQ(f.instructions[1].operands[0].reg, f.instructions[3].operands[0].reg);
}

TEST(scopes, registers_past_the_inner_family_are_the_outer_ones) {
    const module m = kernel("{ .reg .b64 %r<2>; mov.b32 %r5, 1; }");
    const function& f = m.functions.at(0);
    EXPECT_EQ(f.registers[f.instructions.at(0).operands[0].reg].type, suffix::b32);
}

TEST(scopes, variables_of_the_same_name) {
    const module m = kernel("{ .param .b32 a; st.param.b32 [a], 1; } { .param .b64 a; st.param.b64 [a], 1; }");
    const function& f = m.functions.at(0);
    const auto named = [&f](std::size_t i) -> const variable& {
        EXPECT_EQ(f.instructions[i].operands[0].refers_to, symbol_kind::local);
        return f.variables[f.instructions[i].operands[0].target];
    };
    EXPECT_EQ(named(0).type, suffix::b32);
    EXPECT_EQ(named(1).type, suffix::b64);
}

TEST(scopes, labels_of_the_same_name_become_different) {
    const module m = kernel("{ @%p1 bra L; mov.b32 %r1, 1; L: } L$2: { L: @%p1 bra L; bra L$2; }");
    const function& f = m.functions.at(0);
    std::vector<std::string> labels;
    for (const statement& s : f.statements) {
        if (s.kind == statement_kind::label) {
            labels.push_back(s.text);
        }
    }
    EXPECT_EQ(labels, (std::vector<std::string>{"L", "L$2", "L$3"}));
    EXPECT_EQ(f.instructions.at(0).operands[0].name, "L");
    EXPECT_EQ(f.instructions.at(2).operands[0].name, "L$3");
    EXPECT_EQ(f.instructions.at(3).operands[0].name, "L$2");
    for (const std::size_t i : {0, 2, 3}) {
        const operand& o = f.instructions[i].operands[0];
        EXPECT_EQ(o.refers_to, symbol_kind::label);
        EXPECT_EQ(f.statements[o.target].text, o.name);
    }
}

TEST(names, of_every_kind) {
    const module m = parse(test::in_module(
        ".func later(); .global .b32 g;\n"
        ".func (.param .b32 r) f(.param .b64 p) { .reg .b32 %r<3>; .reg .b64 %d; .local .b32 l;\n"
        "ld.param.b64 %d, [p]; st.param.b32 [r], %r1; st.local.b32 [l], %r1; ld.global.b32 %r1, [g+4]; mov.b64 %d, h;\n"
        "mov.b64 %d, other; call %d, t; t: .callprototype _; }\n"
        ".alias other, later; .func later() { ret; } .global .b32 h;"));
    const function& f = m.functions.at(1);
    const auto refers = [&f](std::size_t i, std::size_t operand_number, symbol_kind kind, std::uint32_t target) {
        const operand& o = f.instructions.at(i).operands.at(operand_number);
        EXPECT_EQ(o.refers_to, kind) << print(f, f.instructions[i]);
        EXPECT_EQ(o.target, target) << print(f, f.instructions[i]);
    };
    refers(0, 1, symbol_kind::parameter, 0);
    refers(1, 0, symbol_kind::returned, 0);
    refers(2, 0, symbol_kind::local, 0);
    refers(3, 1, symbol_kind::variable, 0);
    refers(4, 1, symbol_kind::variable, 1);
    refers(5, 1, symbol_kind::alias, 0);
    EXPECT_EQ(f.instructions.at(6).operands.at(1).refers_to, symbol_kind::table);
}

TEST(names, elements_of_arrays) {
    const module m = parse(
        test::in_module(".global .v2 .f32 g[4]; .func f() { .shared .b16 s[8]; .reg .b64 %d;\n"
                        "mov.b64 %d, s[0]; mov.b64 %d, s[1+2]; mov.b64 %d, g[3]+4; ld.global.b64 %d, [g[1]]; ret; }"));
    const function& f = m.functions.at(0);
    std::vector<std::int64_t> offsets;
    for (std::size_t i = 0; i < 4; ++i) {
        const operand& o = f.instructions.at(i).operands.at(1);
        EXPECT_EQ(o.refers_to, i < 2 ? symbol_kind::local : symbol_kind::variable);
        offsets.push_back(o.offset);
    }
    EXPECT_EQ(offsets, (std::vector<std::int64_t>{0, 6, 28, 8}));
    for (const char* const wrong : {".shared .b16 s; mov.b64 %d, s[0];", ".shared .b16 s[2][2]; mov.b64 %d, s[1];",
                                    "L: mov.b64 %d, L[0];", ".shared .b16 s[2]; mov.b64 %d, s[%d];"}) {
        EXPECT_THROW((void)parse(test::in_module(std::string(".func f() { .reg .b64 %d; ") + wrong + " ret; }")),
                     error);
    }
}

TEST(names, a_function_is_its_definition) {
    const module m = parse(test::in_module(".func f(); .func g() { call f; } .func f() { ret; }"));
    EXPECT_EQ(m.functions.at(1).instructions.at(0).operands.at(0).target, 2u);
}

TEST(names, tables_of_targets) {
    const module m = kernel("brx.idx %r1, t; t: .branchtargets A, B, A; A: B: ret;");
    const function& f = m.functions.at(0);
    const operand& o = f.instructions.at(0).operands.at(1);
    ASSERT_EQ(o.refers_to, symbol_kind::table);
    const statement& table = f.statements[o.target];
    EXPECT_EQ(table.kind, statement_kind::branch_targets);
    EXPECT_EQ(table.names, (std::vector<std::string>{"A", "B", "A"}));
    ASSERT_EQ(table.targets.size(), 3u);
    EXPECT_EQ(f.statements[table.targets[1]].text, "B");
    EXPECT_EQ(table.targets[0], table.targets[2]);
}

TEST(names, families_need_no_number_of_their_own) {
    const module m =
        parse(test::in_module(".func f() { .reg .b32 %r<12>; .reg .b64 %r12<3>; mov.b32 %r11, 1; mov.b64 %r120, 1; }"));
    const function& f = m.functions.at(0);
    EXPECT_EQ(f.registers[f.instructions.at(0).operands[0].reg].type, suffix::b32);
    EXPECT_EQ(f.registers[f.instructions.at(1).operands[0].reg].name, "%r120");
}

} // namespace
