// SPDX-License-Identifier: MIT
// Which registers an instruction reads and writes.
#include <gtest/gtest.h>

#include "softgpu/program/program.hpp"
#include "tests/program/body.hpp"

using namespace softgpu::program;
using namespace program_test;

namespace {

using softgpu::program::access; // not the one of unistd.h

using registers = std::vector<std::uint32_t>;

access of(opcode op, std::vector<operand> operands, std::uint32_t guard = body::always,
          std::vector<suffix> suffixes = {}) {
    body b;
    b.add(op, std::move(operands), guard, std::move(suffixes));
    return registers_of(b.function().instructions[0]);
}

operand r(std::uint32_t reg) { return register_operand(reg); }

TEST(access, arithmetic_writes_its_first_operand) {
    const access a = of(opcode::add, {r(5), r(6), r(5)});
    EXPECT_EQ(a.written, registers{5});
    EXPECT_EQ(a.read, (registers{6, 5}));
    EXPECT_FALSE(a.partial);
}

TEST(access, each_register_is_told_once) {
    const access a = of(opcode::fma, {r(1), r(2), r(2), r(2)});
    EXPECT_EQ(a.read, registers{2});
}

TEST(access, a_guard_is_read_and_makes_the_write_partial) {
    const access a = of(opcode::mov, {r(1), r(2)}, 9);
    EXPECT_EQ(a.written, registers{1});
    EXPECT_EQ(a.read, (registers{9, 2}));
    EXPECT_TRUE(a.partial);
}

TEST(access, loads_and_stores_read_their_address) {
    const access load = of(opcode::ld, {list_operand(operand_kind::vector, {1, 2, 3, 4}), address_operand(7)});
    EXPECT_EQ(load.written, (registers{1, 2, 3, 4}));
    EXPECT_EQ(load.read, registers{7});
    const access store = of(opcode::st, {address_operand(7), list_operand(operand_kind::vector, {1, 2})});
    EXPECT_TRUE(store.written.empty());
    EXPECT_EQ(store.read, (registers{7, 1, 2}));
    const access reduction = of(opcode::red, {address_operand(7), r(1)});
    EXPECT_TRUE(reduction.written.empty());
    EXPECT_EQ(reduction.read, (registers{7, 1}));
    const access atomic = of(opcode::atom, {r(2), address_operand(7), r(1), r(3)});
    EXPECT_EQ(atomic.written, registers{2});
    EXPECT_EQ(atomic.read, (registers{7, 1, 3}));
}

TEST(access, pairs_and_sinks) {
    const access compare = of(opcode::setp, {list_operand(operand_kind::pair, {1, 2}), r(3), r(4)});
    EXPECT_EQ(compare.written, (registers{1, 2}));
    EXPECT_EQ(compare.read, (registers{3, 4}));
    const access ignored = of(opcode::atom, {operand{}, address_operand(7), r(1)});
    EXPECT_TRUE(ignored.written.empty());
    EXPECT_EQ(ignored.read, (registers{7, 1}));
}

TEST(access, moves_pack_and_unpack) {
    const access unpack = of(opcode::mov, {list_operand(operand_kind::vector, {1, 2}), r(3)});
    EXPECT_EQ(unpack.written, (registers{1, 2}));
    EXPECT_EQ(unpack.read, registers{3});
    const access pack = of(opcode::mov, {r(3), list_operand(operand_kind::vector, {1, 2})});
    EXPECT_EQ(pack.written, registers{3});
    EXPECT_EQ(pack.read, (registers{1, 2}));
}

TEST(access, one_component_of_a_vector_is_a_partial_write) {
    operand x = r(4);
    x.component = 'x';
    EXPECT_TRUE(of(opcode::mov, {x, r(1)}).partial);
    EXPECT_FALSE(of(opcode::mov, {r(1), x}).partial);
}

TEST(access, calls) {
    const access with_result = of(opcode::call, {list_operand(operand_kind::group, {1}), symbol_operand("g"),
                                                 list_operand(operand_kind::group, {2, 3})});
    EXPECT_EQ(with_result.written, registers{1});
    EXPECT_EQ(with_result.read, (registers{2, 3}));
    const access without = of(opcode::call, {symbol_operand("g"), list_operand(operand_kind::group, {2, 3})});
    EXPECT_TRUE(without.written.empty());
    EXPECT_EQ(without.read, (registers{2, 3}));
    const access indirect =
        of(opcode::call, {r(6), list_operand(operand_kind::group, {2}), symbol_operand("prototype")});
    EXPECT_TRUE(indirect.written.empty());
    EXPECT_EQ(indirect.read, (registers{6, 2}));
}

TEST(access, barriers_write_only_where_they_reduce) {
    const access plain = of(opcode::bar, {r(1), r(2)}, body::always, {suffix::sync});
    EXPECT_TRUE(plain.written.empty());
    EXPECT_EQ(plain.read, (registers{1, 2}));
    const access reducing = of(opcode::bar, {r(1), r(2), r(3)}, body::always, {suffix::red});
    EXPECT_EQ(reducing.written, registers{1});
    EXPECT_EQ(reducing.read, (registers{2, 3}));
}

TEST(warp_bytes, by_width) {
    EXPECT_EQ(warp_bytes(suffix::pred), 4u);
    EXPECT_EQ(warp_bytes(suffix::b8), 64u);
    EXPECT_EQ(warp_bytes(suffix::f16), 64u);
    EXPECT_EQ(warp_bytes(suffix::f32), 128u);
    EXPECT_EQ(warp_bytes(suffix::f16x2), 128u);
    EXPECT_EQ(warp_bytes(suffix::u64), 256u);
    EXPECT_EQ(warp_bytes(suffix::b128), 512u);
}

} // namespace
