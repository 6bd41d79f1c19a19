// SPDX-License-Identifier: MIT
// Machine instructions of PTX, and chains of dependent ones, on bodies put together by hand.
#include <gtest/gtest.h>

#include "softgpu/machine/decode/ptxas/block_costs.hpp"
#include "softgpu/machine/decode/ptxas/schedule.hpp"
#include "tests/program/body.hpp"

namespace softgpu::machine {
namespace {

using observe::instruction_class;
using program_test::address_operand;
using program_test::body;
using program_test::register_operand;
using ptx::opcode;
using ptx::suffix;

observe::latency_table table(double arithmetic, double load) {
    observe::latency_table t;
    t.of.fill(arithmetic);
    t[instruction_class::global_load] = load;
    return t;
}

struct sums : body {
    std::uint32_t a = reg(suffix::f32), b = reg(suffix::f32), c = reg(suffix::f32), at = reg(suffix::u64);

    void load(std::uint32_t to) {
        add(opcode::ld, {register_operand(to), address_operand(at)}, always, {suffix::global, suffix::f32});
    }
    void sum(std::uint32_t to, std::uint32_t x, std::uint32_t y) {
        add(opcode::add, {register_operand(to), register_operand(x), register_operand(y)}, always, {suffix::f32});
    }
    [[nodiscard]] schedule times(unsigned rounds = 1) {
        const ptx::function& f = function();
        const observe::latency_table tables[] = {table(4, 100), table(4, 500)};
        return schedule_of(f, 0, static_cast<std::uint32_t>(f.instructions.size()), tables, carried_registers_of(f),
                           rounds);
    }
};

using cycles = std::vector<double>;

TEST(Costs, DependentAdditionsWaitForEachOther) {
    sums s;
    s.sum(s.a, s.a, s.b);
    s.sum(s.a, s.a, s.b);
    s.sum(s.a, s.a, s.b);
    EXPECT_EQ(s.times().cycles, (cycles{9, 9})); // the third one has been issued
}

// A special function, and what ptxas puts around it: a comparison, a product if it says so, a product after.
TEST(Costs, FunctionsOfSeveralInstructions) {
    const auto with = [](const std::vector<suffix>& suffixes) {
        sums s;
        s.add(opcode::ex2, {register_operand(s.a), register_operand(s.b)}, s.always, suffixes);
        s.sum(s.c, s.a, s.a);
        return std::pair(s.times().cycles, mix_of(s.function(), 0, 1));
    };
    const auto [short_one, one] = with({suffix::approx, suffix::ftz, suffix::f32});
    EXPECT_EQ(short_one, (cycles{5, 5}));
    EXPECT_EQ(one[instruction_class::special], 1u);
    EXPECT_EQ(one[instruction_class::fp32], 0u);
    const auto [long_one, several] = with({suffix::approx, suffix::f32});
    EXPECT_EQ(long_one, (cycles{25, 25})); // six latencies of an addition, and the sum
    EXPECT_EQ(several[instruction_class::special], 1u);
    EXPECT_EQ(several[instruction_class::fp32], 3u);
}

// From the end of the piece: the second load goes in front of the first addition.
TEST(Costs, InstructionsBeginWhenTheirOperandsAreThere) {
    sums s;
    s.load(s.a);
    s.sum(s.b, s.a, s.a);
    s.load(s.c);
    EXPECT_EQ(s.times().starts, (cycles{-101, -501, -1, -1, -100, -500}));
    EXPECT_EQ(s.times(4).starts[0], -104 / 4.); // of the first round: eight loads, one a cycle, and the additions
}

TEST(Costs, IndependentAdditionsFollowEachOther) {
    sums s;
    s.sum(s.a, s.b, s.b);
    s.sum(s.c, s.b, s.b);
    EXPECT_EQ(s.times().cycles, (cycles{2, 2}));
}

TEST(Costs, LoadsComeBeforeTheUseOfTheFirst) {
    sums s;
    s.load(s.a);
    s.sum(s.c, s.a, s.a);
    s.load(s.b);
    s.sum(s.c, s.b, s.c);
    EXPECT_EQ(s.times().cycles, (cycles{105, 505}));
}

// ptxas makes a call of some divisions: what is behind one waits for it, and loads do not pass it.
TEST(Costs, NothingPassesACall) {
    const auto cycles_with = [](const std::vector<suffix>& division) {
        sums s;
        s.load(s.a);
        s.add(opcode::div, {register_operand(s.b), register_operand(s.a), register_operand(s.a)}, s.always, division);
        s.load(s.c);
        s.sum(s.c, s.c, s.b);
        return s.times().cycles;
    };
    const cycles passed = cycles_with({suffix::approx, suffix::ftz, suffix::f32});
    const cycles waited = cycles_with({suffix::rn, suffix::f32});
    EXPECT_LT(passed[1], 550);
    EXPECT_GT(waited[0], 200);
    EXPECT_GT(waited[1], 1000);
}

// What others write is in L2.
TEST(Costs, LoadsThatSeeOthersComeFromL2) {
    for (const suffix order : {suffix::relaxed, suffix::acquire, suffix::volatile_}) {
        sums s;
        s.add(opcode::ld, {register_operand(s.a), address_operand(s.at)}, body::always,
              {order, suffix::global, suffix::f32});
        s.sum(s.c, s.a, s.a);
        const ptx::function& f = s.function();
        observe::latency_table near = table(4, 100), far = table(4, 500);
        near.past_l1 = far.past_l1 = 300;
        const observe::latency_table tables[] = {near, far};
        EXPECT_EQ(schedule_of(f, 0, 2, tables, carried_registers_of(f), 1).cycles, (cycles{301, 301}));
        EXPECT_EQ(mix_of(f, 0, 2)[instruction_class::global_load], 1u);
    }
}

TEST(Costs, ALoadStaysBehindAStoreToTheSameMemory) {
    sums s;
    s.load(s.a);
    s.sum(s.c, s.a, s.a);
    s.add(opcode::st, {address_operand(s.at), register_operand(s.c)}, body::always, {suffix::global, suffix::f32});
    s.load(s.b);
    s.sum(s.c, s.b, s.c);
    // 0: load; 100: addition; 104: store; 105: load; 205: addition
    EXPECT_EQ(s.times().cycles, (cycles{206, 1006}));
}

TEST(Costs, ResultsOfLoadsAreCarriedToTheNextPiece) {
    sums s;
    s.sum(s.c, s.a, s.a);
    s.load(s.a);
    const schedule first = s.times();
    EXPECT_EQ(first.cycles, (cycles{2, 2})); // the load does not wait for the addition
    ASSERT_EQ(first.leaves.size(), 1u);
    ASSERT_EQ(first.needs.size(), 1u);
    EXPECT_EQ(first.leaves[0].number, first.needs[0].number);
    EXPECT_EQ(first.leaves[0].at[1] - first.leaves[0].at[0], 400);
    EXPECT_LE(first.needs[0].at[0], 1);
}

TEST(Costs, AnUnrolledLoopHasItsLoadsTogether) {
    sums s;
    s.load(s.a);
    s.sum(s.c, s.a, s.c);
    EXPECT_EQ(s.times(4).cycles, (cycles{(3 + 100 + 3 * 4 - 2) / 4.0, (3 + 500 + 3 * 4 - 2) / 4.0}));
}

// What is behind a fence waits for it, and it for the store before it. A store that releases is behind one.
TEST(Costs, AFenceTakesItsTime) {
    observe::latency_table t = table(4, 100);
    t[instruction_class::fence] = 50;
    t.past_l1 = 20;
    const auto cycles_of = [&](const ptx::function& f) {
        return schedule_of(f, 0, static_cast<std::uint32_t>(f.instructions.size()), {&t, 1}, carried_registers_of(f))
            .cycles;
    };
    sums s;
    s.add(opcode::membar, {}, body::always, {suffix::gl});
    s.sum(s.a, s.a, s.b);
    EXPECT_EQ(cycles_of(s.function()), cycles{21});
    EXPECT_EQ(mix_of(s.function(), 0, 1)[instruction_class::fence], 1u);
    sums released;
    for (int k = 0; k < 2; ++k) {
        released.add(opcode::st, {address_operand(released.at), register_operand(released.a)}, body::always,
                     {suffix::release, suffix::gpu, suffix::global, suffix::f32});
    }
    EXPECT_EQ(cycles_of(released.function()), cycles{20 + 1 + 50 + 1});
}

TEST(Costs, NobodyWaitsForAStore) {
    sums s;
    s.add(opcode::st, {address_operand(s.at), register_operand(s.a)}, body::always, {suffix::global, suffix::f32});
    EXPECT_EQ(s.times().cycles, (cycles{1, 1}));
}

TEST(Costs, ClassesOfInstructions) {
    body f;
    const auto i = f.reg(suffix::u32);
    const auto wide = f.reg(suffix::u64);
    const auto base = f.reg(suffix::u64);
    const auto x = f.reg(suffix::f64);
    f.add(opcode::mul, {register_operand(wide), register_operand(i), register_operand(i)}, body::always,
          {suffix::wide, suffix::u32});
    f.add(opcode::add, {register_operand(wide), register_operand(base), register_operand(wide)}, body::always,
          {suffix::s64}); // part of the product
    f.add(opcode::add, {register_operand(wide), register_operand(base), register_operand(base)}, body::always,
          {suffix::s64}); // two halves
    f.add(opcode::rem, {register_operand(i), register_operand(i), register_operand(i)}, body::always, {suffix::u32});
    f.add(opcode::fma, {register_operand(x), register_operand(x), register_operand(x), register_operand(x)},
          body::always, {suffix::rn, suffix::f64});
    f.add(opcode::mov, {register_operand(i), register_operand(i)}, body::always, {suffix::u32}); // no instruction
    f.add(opcode::bar, {}, body::always, {suffix::sync});
    f.add(opcode::bar, {}, body::always, {suffix::warp, suffix::sync});
    const ptx::function& body_of = f.function();
    const observe::instruction_mix mix = mix_of(body_of, 0, static_cast<std::uint32_t>(body_of.instructions.size()));
    EXPECT_EQ(mix[instruction_class::multiply], 1u);
    EXPECT_EQ(mix[instruction_class::integer], 15u);
    EXPECT_EQ(mix[instruction_class::special], 3u); // of the division
    EXPECT_EQ(mix[instruction_class::upper], 1u);
    EXPECT_EQ(mix[instruction_class::fp64], 1u);
    EXPECT_EQ(mix[instruction_class::barrier], 1u);
    EXPECT_EQ(mix[instruction_class::control], 1u);
}

struct product {
    opcode op;
    std::vector<suffix> suffixes;
    std::uint64_t instructions, units; // units of 32 multiply-adds of halves
};

// Work as that of halves: narrower types take less for as many multiply-adds, wider ones more.
TEST(Costs, ProductsOfMatricesGoByTheirMultiplyAdds) {
    using enum suffix;
    const product products[] = {
        {opcode::mma, {sync, aligned, m16n8k16, row, col, f32, f16, f16, f32}, 1, 64},
        {opcode::mma, {sync, aligned, m16n8k8, row, col, f32, f16, f16, f32}, 1, 32},
        {opcode::mma, {sync, aligned, m8n8k4, row, col, f32, f16, f16, f32}, 1, 32}, // four products
        {opcode::mma, {sync, aligned, m16n8k16, row, col, f32, bf16, bf16, f32}, 1, 64},
        {opcode::mma, {sync, aligned, m16n8k8, row, col, f32, tf32, tf32, f32}, 1, 64},
        {opcode::mma, {sync, aligned, m16n8k32, row, col, s32, s8, s8, s32}, 1, 64},
        {opcode::mma, {sync, aligned, m8n8k4, row, col, f64, f64, f64, f64}, 2, 128},
        {opcode::wmma, {mma, sync, aligned, row, col, m16n16k16, f32, f32}, 2, 128},
    };
    for (const product& p : products) {
        body f;
        const auto r = f.reg(f32);
        const ptx::operand o = register_operand(r);
        f.add(p.op, {o, o, o, o}, body::always, p.suffixes);
        const observe::instruction_mix mix = mix_of(f.function(), 0, 1);
        const std::ptrdiff_t what = &p - products;
        EXPECT_EQ(mix[instruction_class::tensor], p.instructions) << what;
        EXPECT_EQ(mix[instruction_class::tensor_products], p.units) << what;
        EXPECT_EQ(mix[instruction_class::half], 0u) << what;
    }
}

} // namespace
} // namespace softgpu::machine
