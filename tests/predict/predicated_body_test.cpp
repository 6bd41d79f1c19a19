// SPDX-License-Identifier: MIT
// Which short bodies of an if ptxas predicates, and what the straight code takes. The cases are those of ptxas 13.0 for sm_90.
#include <gtest/gtest.h>

#include "softgpu/machine/decode/analysis/predicated_body.hpp"
#include "softgpu/machine/decode/analysis/schedule.hpp"
#include "tests/program/body.hpp"

namespace softgpu::machine {
namespace {

using observe::instruction_class;
using program_test::address_operand;
using program_test::body;
using program_test::register_operand;
using ptx::opcode;
using ptx::suffix;

// sum += [at]; if (!skip) { BODY } and what comes behind.
struct branched_sum : body {
    std::uint32_t skip = reg(suffix::pred), n = reg(suffix::u32), sum = reg(suffix::f32), at = reg(suffix::u64),
                  first = reg(suffix::f32), second = reg(suffix::f32);

    void load_and_add(std::uint32_t to) {
        add(opcode::ld, {register_operand(to), address_operand(at)}, always, {suffix::global, suffix::f32});
        add_to_sum(to);
    }
    void add_to_sum(std::uint32_t from) {
        add(opcode::add, {register_operand(sum), register_operand(sum), register_operand(from)}, always, {suffix::f32});
    }
    void begin() {
        add(opcode::setp, {register_operand(skip), register_operand(n), register_operand(n)}, always,
            {suffix::ge, suffix::u32});
        load_and_add(first);
        bra("behind", skip);
    }
    void end() {
        label("behind");
        add_to_sum(first);
        add(opcode::ret);
    }
    [[nodiscard]] std::optional<predicated_body> found() {
        return predicated_body_behind(function(), program::make_control_flow(function()), 0);
    }
    // Of all but the return, with loads of 100 and of 500 cycles.
    [[nodiscard]] std::vector<double> cycles(bool runs) {
        observe::latency_table near;
        near.of.fill(4);
        observe::latency_table far = near;
        near[instruction_class::global_load] = 100;
        far[instruction_class::global_load] = 500;
        const observe::latency_table tables[] = {near, far};
        return schedule_of(function(), 0, found()->last - 1, tables, carried_registers_of(function()), 1,
                           predicated_part{*found(), runs})
            .cycles;
    }
};

TEST(PredicatedBody, ItsLoadIsOnItsWayBesideTheOneBefore) {
    branched_sum s;
    s.begin();
    s.load_and_add(s.second);
    s.end();
    ASSERT_TRUE(s.found());
    EXPECT_EQ(s.found()->branch, 3u);
    EXPECT_EQ(s.found()->body_last, 6u);
    EXPECT_EQ(s.found()->last, 8u);
    // The second load waits for the condition and goes in cycle 5; two additions follow its result. In all lanes off it is issued,
    // and so is its addition.
    EXPECT_EQ(s.cycles(true), (std::vector<double>{110, 510}));
    EXPECT_EQ(s.cycles(false), (std::vector<double>{106, 506}));
}

TEST(PredicatedBody, HasEightInstructionsAtMost) {
    for (const unsigned instructions : {8u, 9u}) {
        branched_sum s;
        s.begin();
        for (unsigned k = 0; k < instructions; ++k) {
            s.add_to_sum(s.first);
        }
        s.end();
        EXPECT_EQ(s.found().has_value(), instructions == 8) << instructions;
    }
}

TEST(PredicatedBody, HasNoAtomic) {
    branched_sum s;
    s.begin();
    s.add(opcode::red, {address_operand(s.at), register_operand(s.n)}, body::always,
          {suffix::global, suffix::add, suffix::u32});
    s.end();
    EXPECT_FALSE(s.found());
}

// Straight code ends where others come in.
TEST(PredicatedBody, LeavesTheBlockBehindItAloneThatOthersLeadTo) {
    branched_sum s;
    s.begin();
    s.add_to_sum(s.first);
    s.label("behind");
    s.add_to_sum(s.first);
    s.bra("behind", s.skip);
    s.add(opcode::ret);
    ASSERT_TRUE(s.found());
    EXPECT_EQ(s.found()->last, s.found()->body_last);
}

} // namespace
} // namespace softgpu::machine
