// SPDX-License-Identifier: MIT
// Modules, function heads, instructions and operands.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "softgpu/ptx/ast.hpp"
#include "tests/ptx/texts.hpp"

namespace {

using namespace softgpu::ptx;

function body_of(const std::string& text) { return parse(test::in_kernel(text)).functions.at(0); }

instruction only(const std::string& text) {
    const function f = body_of(text);
    EXPECT_EQ(f.instructions.size(), 1u) << text;
    return f.instructions.at(0);
}

operand last_operand(const std::string& text) {
    const instruction i = only(text);
    return i.operands.at(i.operands.size() - 1);
}

TEST(parse_module, head) {
    const module m = parse(".version 7.8\n.target sm_90a, debug\n.address_size 32\n.file 3 \"x.cu\", 5, 6\n");
    EXPECT_EQ(m.version_major, 7u);
    EXPECT_EQ(m.version_minor, 8u);
    EXPECT_EQ(m.target, (std::vector<std::string>{"sm_90a", "debug"}));
    EXPECT_EQ(m.address_size, 32u);
    ASSERT_EQ(m.files.size(), 1u);
    EXPECT_EQ(m.files[0].number, 3u);
    EXPECT_EQ(m.files[0].name, "x.cu");
}

TEST(parse_module, any_version_up_to_9) {
    for (const char* version : {"1.4", "6.0", "7.8", "8.7", "9.0", "9.3"}) {
        EXPECT_NO_THROW(static_cast<void>(parse(std::string(".version ") + version + "\n.target sm_50\n")));
    }
}

TEST(parse_module, windows_line_ends_and_comments) {
    const module m =
        parse(".version 9.0\r\n.target sm_90 // x\r\n/* .func a; */.func b() { ret; /* } */ // }\r\n}\r\n");
    ASSERT_EQ(m.functions.size(), 1u);
    EXPECT_EQ(m.functions[0].where, (location{3, 21}));
    EXPECT_EQ(m.functions[0].instructions.size(), 1u);
}

TEST(parse_function, performance_directives) {
    const module m = parse(test::in_module(".entry k() .maxntid 256 .reqntid 32, 4 .minnctapersm 2 .maxnreg 64 "
                                           ".noreturn { exit; }\n.entry plain() { exit; }"));
    const function& f = m.functions.at(0);
    EXPECT_TRUE(f.is_entry);
    EXPECT_EQ(f.maxntid[0], 256u);
    EXPECT_EQ(f.maxntid[1], 1u);
    EXPECT_EQ(f.maxntid[2], 1u);
    EXPECT_EQ(f.reqntid[0], 32u);
    EXPECT_EQ(f.reqntid[1], 4u);
    EXPECT_EQ(f.reqntid[2], 1u);
    EXPECT_EQ(f.minnctapersm, 2u);
    EXPECT_EQ(f.maxnreg, 64u);
    EXPECT_TRUE(f.noreturn);
    EXPECT_EQ(f.directives.at(0), ".maxntid 256");
    EXPECT_EQ(m.functions.at(1).maxntid[0], 0u);
    EXPECT_EQ(m.functions.at(1).reqntid[0], 0u);
}

TEST(parse_function, registers_as_parameters) {
    const module m = parse(test::in_module(".func (.reg .b32 out) f(.reg .b32 in) { add.s32 out, in, 1; ret; }"));
    const function& f = m.functions.at(0);
    ASSERT_EQ(f.registers.size(), 2u);
    EXPECT_EQ(f.registers[f.instructions[0].operands[0].reg].name, "out");
    EXPECT_EQ(f.registers[f.instructions[0].operands[1].reg].name, "in");
}

TEST(parse_function, registers_are_listed) {
    const module m = parse(test::in_module(".func f() { .reg .b32 %r<12>, x; .reg .v2 .f32 v; .reg .pred p<1>; }"));
    const std::vector<register_declaration>& r = m.functions.at(0).registers;
    ASSERT_EQ(r.size(), 15u);
    EXPECT_EQ(r[0].name, "%r0");
    EXPECT_EQ(r[11].name, "%r11");
    EXPECT_EQ(r[12].name, "x");
    EXPECT_EQ(r[13].vector, 2u);
    EXPECT_EQ(r[13].type, suffix::f32);
    EXPECT_EQ(r[14].name, "p0");
    EXPECT_EQ(r[14].type, suffix::pred);
}

TEST(parse_instruction, suffixes) {
    const instruction i = only("cvt.rn.ftz.sat.f32.f64 %f1, %rd1;");
    EXPECT_EQ(i.op, opcode::cvt);
    EXPECT_EQ(i.suffixes, (std::vector<suffix>{suffix::rn, suffix::ftz, suffix::sat, suffix::f32, suffix::f64}));
    EXPECT_EQ(i.type(), suffix::f32);
    EXPECT_EQ(i.type(1), suffix::f64);
    EXPECT_EQ(i.type(2), suffix::none);
    EXPECT_TRUE(i.has(suffix::sat));
    EXPECT_FALSE(i.has(suffix::rz));
    EXPECT_EQ(i.space(), suffix::none);
    const instruction v = only("ld.global.nc.L2::128B.v2.u32 {%r1, %r2}, [%rd1];");
    EXPECT_EQ(v.space(), suffix::global);
    EXPECT_EQ(v.vector_width(), 2u);
    EXPECT_EQ(only("ld.shared::cta.u32 %r1, [tile];").space(), suffix::shared_cta);
    const instruction one = only("ld.global.b32 { %r1 }, [ %rd1 + 0 ];"); // a list of one operand is that operand
    EXPECT_EQ(one.operands.at(0).kind, operand_kind::reg);
}

TEST(parse_instruction, guards_and_places) {
    const function f = body_of("  @!%p2 mov.u32\n %r1, 5;");
    const instruction& i = f.instructions.at(0);
    ASSERT_TRUE(i.predicate.has_value());
    EXPECT_TRUE(i.predicate->negated);
    EXPECT_EQ(f.registers[i.predicate->reg].name, "%p2");
    EXPECT_EQ(i.where, (location{7, 9}));
    EXPECT_EQ(i.operands[0].where, (location{8, 2}));
    EXPECT_FALSE(only("ret;").predicate.has_value());
}

TEST(parse_operand, numbers) {
    EXPECT_EQ(last_operand("mov.b32 %r1, -1;").kind, operand_kind::integer);
    EXPECT_EQ(last_operand("mov.b32 %r1, -1;").bits, ~std::uint64_t{0});
    EXPECT_EQ(last_operand("mov.b32 %r1, 0xFFFFFFFF;").bits, 0xFFFFFFFFu);
    EXPECT_EQ(last_operand("mov.b32 %r1, WARP_SZ;").bits, 32u);
    EXPECT_EQ(last_operand("mov.f32 %f1, 0fBF800000;").kind, operand_kind::float32);
    EXPECT_EQ(last_operand("mov.f32 %f1, 0fBF800000;").bits, 0xBF800000u);
    EXPECT_EQ(last_operand("mov.f64 %rd1, 1.5;").kind, operand_kind::float64);
    EXPECT_EQ(last_operand("mov.f64 %rd1, 1.5;").bits, std::bit_cast<std::uint64_t>(1.5));
}

TEST(parse_operand, registers) {
    EXPECT_TRUE(last_operand("setp.eq.and.s32 %p1, %r1, %r2, !%p3;").negated);
    EXPECT_EQ(last_operand("mov.u32 %r1, %v.y;").component, 'y');
    EXPECT_EQ(last_operand("mov.u32 %r1, %v.g;").component, 'y');
    EXPECT_EQ(last_operand("vadd.s32.u32.u32 %r1, %r2.b1, %r3.h0, %r4.b2;").name, "b2");
    const operand special = last_operand("mov.u32 %r1, %ctaid.z;");
    EXPECT_EQ(special.kind, operand_kind::special);
    EXPECT_EQ(special.name, "%ctaid.z");
    EXPECT_EQ(last_operand("mov.v4.u32 %v, %tid;").name, "%tid");
}

TEST(parse_operand, addresses) {
    const operand based = last_operand("ld.global.u32 %r1, [%rd2+-8];");
    EXPECT_EQ(based.kind, operand_kind::address);
    EXPECT_TRUE(based.has_register);
    EXPECT_EQ(based.offset, -8);
    EXPECT_EQ(last_operand("ld.global.u32 %r1, [%rd2-8];").offset, -8);
    const operand named = last_operand("ld.shared.u32 %r1, [tile+4];");
    EXPECT_FALSE(named.has_register);
    EXPECT_EQ(named.name, "tile");
    EXPECT_EQ(named.offset, 4);
    const operand absolute = last_operand("ld.shared.u32 %r1, [0x80];");
    EXPECT_FALSE(absolute.has_register);
    EXPECT_TRUE(absolute.name.empty());
    EXPECT_EQ(absolute.offset, 128);
    const operand tensor = last_operand("tex.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd1, {%r1, %r2}];");
    ASSERT_EQ(tensor.elements.size(), 1u);
    EXPECT_EQ(tensor.elements[0].elements.size(), 2u);
}

TEST(parse_operand, lists) {
    const operand vector = last_operand("mov.b64 %rd1, {%r1, 5};");
    EXPECT_EQ(vector.kind, operand_kind::vector);
    ASSERT_EQ(vector.elements.size(), 2u);
    EXPECT_EQ(vector.elements[0].kind, operand_kind::reg);
    EXPECT_EQ(vector.elements[1].kind, operand_kind::integer);
    const instruction pair = only("shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;");
    EXPECT_EQ(pair.operands.size(), 5u);
    EXPECT_EQ(pair.operands[0].kind, operand_kind::pair);
    EXPECT_EQ(pair.operands[0].elements.size(), 2u);
    EXPECT_EQ(only("elect.sync _|%p1, -1;").operands[0].elements[0].kind, operand_kind::sink);
}

TEST(parse_operand, calls) {
    const module m = parse(test::in_module(".func (.param .b32 r) f(.param .b32 a) { ret; }\n.func g() { .reg .b32 x;"
                                           " .param .b32 v; call.uni (v), f, (x); call f; }"));
    const std::vector<instruction>& i = m.functions.at(1).instructions;
    ASSERT_EQ(i.at(0).operands.size(), 3u);
    EXPECT_EQ(i[0].operands[0].kind, operand_kind::group);
    EXPECT_EQ(i[0].operands[1].kind, operand_kind::symbol);
    EXPECT_EQ(i[0].operands[1].name, "f");
    EXPECT_EQ(i[0].operands[2].elements.at(0).kind, operand_kind::reg);
    EXPECT_EQ(i.at(1).operands.size(), 1u);
}

TEST(parse_statement, locations_pragmas_and_prototypes) {
    const function f = body_of(".loc 1 20 3\n.loc 2 4 5, function_name $L+3, inlined_at 1 6 7\n.pragma \"nounroll\";\n"
                               "proto: .callprototype (.param .b32 _) _ (.param .b64 _);");
    ASSERT_GE(f.statements.size(), 4u);
    const statement* s = f.statements.data() + f.statements.size() - 4;
    EXPECT_EQ(s[0].kind, statement_kind::location);
    EXPECT_EQ(s[0].file, 1u);
    EXPECT_EQ(s[0].line, 20u);
    EXPECT_EQ(s[0].column, 3u);
    EXPECT_EQ(s[1].text, "function_name $L+3, inlined_at 1 6 7");
    EXPECT_EQ(s[2].kind, statement_kind::pragma);
    EXPECT_EQ(s[2].text, "nounroll");
    EXPECT_EQ(s[3].kind, statement_kind::prototype);
    EXPECT_EQ(s[3].text, "proto");
    EXPECT_EQ(s[3].names.at(0), ".callprototype (.param .b32 _) _ (.param .b64 _)");
}

TEST(print, one_instruction) {
    const function f = body_of("@%p1 st.shared.v2.u32 [tile + 4], {%r1, -1};");
    EXPECT_EQ(print(f, f.instructions.at(0)), "@%p1 st.shared.v2.u32 [tile+4], {%r1, -1};");
}

TEST(parse_body, leaves_the_function_empty_when_it_fails) {
    module m = parse(test::in_module(".func f() { .reg .b32 r; mov.b32 r, 1; mov.b32 q, 1; }"), bodies::later);
    EXPECT_THROW(parse_body(m, m.functions.at(0)), error);
    EXPECT_FALSE(m.functions[0].body_parsed);
    EXPECT_TRUE(m.functions[0].instructions.empty());
    EXPECT_TRUE(m.functions[0].registers.empty());
}

TEST(parse_body, is_read_once) {
    module m = parse(test::in_module(".func f() { ret; }\n.func g();"), bodies::later);
    parse_body(m, m.functions.at(0));
    parse_body(m, m.functions.at(0));
    EXPECT_EQ(m.functions[0].instructions.size(), 1u);
    parse_body(m, m.functions.at(1));
    EXPECT_FALSE(m.functions[1].body_parsed);
}

} // namespace
