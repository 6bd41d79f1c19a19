// SPDX-License-Identifier: MIT
// Wrong texts: each gives an error at the right place that names what is wrong.
#include <gtest/gtest.h>

#include <ostream>

#include "softgpu/ptx/ast.hpp"
#include "tests/ptx/texts.hpp"

namespace {

using namespace softgpu::ptx;

struct wrong {
    std::string text;
    location where;
    std::string message; // a part of it
};

void PrintTo(const wrong& w, std::ostream* out) { *out << w.message; }

class malformed : public testing::TestWithParam<wrong> {};

TEST_P(malformed, says_where_and_what) {
    const wrong& w = GetParam();
    try {
        static_cast<void>(parse(w.text));
        FAIL() << "parsed:\n" << w.text;
    } catch (const error& e) {
        EXPECT_EQ(e.where(), w.where) << e.what() << "\n" << w.text;
        EXPECT_NE(std::string(e.what()).find(w.message), std::string::npos) << e.what() << "\n" << w.text;
        EXPECT_TRUE(std::string(e.what()).starts_with(std::to_string(w.where.line) + ":")) << e.what();
    }
}

std::vector<wrong> heads() {
    return {
        {"", {1, 1}, "expected '.version' at the start of a module, found the end of the text"},
        {"\n\n  .target sm_90\n", {3, 3}, "expected '.version'"},
        {"add.s32 a, b, c;", {1, 1}, "expected '.version' at the start of a module, found 'add'"},
        {".version", {1, 9}, "expected a version"},
        {".version 9", {1, 10}, "expected a version"},
        {".version 10.0\n.target sm_90", {1, 10}, "10.0 is not known: the newest is 9.x"},
        {".version 0.9\n.target sm_90", {1, 10}, "0.9 is not known"},
        {".version 9.0", {1, 13}, "expected '.target'"},
        {".version 9.0\n.func f;", {2, 1}, "expected '.target'"},
        {".version 9.0\n.target 90", {2, 9}, "expected a target such as sm_75, found '90'"},
        {".version 9.0\n.target avx512", {2, 9}, "unknown target 'avx512'"},
        {".version 9.0\n.target sm_90,", {2, 15}, "expected a target"},
        {".version 9.0\n.target sm_90\n.address_size 48", {3, 15}, "32 or 64, not 48"},
        {test::header + ".version 9.0", {4, 1}, "a second '.version'"},
        {test::header + "/* no end\n\n", {4, 1}, "comment is never closed"},
        {test::header + ".file 1 \"no end\n", {4, 9}, "string is never closed"},
        {test::header + ".file \"x\"", {4, 7}, "expected the number of a file"},
        {test::header + ".file 4294967296 \"x\"", {4, 7}, "'4294967296' is out of range"},
        {test::header + "\x01", {4, 1}, "unexpected character '\\x01'"},
        {test::header + "`", {4, 1}, "unexpected character '`'"},
        {test::header + "ret;", {4, 1}, "expected a directive at module scope, found 'ret'"},
        {test::header + ".globl .b32 x;", {4, 1}, "unknown directive '.globl' at module scope"},
        {test::header + ".reg .b32 x;", {4, 1}, "unknown directive '.reg' at module scope"},
        {test::header + ".param .b32 x;", {4, 1}, "unknown directive '.param' at module scope"},
        {test::header + "}", {4, 1}, "expected a directive at module scope, found '}'"},
        {test::header + ".section .debug_str { .b8 1", {4, 21}, "the section '.debug_str' is never closed"},
        {test::header + ".section .debug_str .b8", {4, 21}, "expected '{' behind the name of a section"},
        {test::header + ".pragma nounroll;", {4, 9}, "expected a string behind '.pragma'"},
        {test::header + ".alias a;", {4, 9}, "expected ','"},
        {test::header + ".func a; .alias a, b;", {4, 10}, "undeclared function 'b'"},
        {test::header + ".visible ;", {4, 10}, "expected a variable or a function behind the linkage"},
        {test::header + ".visible .weak .func f;", {4, 10}, "a second linkage, '.weak'"},
    };
}

std::vector<wrong> variables() {
    return {
        {test::in_module(".global x;"), {4, 9}, "expected a type behind '.global', found 'x'"},
        {test::in_module(".global .b33 x;"), {4, 9}, "unknown type or property '.b33'"},
        {test::in_module(".global .b32 .b64 x;"), {4, 14}, "a second type, '.b64'"},
        {test::in_module(".global .align 3 .b32 x;"), {4, 16}, "3 is no power of two"},
        {test::in_module(".global .align 0 .b32 x;"), {4, 16}, "0 is no power of two"},
        {test::in_module(".global .b32 ;"), {4, 14}, "expected the name of a variable, found ';'"},
        {test::in_module(".global .b32 x"), {4, 15}, "expected ';' behind the variable 'x', found the end of the text"},
        {test::in_module(".global .b32 x\n.global .b32 y;"),
         {5, 1},
         "expected ';' behind the variable 'x', found '.global'"},
        {test::in_module(".global .b32 x[;"), {4, 16}, "expected the length of an array"},
        {test::in_module(".global .b32 x[4;"), {4, 17}, "expected ']'"},
        {test::in_module(".global .b32 x[-1];"), {4, 16}, "length of the array 'x' is out of range"},
        {test::in_module(".global .b32 x[1.5];"), {4, 16}, "found a floating-point number"},
        {test::in_module(".global .b32 x[2][];"), {4, 19}, "only the first dimension of 'x'"},
        {test::in_module(".global .b32 x[2][0];"), {4, 19}, "a dimension of the array 'x' is 0"},
        {test::in_module(".global .b64 x[1000000][1000000];"), {4, 14}, "the array 'x' is too large"},
        {test::in_module(".global .b32 x[2] = {1, 2, 3};"), {4, 28}, "too many initial values: 'x' has room for 2"},
        {test::in_module(".global .b32 x[2][2] = {{1, 2, 3}};"), {4, 32}, "'x' has room for 2"},
        {test::in_module(".global .b32 x[2][2] = {1, 2};"), {4, 25}, "expected '{' around each row of 'x'"},
        {test::in_module(".global .b32 x[2] = {{1}, 2};"), {4, 22}, "too many braces: 'x' has 1"},
        {test::in_module(".global .b32 x[2] = 5;"), {4, 21}, "'x' is an array"},
        {test::in_module(".global .b32 x[2] = {1, };"), {4, 25}, "expected a value behind ','"},
        {test::in_module(".global .b32 x[2] = {1 2};"), {4, 24}, "expected '}' or ','"},
        {test::in_module(".global .b32 x = ;"), {4, 18}, "expected an initial value of 'x'"},
        {test::in_module(".global .b32 x = y;"), {4, 14}, "undeclared name 'y' in the initialiser of 'x'"},
        {test::in_module(".global .b32 x = generic(;"), {4, 26}, "expected a name in 'generic(...)'"},
        {test::in_module(".global .b8 x = 0xF0(x);"), {4, 17}, "covers one byte"},
        {test::in_module(".global .f32 x = 1;"), {4, 18}, "an integer cannot initialise a variable of type .f32"},
        {test::in_module(".global .b32 x = 1.5;"), {4, 18}, "cannot initialise a variable of type .b32"},
        {test::in_module(".global .f16 x = 1;"), {4, 18}, ".f16 takes no initialiser"},
        {test::in_module(".global .b32 x[2] = \"a\";"), {4, 21}, "a string initialises an array of bytes only"},
        {test::in_module(".global .b8 x[2] = \"abc\";"), {4, 20}, "'x' has room for 2"},
        {test::in_module(".global .b8 x[] = \"\\q\";"), {4, 19}, "unknown escape '\\q'"},
        {test::in_module(".global .attribute(.big) .b32 x;"), {4, 20}, "unknown attribute '.big'"},
        {test::in_module(".global .b32 x;\n.global .b64 x;"), {5, 14}, "'x' is already declared at 4:14"},
        {test::in_module(".global .b32 f;\n.func f() { ret; }"), {5, 7}, "'f' is already declared at 4:14"},
        {test::in_module(".global .b64 x = 18446744073709551616;"), {4, 18}, "does not fit in 64 bits"},
        {test::in_module(".global .b32 x = 12ab;"), {4, 18}, "malformed number '12ab'"},
        {test::in_module(".global .b32 x = 089;"), {4, 18}, "malformed number '089'"},
        {test::in_module(".global .b32 x = 0x;"), {4, 18}, "malformed number '0x'"},
        {test::in_module(".global .b32 x = 0b12;"), {4, 18}, "malformed number '0b12'"},
        {test::in_module(".global .f32 x = 0f3F8;"), {4, 18}, "expected 8 hexadecimal digits"},
        {test::in_module(".global .f64 x = 0d3FF00000000000000;"), {4, 18}, "malformed number"},
        {test::in_module(".global .f64 x = 1e999;"), {4, 18}, "does not fit in a double"},
        {test::in_module(".global .f64 x = 1.5e;"), {4, 18}, "malformed number '1.5e'"},
        {test::in_module(".global .b32 x = 1 / 0;"), {4, 22}, "division by zero"},
    };
}

std::vector<wrong> functions() {
    return {
        {test::in_module(".entry"), {4, 7}, "expected the name of a function"},
        {test::in_module(".entry (.param .b32 r) k() { ret; }"), {4, 8}, "expected the name of a function, found '('"},
        {test::in_module(".entry k(.param .u64 a .param .u64 b) { ret; }"),
         {4, 24},
         "expected ')' or ',' behind the parameter 'a'"},
        {test::in_module(".entry k(.param .u64 a, .param .u32 a) { ret; }"),
         {4, 37},
         "the parameter 'a' is already declared at 4:22"},
        {test::in_module(".entry k(.global .u64 a) { ret; }"), {4, 10}, "expected a parameter"},
        {test::in_module(".entry k()"), {4, 11}, "expected ';' or '{' behind the head of the function 'k'"},
        {test::in_module(".entry k() .maxntd 5 { ret; }"), {4, 12}, "unknown directive '.maxntd' of a function"},
        {test::in_module(".entry k() .maxntid { ret; }"), {4, 21}, "expected the number behind '.maxntid'"},
        {test::in_module(".entry k() .maxntid 0 { ret; }"), {4, 21}, "a dimension of '.maxntid' is 0"},
        {test::in_module(".entry k() .maxntid 1, 2, 3, 4 { ret; }"), {4, 30}, "three dimensions at most"},
        {test::in_module(".entry k() .maxnreg 4294967296 { ret; }"), {4, 21}, "'4294967296' is out of range"},
        {test::in_module(".entry k() .pragma \"x\" { ret; }"), {4, 24}, "expected ';' behind '.pragma'"},
        {test::in_module(".entry k() {\n ret;\n"), {4, 12}, "the '{' of the function 'k' is never closed"},
        {test::in_module(".entry k() {\n { ret;\n }"), {4, 12}, "the '{' of the function 'k' is never closed"},
        {test::in_module(".entry k() { ret; } }"), {4, 21}, "expected a directive at module scope, found '}'"},
        {test::in_module(".extern .func f() { ret; }"), {4, 19}, "'f' is .extern and has a body"},
        {test::in_module(".func f() { ret; }\n.func f() { ret; }"), {5, 7}, "'f' is already declared at 4:7"},
        {test::in_module(".entry k() {\n.reg .b64 a, b;\nmov.b64 {a, b, a;\nret; }\n.entry l() { ret; }"),
         {6, 17},
         "expected '}' or ','"},
        {test::in_module(".entry k() { ret; /* }"), {4, 19}, "comment is never closed"},
    };
}

std::vector<wrong> bodies_of_kernels() {
    return {
        {test::in_kernel("mov.b32 %r9, 1;"), {7, 9}, "undeclared register '%r9'"},
        {test::in_kernel("mov.b32 %r01, 1;"), {7, 9}, "undeclared register '%r01'"},
        {test::in_kernel("mov.b32 %r1, %tidx;"), {7, 14}, "undeclared register '%tidx'"},
        {test::in_kernel("mov.b32 %r1, %tid.q;"), {7, 18}, "'%tid' has no component '.q'"},
        {test::in_kernel("mov.b32 %r1, %r2.x;"), {7, 17}, "the register '%r2' has no component '.x'"},
        {test::in_kernel("mov.b32 %r1, %v.z;"), {7, 16}, "the register '%v' has no component '.z'"},
        {test::in_kernel("@%q1 ret;"), {7, 2}, "undeclared register '%q1'"},
        {test::in_kernel("@%r1 ret;"), {7, 2}, "'%r1' is no predicate"},
        {test::in_kernel("@%p1 ;"), {7, 6}, "expected an instruction behind a predicate"},
        {test::in_kernel("@5 ret;"), {7, 2}, "expected a predicate behind '@'"},
        {test::in_kernel("  addd.s32 %r1, %r2, %r3;"), {7, 3}, "unknown instruction 'addd'"},
        {test::in_kernel("add.s33 %r1, %r2, %r3;"), {7, 4}, "unknown modifier '.s33' of the instruction 'add'"},
        {test::in_kernel("ld.shared::block.u32 %r1, [%r2];"), {7, 3}, "unknown modifier '.shared::block'"},
        {test::in_kernel("add.s32 %r1, %r2, %r3\nret;"),
         {8, 1},
         "expected ';' or ',' behind an operand of 'add', found 'ret'"},
        {test::in_kernel("ret"), {8, 1}, "expected ';' or an operand behind 'ret', found '}'"},
        {test::in_kernel("ret\n.loc 1 2 3"), {8, 1}, "found '.loc'"},
        {test::in_kernel("ret;;"), {7, 5}, "expected an instruction, a directive or a label, found ';'"},
        {test::in_kernel("add.s32 %r1, %r2,;"), {7, 18}, "expected an operand, found ';'"},
        {test::in_kernel("add.s32 %r1 %r2;"), {7, 13}, "expected ';' or ',' behind an operand of 'add', found '%r2'"},
        {test::in_kernel("add.s32 , %r2;"), {7, 9}, "expected ';' or an operand behind 'add', found ','"},
        {test::in_kernel("mov.b64 %rd1, {%r1, %r2;"), {7, 24}, "expected '}' or ',' in a list of operands"},
        {test::in_kernel("mov.b64 %rd1, {{{{{{%r1}}}}}};"), {7, 20}, "nested too deeply"},
        {test::in_kernel("ld.u32 %r1, [%rd1;"), {7, 18}, "expected ']' at the end of an address"},
        {test::in_kernel("ld.u32 %r1, [];"), {7, 14}, "expected an address, found ']'"},
        {test::in_kernel("ld.u32 %r1, [%rd1+];"), {7, 19}, "expected a number, found ']'"},
        {test::in_kernel("ld.u32 %r1, [%rd1+1.5];"), {7, 19}, "an offset is an integer"},
        {test::in_kernel("ld.u32 %r1, [%tid.x];"), {7, 14}, "an address begins with"},
        {test::in_kernel("ld.u32 %r1, [nowhere];"), {7, 13}, "undeclared name 'nowhere'"},
        {test::in_kernel("mov.u64 %rd1, nowhere+4;"), {7, 15}, "undeclared name 'nowhere'"},
        {test::in_kernel("bra nowhere;"), {7, 5}, "undeclared name 'nowhere'"},
        {test::in_kernel("bra tile;"), {7, 5}, "'tile' is no label"},
        {test::in_kernel("{ L: } bra L;"), {7, 12}, "undeclared name 'L'"},
        {test::in_kernel("L: ret;\nL: ret;"), {8, 1}, "'L' is already declared at 7:1"},
        {test::in_kernel("%r1: ret;"), {7, 1}, "'%r1' cannot name a label"},
        {test::in_kernel("t: .branchtargets A;"), {7, 1}, "undeclared name 'A'"},
        {test::in_kernel("t: .branchtargets tile;"), {7, 1}, "'tile' is no label"},
        {test::in_kernel("t: .calltargets tile;"), {7, 1}, "'tile' is no function"},
        {test::in_kernel("t: .callprototype (.param .b32 _);"), {7, 34}, "expected '_' in a prototype"},
        {test::in_kernel("t: .callprototype _ .big;"), {7, 21}, "unknown directive '.big' in a prototype"},
        {test::in_kernel("setp.eq.u32 %p1|5, %r1, %r2;"), {7, 17}, "both sides of '|' are registers"},
        {test::in_kernel("selp.u32 %r1, 1, 2, !1.5;"), {7, 22}, "'!' stands before a predicate or a number"},
        {test::in_kernel("mov.b32 %r1, \"five\";"), {7, 14}, "expected an operand, found a string"},
        {test::in_kernel("mov.b32 %r1, 99999999999999999999;"), {7, 14}, "does not fit in 64 bits"},
        {test::in_kernel(".reg .b32 %r1;"), {7, 11}, "'%r1' is already declared at 5:29"},
        {test::in_kernel(".reg .b32 %r<3>;"), {7, 11}, "'%r' is already declared at 5:29"},
        {test::in_kernel(".reg .b32 x, x;"), {7, 14}, "'x' is already declared at 7:11"},
        {test::in_kernel(".reg .b32 x3; .reg .b32 x<5>;"), {7, 25}, "'x3' is already declared at 7:11"},
        {test::in_kernel(".reg .b32 x1<3>; .reg .b32 x<12>;"), {7, 28}, "'x' is already declared at 7:11"},
        {test::in_kernel(".local .b32 tile;"), {7, 13}, "'tile' is already declared at 6:14"},
        {test::in_kernel(".local .b32 p;"), {7, 13}, "'p' is already declared at 4:31"},
        {test::in_kernel(".reg x;"), {7, 6}, "expected a type behind '.reg'"},
        {test::in_kernel(".reg .b31 x;"), {7, 6}, "unknown type '.b31' of a register"},
        {test::in_kernel(".reg .b32 x<;"), {7, 13}, "expected a number of registers"},
        {test::in_kernel(".reg .b32 x<5;"), {7, 14}, "expected '>'"},
        {test::in_kernel(".reg .b32 x<9999999999>;"), {7, 13}, "'9999999999' is out of range"},
        {test::in_kernel(".reg .b32 x<4194304>;"), {7, 11}, "too many registers"},
        {test::in_kernel(".reg .b32 x"), {8, 1}, "expected ';' behind a declaration of registers"},
        {test::in_kernel(".loc 1 2"), {8, 1}, "expected a column"},
        {test::in_kernel(".loc 1 2 3, in_line 1"), {7, 13}, "expected 'function_name' or 'inlined_at'"},
        {test::in_kernel(".visible ret;"), {7, 10}, "expected a variable behind '.visible'"},
        {test::in_kernel(".entry x;"), {7, 1}, "unknown directive '.entry' in a function"},
        {test::in_kernel("5;"), {7, 1}, "expected an instruction, a directive or a label, found '5'"},
        {test::in_kernel("mov.b32 %r1, (1 + 2;"), {7, 20}, "expected ')' at the end of a constant expression"},
        {test::in_kernel("/* \n */ call (%r1), p, (%r2"), {9, 1}, "expected ')' or ',' in a list of operands"},
    };
}

INSTANTIATE_TEST_SUITE_P(heads, malformed, testing::ValuesIn(heads()));
INSTANTIATE_TEST_SUITE_P(variables, malformed, testing::ValuesIn(variables()));
INSTANTIATE_TEST_SUITE_P(functions, malformed, testing::ValuesIn(functions()));
INSTANTIATE_TEST_SUITE_P(bodies, malformed, testing::ValuesIn(bodies_of_kernels()));

} // namespace
