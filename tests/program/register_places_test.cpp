// SPDX-License-Identifier: MIT
// Register places in cases small enough to see through.
#include <gtest/gtest.h>

#include "softgpu/program/program.hpp"
#include "tests/program/body.hpp"
#include "tests/program/oracle.hpp"

using namespace softgpu::program;
using namespace program_test;

namespace {

operand r(std::uint32_t reg) { return register_operand(reg); }

register_places places_of(const body& b) {
    register_places places = place_registers(b.function(), make_control_flow(b.function()));
    EXPECT_EQ(complaint_about(b.function(), places), "");
    EXPECT_EQ(places.live_words, most_live_words(b.function()));
    return places;
}

TEST(register_places, of_nothing) {
    const register_places places = places_of(body());
    EXPECT_EQ(places.frame_bytes, 0u);
    EXPECT_EQ(places.live_words, 0u);
}

TEST(register_places, of_a_chain_are_one) {
    body b;
    std::uint32_t last = b.reg(suffix::b32);
    b.add(opcode::mov, {r(last), operand{}});
    for (unsigned k = 0; k < 100; ++k) {
        const std::uint32_t next = b.reg(suffix::b32);
        b.add(opcode::add, {r(next), r(last), r(last)});
        last = next;
    }
    b.add(opcode::st, {operand{}, r(last)}).ret();
    const register_places places = places_of(b);
    EXPECT_EQ(places.frame_bytes, 128u);
    EXPECT_EQ(places.live_words, 1u);
}

TEST(register_places, keep_what_a_guarded_write_may_leave) {
    body b;
    const std::uint32_t p = b.reg(suffix::pred);
    const std::uint32_t kept = b.reg(suffix::b32);
    const std::uint32_t other = b.reg(suffix::b32);
    b.add(opcode::mov, {r(kept), operand{}});
    b.add(opcode::mov, {r(other), operand{}}).add(opcode::st, {operand{}, r(other)});
    b.add(opcode::mov, {r(kept), operand{}}, p).add(opcode::st, {operand{}, r(kept)}).ret();
    const register_places places = places_of(b);
    EXPECT_NE(places.offset[kept], places.offset[other]);
    EXPECT_EQ(places.frame_bytes, 64u + 2 * 128u);
}

TEST(register_places, keep_what_is_read_before_any_write_from_the_entry_on) {
    body b;
    const std::uint32_t unset = b.reg(suffix::b32);
    const std::uint32_t other = b.reg(suffix::b32);
    b.add(opcode::mov, {r(other), operand{}}).add(opcode::st, {operand{}, r(other)});
    b.add(opcode::st, {operand{}, r(unset)}).ret();
    const register_places places = places_of(b);
    EXPECT_NE(places.offset[unset], places.offset[other]);
}

TEST(register_places, fill_the_holes_of_others) {
    body b;
    const std::uint32_t often = b.reg(suffix::b32);
    const std::uint32_t between = b.reg(suffix::b32);
    b.add(opcode::mov, {r(often), operand{}}).add(opcode::st, {operand{}, r(often)});
    b.add(opcode::mov, {r(between), operand{}}).add(opcode::st, {operand{}, r(between)});
    b.add(opcode::mov, {r(often), operand{}}).add(opcode::st, {operand{}, r(often)}).ret();
    EXPECT_EQ(places_of(b).frame_bytes, 128u);
}

TEST(register_places, carry_a_loops_values_round) {
    body b;
    const std::uint32_t p = b.reg(suffix::pred);
    const std::uint32_t sum = b.reg(suffix::b32);
    const std::uint32_t value = b.reg(suffix::b32);
    const std::uint32_t late = b.reg(suffix::b32);
    b.add(opcode::mov, {r(sum), operand{}}).label("head").add(opcode::mov, {r(value), operand{}});
    b.add(opcode::add, {r(sum), r(sum), r(value)}).add(opcode::mov, {r(late), operand{}});
    b.add(opcode::st, {operand{}, r(late)}).bra("head", p).add(opcode::st, {operand{}, r(sum)}).ret();
    const register_places places = places_of(b);
    EXPECT_EQ(places.offset[value], places.offset[late]);
    EXPECT_NE(places.offset[sum], places.offset[value]);
}

TEST(register_places, do_not_let_unread_results_hurt) {
    body b;
    const std::uint32_t kept = b.reg(suffix::b32);
    const std::uint32_t unread = b.reg(suffix::b32);
    b.add(opcode::mov, {r(kept), operand{}}).add(opcode::mov, {r(unread), operand{}});
    b.add(opcode::st, {operand{}, r(kept)}).ret();
    const register_places places = places_of(b);
    EXPECT_NE(places.offset[kept], places.offset[unread]);
}

TEST(register_places, of_shuffles_pairs_and_vectors_are_apart_from_their_sources) {
    for (const opcode op : {opcode::shfl, opcode::atom, opcode::add}) {
        body b;
        const std::uint32_t from = b.reg(suffix::b32);
        const std::uint32_t to = b.reg(suffix::b32);
        b.add(opcode::mov, {r(from), operand{}}).add(op, {r(to), r(from)}).add(opcode::st, {operand{}, r(to)}).ret();
        const register_places places = places_of(b);
        EXPECT_EQ(places.offset[from] == places.offset[to], op == opcode::add);
    }
    body b;
    const std::uint32_t one = b.reg(suffix::b32);
    const std::uint32_t two = b.reg(suffix::b32);
    const std::uint32_t address = b.reg(suffix::b32);
    b.add(opcode::mov, {r(address), operand{}});
    b.add(opcode::ld, {list_operand(operand_kind::vector, {one, two}), address_operand(address)});
    b.add(opcode::st, {operand{}, list_operand(operand_kind::vector, {one, two})}).ret();
    const register_places places = places_of(b);
    EXPECT_NE(places.offset[one], places.offset[address]);
    EXPECT_NE(places.offset[two], places.offset[address]);
}

TEST(register_places, of_each_width_are_a_region_the_narrow_ones_first) {
    body b;
    const std::uint32_t wide = b.reg(suffix::b64);
    const std::uint32_t word = b.reg(suffix::f32);
    const std::uint32_t half = b.reg(suffix::b16);
    const std::uint32_t huge = b.reg(suffix::b128);
    const std::uint32_t p = b.reg(suffix::pred);
    const std::uint32_t four = b.reg(suffix::f32, 4);
    const std::vector<std::uint32_t> all{wide, word, half, huge, p, four};
    for (const std::uint32_t x : all) {
        b.add(opcode::mov, {r(x), operand{}});
    }
    for (const std::uint32_t x : all) {
        b.add(opcode::st, {operand{}, r(x)});
    }
    b.ret();
    const register_places places = places_of(b);
    EXPECT_EQ(places.offset[p], 0u);
    EXPECT_EQ(places.offset[half], 64u);
    EXPECT_EQ(places.offset[word], 128u);
    EXPECT_EQ(places.offset[wide], 256u);
    EXPECT_GE(places.offset[huge], 512u);
    EXPECT_EQ(places.frame_bytes, 64u + 64u + 128u + 256u + 512u + 512u);
    EXPECT_EQ(places.live_words, 2u + 1u + 1u + 4u + 4u);
}

TEST(register_places, short_addresses_take_a_word_and_parameters_none) {
    body b;
    const auto pointer = b.reg(suffix::u64);
    const auto in_global = b.reg(suffix::u64);
    const auto count = b.reg(suffix::u32);
    const auto offset = b.reg(suffix::u64);
    const auto at = b.reg(suffix::u64);
    const auto x = b.reg(suffix::f64);
    b.add(opcode::ld, {r(pointer), operand{}}, body::always, {suffix::param, suffix::u64});
    b.add(opcode::cvta, {r(in_global), r(pointer)}, body::always, {suffix::to, suffix::global, suffix::u64});
    b.add(opcode::ld, {r(count), operand{}}, body::always, {suffix::param, suffix::u32});
    b.add(opcode::mov, {r(offset), operand{}}, body::always, {suffix::u64});
    b.add(opcode::mov, {r(x), operand{}}, body::always, {suffix::f64});
    b.add(opcode::add, {r(at), r(in_global), r(offset)}, body::always, {suffix::u64});
    b.add(opcode::st, {r(at), r(x)}, body::always, {suffix::global, suffix::f64});
    b.add(opcode::add, {r(offset), r(offset), r(count)}, body::always, {suffix::u64});
    b.add(opcode::st, {r(offset), r(count)}, body::always, {suffix::global, suffix::u32});
    b.ret();
    const register_places places = places_of(b);
    EXPECT_EQ(places.live_words, 2u + 1u + 2u + 2u); // in_global or at, count, offset, x
    EXPECT_EQ(places.live_words_32, 1u + 1u + 2u);   // at, offset, x
}

TEST(register_places, refuse_a_register_that_is_not_there) {
    body b;
    b.add(opcode::mov, {r(3), operand{}}).ret();
    EXPECT_THROW((void)place_registers(b.function(), make_control_flow(b.function())), softgpu::ptx::error);
}

} // namespace
