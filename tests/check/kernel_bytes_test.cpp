// SPDX-License-Identifier: MIT
// Accesses of 1 and 2 bytes, and of many: what threads do to different bytes of one word is no race.
#include <gtest/gtest.h>

#include "tests/check/check_fixture.hpp"

namespace softgpu::test {
namespace {

TEST_F(Check, NarrowAndWideAccesses) {
    const std::uint64_t out = zeros(4 * 1024);
    const auto bytes = [](const std::string& order) {
        return "mov.u32 %r7, s; add.u32 %r4, %r7, %i; cvt.u16.u32 %h0, %i; st.shared.u8 [%r4], %h0;\n" + order +
               "xor.b32 %r5, %i, 32; add.u32 %r5, %r5, %r7; ld.shared.u8 %r8, [%r5];";
    };
    expect_one(shared_race, bytes(""), {.block = {64}}, {out}, shared_array);
    expect_none(bytes("bar.sync 0;"), {.block = {64}}, {out}, shared_array);
    const auto wide = [](const std::string& order) {
        return "mov.u32 %r7, s; shl.b32 %r4, %i, 4; add.u32 %r4, %r4, %r7; st.shared.v4.u32 [%r4], {%i, %i, %i, "
               "%i};\n" +
               order +
               "xor.b32 %r5, %i, 1; shl.b32 %r5, %r5, 4; add.u32 %r5, %r5, %r7; ld.shared.v2.u64 {%rd4, %rd5}, [%r5];";
    };
    expect_one(shared_race, wide(""), {.block = {64}}, {out}, shared_array);
    expect_none(wide("bar.warp.sync -1;"), {.block = {64}}, {out}, shared_array);
}

// Threads that read and write elements of 1 or 2 bytes each: those of one word have nothing to do with each other.
TEST_F(Check, OwnElementsOfOneWord) {
    const auto pass = [](const std::string& index, const std::string& size, const std::string& write_if) {
        return "mov.u32 %r3, %i;\n" + index + "mul.wide.u32 %rd0, %r3, " + size +
               "; add.u64 %rd0, %rd0, %p0; ld.global.u" + (size == "1" ? "8" : "16") +
               " %h0, [%rd0]; add.u16 %h0, %h0, 1;\n" + write_if + " st.global.u" + (size == "1" ? "8" : "16") +
               " [%rd0], %h0;";
    };
    const launch_options blocks{.grid = {4}, .block = {50}};
    expect_none(pass("xor.b32 %r3, %r3, 1;\n", "2", ""), blocks, {zeros(1024)});
    expect_none(pass("mul.lo.u32 %r3, %r3, 3;\n", "1", ""), blocks, {zeros(1024)});
    expect_none(pass("add.u32 %r3, %r3, 1;\n", "1", ""), blocks, {zeros(1024)});
    const std::string some = "and.b32 %r4, %i, 5; setp.eq.u32 %q0, %r4, 1; @%q0";
    for (const char* size : {"1", "2"}) {
        expect_none(pass("", size, some), {.grid = {4}, .block = {64}}, {zeros(1024)});
        // Lane i writes what lane i - 1 has read.
        const std::string other = "sub.u64 %rd0, %rd0, " + std::string(size) + "; ";
        expect_one(global_race, pass("", size, other + some), {.grid = {1}, .block = {64}}, {zeros(1024)});
    }
    // Bytes of shared memory by two warps.
    const std::string shared = "mov.u32 %r7, s; mul.lo.u32 %r4, %i, 3; add.u32 %r4, %r4, %r7; cvt.u16.u32 %h0, %i;\n"
                               "st.shared.u8 [%r4], %h0; ld.shared.u8 %h1, [%r4]; st.shared.u8 [%r4], %h1;";
    expect_none(shared, {.block = {64}}, {}, shared_array);
    // Both warps read the same bytes; one thread writes one of them, behind a barrier or without.
    const auto read_by_both = [](const std::string& order) {
        return "mov.u32 %r7, s; and.b32 %r4, %i, 31; add.u32 %r4, %r4, %r7; ld.shared.u8 %h1, [%r4];\n" + order +
               "setp.eq.u32 %q0, %i, 0; cvt.u16.u32 %h0, %i; @%q0 st.shared.u8 [%r4], %h0;";
    };
    expect_none("mov.u32 %r5, s; add.u32 %r5, %r5, %i; cvt.u16.u32 %h0, %i; st.shared.u8 [%r5], %h0; bar.sync 0;\n" +
                    read_by_both("bar.sync 0;"),
                {.block = {64}}, {}, shared_array);
    expect_one(shared_race,
               "mov.u32 %r5, s; add.u32 %r5, %r5, %i; cvt.u16.u32 %h0, %i; st.shared.u8 [%r5], %h0; bar.sync 0;\n" +
                   read_by_both(""),
               {.block = {64}}, {}, shared_array);
    // Warp 1 writes the bytes that warp 0 has read.
    const std::string crossed = "mov.u32 %r7, s; add.u32 %r4, %i, %r7; cvt.u16.u32 %h0, %i; st.shared.u8 [%r4], %h0;\n"
                                "bar.sync 0; ld.shared.u8 %h1, [%r4];\n";
    const std::string store = "xor.b32 %r5, %i, 32; add.u32 %r5, %r5, %r7; st.shared.u8 [%r5], %h1;";
    expect_one(shared_race, crossed + store, {.block = {64}}, {}, shared_array);
    expect_none(crossed + "bar.sync 0;\n" + store, {.block = {64}}, {}, shared_array);
}

// Each lane has an element, another lane writes it too, and all read their own.
TEST_F(Check, ElementsThatALaneLoses) {
    const auto lose = [](const std::string& size, const std::string& type, unsigned lane, const std::string& order) {
        return "mov.u32 %r7, s; mad.lo.u32 %r4, %i, " + size + ", %r7; cvt.u16.u32 %h0, %i; st.shared." + type +
               " [%r4], %h0;\n" + order + "mov.u16 %h1, 77; setp.eq.u32 %q0, %i, " + std::to_string(lane) +
               "; @%q0 st.shared." + type + " [%r7+" + size + "], %h1; bar.sync 0; ld.shared." + type + " %h2, [%r4];";
    };
    for (const auto& [size, type] : {std::pair{"1", "u8"}, std::pair{"2", "u16"}}) {
        for (const unsigned lane : {0u, 2u, 5u, 31u}) {
            expect_one(shared_race, lose(size, type, lane, ""), {.block = {64}}, {}, shared_array);
            expect_none(lose(size, type, lane, "bar.warp.sync -1;\n"), {.block = {64}}, {}, shared_array);
        }
    }
    // Rows of elements of 1 and of 2 bytes: other lanes have the second word.
    const auto rows = [](const std::string& first, const std::string& order, const std::string& then) {
        return "mov.u32 %r7, s; add.u32 %r4, %i, %r7; add.u32 %r5, %r4, %i; cvt.u16.u32 %h0, %i;\n" + first + order +
               then;
    };
    for (const auto& [first, then] : {std::pair{"st.shared.u16 [%r5], %h0;\n", "ld.shared.u8 %h1, [%r4];"},
                                      std::pair{"st.shared.u8 [%r4], %h0;\n", "ld.shared.u16 %h1, [%r5];"},
                                      std::pair{"ld.shared.u8 %h1, [%r4];\n", "st.shared.u16 [%r5], %h0;"}}) {
        const std::string all = "st.shared.u16 [%r5], %h0; bar.warp.sync -1;\n";
        expect_one(shared_race, rows(all + first, "", then), {.block = {32}}, {}, shared_array);
        expect_none(rows(all + first, "bar.warp.sync -1;\n", then), {.block = {32}}, {}, shared_array);
    }
}

// Two lanes, each with its half of a word, in code where others do not come along.
TEST_F(Check, HalvesOfOneWordInDivergentCode) {
    const auto halves = [](const std::string& then, unsigned distance, bool alone) {
        // %r4: the own half, %r5: the other half of its word; %h0 is read by all unless `alone`.
        return "mov.u32 %r7, s; shl.b32 %r4, %i, 1; add.u32 %r4, %r4, %r7; xor.b32 %r5, %r4, 2; cvt.u16.u32 %h0, %i;\n"
               "st.shared.u16 [%r4], %h0; bar.sync 0;\n" +
               std::string(alone ? "" : "ld.shared.u16 %h0, [%r4];\n") + "and.b32 %r6, %i, " +
               std::to_string(distance) + "; setp.eq.u32 %q0, %r6, 0; @%q0 bra done;\n" + then + "\ndone:";
    };
    const std::string again = "ld.shared.u16 %h1, [%r4]; add.u16 %h1, %h1, 1; st.shared.u16 [%r4], %h1; ";
    const launch_options warp{.block = {64}};
    for (const unsigned distance : {1u, 2u, 4u}) {
        for (const bool alone : {false, true}) {
            expect_none(halves(again, distance, alone), warp, {}, shared_array);
            expect_none(halves(again + again, distance, alone), warp, {}, shared_array);
            expect_none(halves("activemask.b32 %r8; bar.warp.sync %r8;" + again, distance, alone), warp, {},
                        shared_array);
        }
        // The other lane has read, and perhaps read again, the half that this one writes.
        const std::string store = "st.shared.u16 [%r5], %h0;";
        expect_one(shared_race, halves(store, distance, false), warp, {}, shared_array);
        expect_one(shared_race, halves("ld.shared.u16 %h1, [%r4];" + store, distance, false), warp, {}, shared_array);
    }
    for (const unsigned distance : {2u, 4u}) {
        // Both lanes come here.
        expect_one(shared_race, halves("ld.shared.u16 %h1, [%r4]; st.shared.u16 [%r5], %h1;", distance, true), warp, {},
                   shared_array);
        const finding f =
            expect_one(shared_race, halves("st.shared.u16 [%r4], %h0; ld.shared.u16 %h1, [%r5];", distance, true), warp,
                       {}, shared_array);
        ASSERT_EQ(f.accesses.size(), 2u);
        EXPECT_EQ(f.accesses[0].thread[0] ^ 1, f.accesses[1].thread[0]);
        expect_one(
            shared_race,
            halves("st.shared.u16 [%r4], %h0; ld.shared.u16 %h1, [%r4]; ld.shared.u16 %h1, [%r5];", distance, true),
            warp, {}, shared_array);
    }
    // All lanes write, then each reads its neighbour's half.
    expect_one(shared_race, halves("", 1, true) + "st.shared.u16 [%r4], %h0; ld.shared.u16 %h1, [%r5];", warp, {},
               shared_array);
    expect_none(halves("", 1, true) + "st.shared.u16 [%r4], %h0; bar.warp.sync -1; ld.shared.u16 %h1, [%r5];", warp, {},
                shared_array);
}

} // namespace
} // namespace softgpu::test
