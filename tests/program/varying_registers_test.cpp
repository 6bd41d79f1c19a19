// SPDX-License-Identifier: MIT
// Which registers may have different values in the lanes of a warp.
#include <gtest/gtest.h>

#include "softgpu/program/program.hpp"
#include "tests/program/body.hpp"

using namespace softgpu::program;
using namespace program_test;

namespace {

operand r(std::uint32_t reg) { return register_operand(reg); }

operand special(std::string name) {
    operand o;
    o.kind = operand_kind::special;
    o.name = std::move(name);
    return o;
}

operand number(std::uint64_t bits) {
    operand o;
    o.kind = operand_kind::integer;
    o.bits = bits;
    return o;
}

// Registers that a test names: %tid.x, a parameter and what comes of them.
class varying_registers_test : public testing::Test {
protected:
    varying_registers_test() {
        b.add(opcode::mov, {r(thread), special("%tid.x")});
        b.add(opcode::mov, {r(block), special("%ctaid.x")});
        b.add(opcode::ld, {r(given), operand{}}, body::always, {suffix::param, suffix::u32});
    }
    [[nodiscard]] bool varies(std::uint32_t reg) const {
        return varying_registers(b.function(), make_control_flow(b.function()))[reg];
    }

    body b;
    std::uint32_t thread = b.reg(suffix::b32), block = b.reg(suffix::b32), given = b.reg(suffix::b32);
    std::uint32_t x = b.reg(suffix::b32), y = b.reg(suffix::b32), p = b.reg(suffix::pred);
};

TEST_F(varying_registers_test, ComeFromTheThreadsIndex) {
    b.add(opcode::add, {r(x), r(block), r(given)}).add(opcode::add, {r(y), r(x), r(thread)}).ret();
    EXPECT_TRUE(varies(thread));
    EXPECT_FALSE(varies(block));
    EXPECT_FALSE(varies(given));
    EXPECT_FALSE(varies(x));
    EXPECT_TRUE(varies(y));
}

TEST_F(varying_registers_test, AreLoadedFromVaryingAddresses) {
    b.add(opcode::ld, {r(x), address_operand(given)}, body::always, {suffix::global, suffix::u32});
    b.add(opcode::ld, {r(y), address_operand(thread)}, body::always, {suffix::global, suffix::u32}).ret();
    EXPECT_FALSE(varies(x));
    EXPECT_TRUE(varies(y));
}

TEST_F(varying_registers_test, AreNotWhatTheWarpAgreesOn) {
    b.add(opcode::vote, {r(x), r(thread), number(~0u)}, body::always, {suffix::ballot, suffix::b32});
    b.add(opcode::shfl, {r(y), r(thread), number(0), number(31), number(~0u)}, body::always,
          {suffix::idx, suffix::b32});
    b.ret();
    EXPECT_FALSE(varies(x));
    EXPECT_FALSE(varies(y));
}

TEST_F(varying_registers_test, AreWrittenInOneOfTwoWaysThatLanesTake) {
    for (const bool parts : {false, true}) {
        body both = b;
        both.add(opcode::setp, {r(p), r(parts ? thread : given), number(3)});
        both.add(opcode::mov, {r(x), number(0)});
        both.bra("else", p);
        both.add(opcode::mov, {r(x), number(1)}).add(opcode::mov, {r(y), number(1)}); // y has no other value
        both.label("else").add(opcode::st, {operand{}, r(x)}).ret();
        const std::vector<bool> all = varying_registers(both.function(), make_control_flow(both.function()));
        EXPECT_EQ(all[x], parts);
        EXPECT_FALSE(all[y]);
    }
}

TEST_F(varying_registers_test, CountRoundsOfALoopThatLanesLeaveOneByOne) {
    for (const bool parts : {false, true}) {
        body loop = b;
        loop.add(opcode::mov, {r(x), number(0)});
        loop.label("round").add(opcode::add, {r(x), r(x), number(1)});
        loop.add(opcode::setp, {r(p), r(x), r(parts ? thread : given)});
        loop.bra("round", p).ret();
        EXPECT_EQ(varying_registers(loop.function(), make_control_flow(loop.function()))[x], parts);
    }
}

TEST_F(varying_registers_test, AreWrittenUnderAVaryingGuard) {
    b.add(opcode::setp, {r(p), r(thread), number(3)}).add(opcode::mov, {r(x), number(0)});
    b.add(opcode::mov, {r(x), number(1)}, p).ret();
    EXPECT_TRUE(varies(x));
}

} // namespace
