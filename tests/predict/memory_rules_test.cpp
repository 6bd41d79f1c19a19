// SPDX-License-Identifier: MIT
// Coalescing and banks before compute capability 5.0: the cases of the CUDA C Programming Guide 6.5 (G.3.2, G.3.3, G.4.3).
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "softgpu/predict/memory_rules.hpp"
#include "softgpu/predict/model.hpp"
#include "softgpu/predict/traffic.hpp"

namespace softgpu::predict {
namespace {

using machine::touch;
using addresses = std::array<std::uint64_t, 32>;

constexpr std::uint32_t all = ~0u;
constexpr std::uint32_t first_half = 0xFFFF;
constexpr memory_rules in_order = memory_rules::half_warps_in_order;
constexpr memory_rules any_order = memory_rules::half_warps_any_order;
constexpr memory_rules wide = memory_rules::wide_banks;

addresses run(std::uint64_t from, std::uint64_t step) {
    addresses at{};
    for (std::uint64_t l = 0; l < 32; ++l) {
        at.at(l) = from + l * step;
    }
    return at;
}

// Bytes of each transaction.
std::vector<unsigned> bytes_of(memory_rules r, const addresses& at, std::uint32_t mask, unsigned bytes) {
    std::vector<unsigned> sizes;
    const transactions t = transactions_of(r, at, mask, bytes);
    for (unsigned k = 0; k < t.count; ++k) {
        sizes.push_back(32 * static_cast<unsigned>(std::popcount(t.of.at(k).sectors)));
    }
    return sizes;
}

using sizes = std::vector<unsigned>;

TEST(MemoryRules, OfEachCard) {
    card c;
    for (const auto& [capability, rules] : {std::pair{10u, in_order},
                                            {11u, in_order},
                                            {12u, any_order},
                                            {13u, any_order},
                                            {20u, memory_rules::counters},
                                            {21u, memory_rules::counters},
                                            {30u, wide},
                                            {37u, wide},
                                            {50u, memory_rules::counters},
                                            {120u, memory_rules::counters}}) {
        c.compute_capability = capability;
        EXPECT_EQ(rules_of(c), rules) << capability;
    }
    EXPECT_EQ(rules_of(read_card(CARDS_FOLDER "/g80.json")), in_order);
    EXPECT_EQ(rules_of(read_card(CARDS_FOLDER "/k40m.json")), wide);
    EXPECT_EQ(rules_of(read_card(CARDS_FOLDER "/t4.json")), memory_rules::counters);
}

TEST(MemoryRules, WordsInOrderAreOneTransactionOfAHalfWarp) {
    EXPECT_EQ(bytes_of(in_order, run(256, 4), all, 4), (sizes{64, 64}));
    EXPECT_EQ(bytes_of(in_order, run(256, 8), all, 8), (sizes{128, 128}));
    EXPECT_EQ(bytes_of(in_order, run(256, 16), all, 16), (sizes{128, 128, 128, 128}));
    EXPECT_EQ(bytes_of(in_order, run(256 + 64, 4), first_half, 4), (sizes{64}));
    EXPECT_EQ(bytes_of(in_order, run(256, 4), 0x0000'8010, 4), (sizes{64})); // idle lanes do not matter
    EXPECT_EQ(bytes_of(in_order, run(256, 4), 0x8000'0000, 4), (sizes{64}));
    EXPECT_EQ(bytes_of(in_order, run(256, 4), 0, 4), sizes{});
    const transactions t = transactions_of(in_order, run(256, 4), all, 4);
    EXPECT_EQ(t.of[0].line, 2u);
    EXPECT_EQ(t.of[0].sectors, 0b0011u);
    EXPECT_EQ(t.of[1].line, 2u);
    EXPECT_EQ(t.of[1].sectors, 0b1100u);
}

TEST(MemoryRules, OtherwiseEachLaneIsATransaction) {
    const sizes alone(32, 32);
    EXPECT_EQ(bytes_of(in_order, run(256 + 4, 4), all, 4), alone);  // not aligned to a segment
    EXPECT_EQ(bytes_of(in_order, run(256 + 32, 4), all, 4), alone); // nor by half of one
    EXPECT_EQ(bytes_of(in_order, run(256 + 64, 8), all, 8), alone);
    EXPECT_EQ(bytes_of(in_order, run(256 + 64, 16), all, 16), alone);
    EXPECT_EQ(bytes_of(in_order, run(256, 8), all, 4), alone);
    EXPECT_EQ(bytes_of(in_order, run(256, 0), all, 4), alone); // one word for all
    EXPECT_EQ(bytes_of(in_order, run(256, 1), all, 1), alone); // words of less than 4 bytes
    EXPECT_EQ(bytes_of(in_order, run(256, 2), all, 2), alone);
    addresses swapped = run(256, 4);
    std::swap(swapped[3], swapped[4]);
    EXPECT_EQ(bytes_of(in_order, swapped, first_half, 4), sizes(16, 32));
    EXPECT_EQ(bytes_of(in_order, swapped, first_half & ~0x18u, 4), (sizes{64}));
    EXPECT_EQ(bytes_of(in_order, swapped, all, 4).size(), 17u); // each half warp by itself
}

TEST(MemoryRules, SegmentsShrinkToWhatIsUsed) {
    EXPECT_EQ(bytes_of(any_order, run(256, 4), all, 4), (sizes{64, 64}));
    addresses swapped = run(256, 4);
    std::swap(swapped[3], swapped[4]);
    EXPECT_EQ(bytes_of(any_order, swapped, all, 4), (sizes{64, 64}));
    // Bytes 4 to 67 need 128; 68 to 127 the second half; 128 to 131 a quarter.
    EXPECT_EQ(bytes_of(any_order, run(256 + 4, 4), all, 4), (sizes{128, 64, 32}));
    EXPECT_EQ(bytes_of(any_order, run(256 + 64, 8), first_half, 8), (sizes{64, 64}));
    EXPECT_EQ(bytes_of(any_order, run(256, 0), all, 4), (sizes{32, 32}));
    EXPECT_EQ(bytes_of(any_order, run(256, 128), first_half, 4), sizes(16, 32));
    EXPECT_EQ(bytes_of(any_order, run(256, 16), all, 16), (sizes{128, 128, 128, 128}));
    EXPECT_EQ(bytes_of(any_order, run(256, 1), all, 1), (sizes{32, 32}));
    EXPECT_EQ(bytes_of(any_order, run(256, 2), all, 2), (sizes{32, 32}));
    // 2-byte words in the middle of a line: two segments of 64, each shrunk. 4-byte words there: one of 128.
    EXPECT_EQ(bytes_of(any_order, run(256 + 48, 2), first_half, 2), (sizes{64}));
    EXPECT_EQ(transactions_of(any_order, run(256 + 48, 2), first_half, 2).of[0].sectors, 0b0110u);
    EXPECT_EQ(bytes_of(any_order, run(256 + 32, 4), first_half, 4), (sizes{128}));
}

std::uint64_t turns(memory_rules r, const addresses& at, std::uint32_t mask, unsigned bytes, touch how = touch::load) {
    return turns_of(r, at, mask, bytes, how).wavefronts;
}

TEST(MemoryRules, SixteenBanksServeAHalfWarp) {
    EXPECT_EQ(turns(in_order, run(0, 4), all, 4), 2u);
    EXPECT_EQ(turns(in_order, run(0, 4), first_half, 4), 1u);
    EXPECT_EQ(turns(in_order, run(0, 4), 0, 4), 0u);
    EXPECT_EQ(turns(in_order, run(0, 8), all, 4), 4u); // stride 2
    EXPECT_EQ(turns(any_order, run(0, 12), all, 4), 2u);
    EXPECT_EQ(turns(in_order, run(0, 64), all, 4), 32u);
    EXPECT_EQ(turns(in_order, run(0, 68), all, 4), 2u); // padded
    EXPECT_EQ(turns(in_order, run(0, 128), all, 4), 32u);
    EXPECT_DOUBLE_EQ(turns_of(in_order, run(0, 64), all, 4, touch::load).reissued, 15);
    EXPECT_DOUBLE_EQ(turns_of(in_order, run(0, 4), all, 4, touch::load).reissued, 0);
    EXPECT_EQ(turns(in_order, run(0, 8), all, 8), 8u);    // two accesses of stride 2
    EXPECT_EQ(turns(in_order, run(0, 16), all, 16), 32u); // four of stride 4
}

TEST(MemoryRules, ATurnHasOneBroadcast) {
    EXPECT_EQ(turns(in_order, run(0, 0), all, 4), 2u);
    addresses two = run(0, 0); // two words, of different banks, for eight lanes each
    for (unsigned l = 8; l < 16; ++l) {
        two.at(l) = 4;
    }
    EXPECT_EQ(turns(in_order, two, first_half, 4), 2u);               // a lane of the second goes with the first
    EXPECT_EQ(turns(in_order, two, first_half, 4, touch::store), 1u); // one lane of each word stores
    EXPECT_EQ(turns(in_order, run(0, 1), first_half, 1), 4u);         // four bytes of each of four words
    EXPECT_EQ(turns(wide, two, all, 4), 1u);
}

TEST(MemoryRules, ABankOfKeplerGivesEightBytes) {
    EXPECT_EQ(turns(wide, run(0, 4), all, 4), 1u);
    EXPECT_EQ(turns(wide, run(0, 8), all, 4), 1u);   // words that are 32 apart
    EXPECT_EQ(turns(wide, run(128, 8), all, 4), 2u); // but not in 64 aligned ones
    EXPECT_EQ(turns(wide, run(0, 16), all, 4), 2u);
    EXPECT_EQ(turns(wide, run(0, 128), all, 4), 16u);
    EXPECT_EQ(turns(wide, run(0, 8), all, 8), 1u);
    EXPECT_EQ(turns(wide, run(0, 16), all, 16), 2u);
    EXPECT_EQ(turns(wide, run(0, 0), all, 4), 1u);
    EXPECT_EQ(turns(wide, run(0, 4), 0, 4), 0u);
    EXPECT_DOUBLE_EQ(turns_of(wide, run(0, 128), all, 4, touch::store).reissued, 15);
}

// What the counters have of 32 banks is left out.
TEST(MemoryRules, TheModelTakesTheCardsOwnTurns) {
    const card c = read_card(CARDS_FOLDER "/g80.json");
    launch_work w;
    w.shape = {.blocks = 16, .threads = 32, .shared_bytes = 0, .registers = 8, .registers_32 = 8};
    w.total.shared_load_wavefronts = 16'000'000;
    w.total.shared_load_bank_conflicts = 16'000'000;
    w.shared = shared_turns{.wavefronts = 32'000, .reissued = 8'000};
    double shared = 0;
    double issue = 0;
    for (const observe::bound_time& b : predict(c, w).bounds) {
        shared = b.name == "shared" ? b.nanoseconds : shared;
        issue = b.name == "issue" ? b.nanoseconds : issue;
    }
    EXPECT_NEAR(shared * 1.35, 2'000 * 2, 1e-6); // half a warp in two cycles
    EXPECT_NEAR(issue * 1.35, 500 * 4, 1e-6);
}

// K40m: no L1 for global loads, and sectors of L2.
TEST(MemoryRules, LoadsOfKeplerGoPastL1) {
    const card c = read_card(CARDS_FOLDER "/k40m.json");
    EXPECT_EQ(l1_of(c, {.blocks = 1, .threads = 32, .shared_bytes = 0, .registers = 8}).block, 0u);
    device_l2 l2(static_cast<std::uint64_t>(c.l2_bytes), static_cast<std::uint64_t>(c.l2_fetch));
    l2.begin();
    block_l1 l1(l2, load_cache(0));
    for (int k = 0; k < 3; ++k) {
        l1.touched({.line = 7, .sectors = 0b0100, .how = touch::load});
    }
    EXPECT_EQ(l1.ended().l1_hits, 0u);
    EXPECT_EQ(l2.cold().l2_reads, 3u);
    EXPECT_EQ(l2.cold().l2_read_hits, 2u);
    EXPECT_EQ(l2.cold().dram_reads, 1u);
}

} // namespace
} // namespace softgpu::predict
