// SPDX-License-Identifier: MIT
// Accesses that ptxas leaves out, case by case as ptxas 13.0 does for sm_90.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "softgpu/machine/decode/ptxas/left_out.hpp"
#include "tests/program/body.hpp"

namespace softgpu::machine {
namespace {

using program_test::address_operand;
using program_test::body;
using program_test::register_operand;
using ptx::opcode;
using ptx::suffix;

struct accesses : body {
    std::uint32_t here = reg(suffix::u64), there = reg(suffix::u64);
    std::uint32_t a = reg(suffix::u32), b = reg(suffix::u32), c = reg(suffix::u32);

    accesses& load(std::uint32_t to, std::uint32_t from, suffix how = suffix::none) {
        add(opcode::ld, {register_operand(to), address_operand(from)}, always, {suffix::global, how, suffix::u32});
        return *this;
    }
    accesses& store(std::uint32_t to, std::uint32_t value, suffix how = suffix::none) {
        add(opcode::st, {address_operand(to), register_operand(value)}, always, {suffix::global, how, suffix::u32});
        return *this;
    }
    accesses& sum(std::uint32_t to, std::uint32_t x, std::uint32_t y) {
        add(opcode::add, {register_operand(to), register_operand(x), register_operand(y)}, always, {suffix::u32});
        return *this;
    }
    accesses& other(opcode op, std::initializer_list<suffix> suffixes) {
        add(op, {}, always, suffixes);
        return *this;
    }
    // A letter for each instruction: loads and stores that stay, copies, whatever else.
    [[nodiscard]] std::string stays() {
        const ptx::function f = function();
        const auto changed = without_left_out(f, program::make_control_flow(f));
        std::string all;
        for (const ptx::instruction& i : (changed ? *changed : f).instructions) {
            all += i.op == opcode::ld ? 'l' : i.op == opcode::st ? 's' : i.op == opcode::mov ? '-' : '.';
        }
        EXPECT_EQ(changed.has_value(), all.find('-') != std::string::npos);
        return all;
    }
};

TEST(LeftOut, LoadsThatNothingReads) {
    accesses k;
    EXPECT_EQ(k.load(k.a, k.here).store(k.there, k.b).stays(), "-s");
    accesses used;
    EXPECT_EQ(used.load(used.a, used.here).store(used.there, used.a).stays(), "ls");
    accesses is_volatile;
    EXPECT_EQ(is_volatile.load(is_volatile.a, is_volatile.here, suffix::volatile_).stays(), "l");
}

TEST(LeftOut, StoresThatAnotherOneCovers) {
    accesses k;
    EXPECT_EQ(k.store(k.here, k.a).store(k.here, k.b).stays(), "-s");
    accesses other;
    EXPECT_EQ(other.store(other.here, other.a).store(other.there, other.c).store(other.here, other.b).stays(), "sss");
    accesses read;
    EXPECT_EQ(read.store(read.here, read.a).load(read.b, read.there).store(read.here, read.b).stays(), "sls");
    accesses unchanging;
    EXPECT_EQ(unchanging.store(unchanging.here, unchanging.a)
                  .load(unchanging.b, unchanging.there, suffix::nc)
                  .store(unchanging.here, unchanging.b)
                  .stays(),
              "-ls");
    accesses barrier;
    EXPECT_EQ(barrier.store(barrier.here, barrier.a)
                  .other(opcode::bar, {suffix::sync})
                  .store(barrier.here, barrier.b)
                  .stays(),
              "s.s");
    accesses first;
    EXPECT_EQ(first.store(first.here, first.a, suffix::volatile_).store(first.here, first.b).stays(), "ss");
}

TEST(LeftOut, LoadsOfWhatARegisterHas) {
    accesses twice;
    EXPECT_EQ(twice.load(twice.a, twice.here).load(twice.b, twice.here).sum(twice.c, twice.a, twice.b).stays(), "l-.");
    accesses stored;
    EXPECT_EQ(stored.store(stored.here, stored.a).load(stored.b, stored.here).store(stored.there, stored.b).stays(),
              "s-s");
    accesses between; // it may be the same place
    EXPECT_EQ(between.load(between.a, between.here)
                  .store(between.there, between.c)
                  .load(between.b, between.here)
                  .sum(between.c, between.a, between.b)
                  .stays(),
              "lsl.");
    accesses unchanging;
    EXPECT_EQ(unchanging.load(unchanging.a, unchanging.here, suffix::nc)
                  .store(unchanging.there, unchanging.c)
                  .other(opcode::bar, {suffix::sync})
                  .load(unchanging.b, unchanging.here, suffix::nc)
                  .sum(unchanging.c, unchanging.a, unchanging.b)
                  .stays(),
              "ls.-.");
    accesses overwritten; // the register has another value then
    EXPECT_EQ(overwritten.load(overwritten.a, overwritten.here)
                  .sum(overwritten.a, overwritten.a, overwritten.a)
                  .load(overwritten.b, overwritten.here)
                  .sum(overwritten.c, overwritten.a, overwritten.b)
                  .stays(),
              "l.l.");
}

// read_what_is_written of the ladder `memory`: of five accesses two stay.
TEST(LeftOut, WhatIsWrittenAndReadAsUnchanging) {
    accesses k;
    const std::uint32_t first = k.reg(suffix::u32);
    k.load(first, k.there).store(k.here, first).load(k.b, k.here, suffix::nc).sum(k.c, k.b, k.b);
    EXPECT_EQ(k.store(k.here, k.c).load(k.a, k.here, suffix::nc).store(k.there, k.a).stays(), "--l.s-s");
}

} // namespace
} // namespace softgpu::machine
