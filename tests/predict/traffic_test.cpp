// SPDX-License-Identifier: MIT
// What accesses do to the caches of a block and of the device.
#include <cstdint>
#include <initializer_list>
#include <vector>

#include <gtest/gtest.h>

#include "softgpu/predict/traffic.hpp"
#include "tests/predict/line_access.hpp"

namespace softgpu::predict {
namespace {

using machine::touch;

TEST(Traffic, WarmKeepsWhatTheLaunchBeforeHasRead) {
    device_l2 l2(1 << 20, 32);
    for (int launch = 0; launch < 2; ++launch) {
        l2.begin();
        block_l1 l1(l2, load_cache(1 << 14));
        for (int twice = 0; twice < 2; ++twice) {
            for (std::uint64_t line = 0; line < 100; ++line) {
                l1.touched(access(0, line, 0b1111, 0, touch::load));
            }
        }
        const traffic own = l1.ended();
        EXPECT_EQ(own.loads, 800u);
        EXPECT_EQ(own.l1_hits, 400u);
        EXPECT_EQ(l2.cold().dram_reads, 400u);
        EXPECT_EQ(l2.warm().dram_reads, launch == 0 ? 400u : 0u);
        EXPECT_EQ(l2.warm().l2_read_hits, launch == 0 ? 0u : 400u);
    }
}

std::vector<l2_access> loads_of(std::uint64_t lines, std::uint16_t by) {
    std::vector<l2_access> all;
    for (std::uint64_t line = 0; line < lines; ++line) {
        all.push_back({.line = line, .by = {.by = by}, .sectors = 0b1111});
    }
    return all;
}

// Multiprocessors of each partition load the same lines: half of them are at home in their own one.
TEST(Traffic, APartitionKeepsCopiesOfTheOthersLines) {
    constexpr std::uint64_t lines = 512;
    for (const unsigned partitions : {1u, 2u}) {
        device_l2 l2(1 << 20, 32, {.bytes = 512}, partitions);
        l2.begin();
        std::uint64_t at_home = 0; // in partition 1
        for (std::uint64_t line = 0; line < lines; ++line) {
            at_home += l2.home_of(line);
        }
        const std::uint64_t elsewhere = partitions == 1 ? 0 : lines - at_home;
        ASSERT_NEAR(static_cast<double>(at_home), 256, 64);
        l2.take(loads_of(lines, 0));
        EXPECT_EQ(l2.cold().dram_reads, 4 * lines);
        EXPECT_EQ(l2.cold().l2_read_hits + l2.cold().l2_far_hits, 0u);
        l2.take(loads_of(lines, 1));
        EXPECT_EQ(l2.cold().l2_read_hits, 4 * (lines - elsewhere));
        EXPECT_EQ(l2.cold().l2_far_hits, 4 * elsewhere);
        for (const std::uint16_t by : {std::uint16_t{0}, std::uint16_t{1}}) {
            l2.take(loads_of(lines, by)); // both have them
        }
        EXPECT_EQ(l2.cold().l2_read_hits, 4 * (3 * lines - elsewhere));
        EXPECT_EQ(l2.cold().l2_far_hits, 4 * elsewhere);
        EXPECT_EQ(l2.warm().dram_reads, 4 * lines);
    }
}

// Half of what is loaded takes room twice, what is stored once.
TEST(Traffic, CopiesTakeRoom) {
    constexpr std::uint64_t lines = 1 << 15;
    const auto left_dirty = [](unsigned partitions, bool loads) {
        device_l2 l2(lines / 4 * 128, 32, {.bytes = 512}, partitions);
        l2.begin();
        for (std::uint64_t line = 0; line < lines; ++line) {
            if (loads) {
                l2.take({{.line = line, .sectors = 0b1111}});
            }
            l2.take({{.line = line + lines, .words = ~0u, .sectors = 0b1111, .how = touch::store}});
        }
        return static_cast<double>(4 * lines - l2.cold().dram_writes) / lines; // a quarter of the lines has a place
    };
    for (const unsigned partitions : {1u, 2u}) { // seven of 16 ways, whatever the partitions
        EXPECT_NEAR(left_dirty(partitions, false), 7 / 16., 0.01);
    }
    EXPECT_NEAR(left_dirty(1, true), 7 / 16., 0.02); // half would have room
    EXPECT_NEAR(left_dirty(2, true), 1 / 2.5, 0.02);
}

// Loads of a sector go together in front of L2; one past L1 that has to see a store takes its turn.
TEST(Traffic, LoadsOfWhatWasStoredTakeTheirTurnsInTheSlice) {
    const auto cycles = [](std::initializer_list<touch> accesses) {
        device_l2 l2(1 << 20, 32, {.bytes = 512, .load = 0.25, .store = 0.125, .atomic = 2, .changed = 3});
        l2.begin();
        block_l1 l1(l2, load_cache(0));
        for (const touch how : accesses) {
            l1.touched(access(0, 5, 0b0011, 1, how));
        }
        static_cast<void>(l1.ended());
        EXPECT_DOUBLE_EQ(l2.warm().slice_cycles, l2.cold().slice_cycles);
        return l2.warm().slice_cycles;
    };
    EXPECT_DOUBLE_EQ(cycles({touch::load, touch::load, touch::load}), 3 * 0.25);
    constexpr touch relaxed = touch::load_past_l1;
    EXPECT_DOUBLE_EQ(cycles({touch::store, touch::store, relaxed}), 2 * 0.125 + 3);
    EXPECT_DOUBLE_EQ(cycles({touch::store, relaxed, relaxed}), 0.125 + 3 + 0.25);
    EXPECT_DOUBLE_EQ(cycles({touch::store, relaxed, touch::store, relaxed}), 2 * (0.125 + 3));
    EXPECT_DOUBLE_EQ(cycles({touch::atomic, relaxed}), 2 + 3);
    EXPECT_DOUBLE_EQ(cycles({touch::store, touch::load}), 0.125 + 0.25);
}

// Four lanes' words of each line by four stores, as one vector of each lane would have them.
TEST(Traffic, StoresOfAWarpToTheSameLinesGoTogether) {
    for (const std::uint64_t lines : {1u, 2u, 4u, 8u}) {
        device_l2 l2(1 << 20, 32, {.bytes = 512, .store = 0.125});
        l2.begin();
        block_l1 l1(l2, load_cache(1 << 14));
        for (unsigned word = 0; word < 4; ++word) {
            for (std::uint64_t line = 0; line < lines; ++line) {
                l1.touched(access(7, line, 1u << word, line == 0 ? 1 : 0, touch::store));
            }
        }
        static_cast<void>(l1.ended());
        const bool together = lines <= 4;
        EXPECT_EQ(l2.cold().l2_store_requests, together ? lines : 4 * lines) << lines;
        EXPECT_EQ(l2.cold().l2_writes, 4 * lines) << lines;
        EXPECT_EQ(l2.cold().l2_requests, l2.cold().l2_store_requests) << lines;
        const double in_one_slice = lines == 1 ? 1 : lines == 8 ? 4 : 2; // two lines in turn
        EXPECT_DOUBLE_EQ(l2.cold().slice_cycles, 0.125 * 4 * in_one_slice)
            << lines; // slice_stores is of stores before they are joined
    }
}

// What is stored again goes together as well, but not past another access of the warp, a barrier, or with another warp.
TEST(Traffic, StoresGoTogetherUntilTheWarpDoesSomethingElse) {
    const auto requests = [](auto between, std::uint64_t bytes = 1 << 14) {
        device_l2 l2(1 << 20, 32);
        l2.begin();
        block_l1 l1(l2, load_cache(bytes));
        l1.touched(access(0, 5, 0b0011, 1, touch::store));
        between(l1);
        l1.touched(access(0, 5, 0b0110, 1, touch::store));
        static_cast<void>(l1.ended());
        return l2.cold().l2_store_requests;
    };
    EXPECT_EQ(requests([](block_l1&) {}), 1u);
    EXPECT_EQ(requests([](block_l1& l1) { l1.touched(access(1, 9, 1, 0, touch::load)); }), 1u);
    EXPECT_EQ(requests([](block_l1& l1) { l1.touched(access(0, 9, 1, 0, touch::load)); }), 2u);
    EXPECT_EQ(requests([](block_l1& l1) { l1.touched(access(0, 9, 1, 1, touch::atomic)); }), 2u);
    EXPECT_EQ(requests([](block_l1& l1) { l1.passed_barrier(); }), 2u);
    EXPECT_EQ(requests([](block_l1& l1) { l1.touched(access(1, 5, 1, 1, touch::store)); }), 2u);
    EXPECT_EQ(requests([](block_l1& l1) { l1.touched(access(0, 9, 1, 1, touch::store)); }), 3u); // two arrays by turns
    EXPECT_EQ(requests([](block_l1& /*l1*/) {}, 0), 2u);                                         // no L1
    EXPECT_EQ(requests([](block_l1& l1) {
                  for (std::uint64_t line = 100; line < 100 + 5000; ++line) { // more than wait for L2
                      l1.touched(access(1, line, 1, 0, touch::load));
                  }
              }),
              2u);
}

TEST(Traffic, AtomicsAndLoadsPastL1GoToL2) {
    device_l2 l2(1 << 20, 32);
    l2.begin();
    block_l1 l1(l2, load_cache(1 << 14));
    l1.touched(access(0, 1, 1, 0, touch::load));
    l1.touched(access(0, 1, 1, 0, touch::store)); // the sector stays
    l1.touched(access(0, 1, 1, 0, touch::load));
    l1.touched(access(0, 1, 1, 0, touch::load_past_l1));
    l1.touched(access(0, 2, 1, 32, touch::atomic));
    l1.touched(access(0, 2, 1, 32, touch::atomic));
    l1.touched(access(0, 3, 1, 5, touch::atomic));
    EXPECT_EQ(l1.ended().l1_hits, 1u);
    EXPECT_EQ(l2.warm().l2_writes, 1u);
    EXPECT_EQ(l2.warm().l2_requests, 6u);
    EXPECT_EQ(l2.warm().l2_reads, 5u);
    EXPECT_EQ(l2.warm().l2_atomics, 3u);
    EXPECT_EQ(l2.warm().l2_read_hits, 2u);
    EXPECT_EQ(l2.warm().l2_atomic_hits, 1u);
    EXPECT_EQ(l2.warm().l2_store_requests, 1u);
    EXPECT_EQ(l2.warm().atomic_passes, 69u);
}

TEST(Traffic, ASectorThatComesWithAnotherWarpsIsLate) {
    device_l2 l2(1 << 20, 64);
    l2.begin();
    block_l1 l1(l2, load_cache(0));
    l1.touched(access(0, 1, 0b0001, 0, touch::load));
    l1.touched(access(0, 1, 0b0010, 0, touch::load)); // its own: it has waited for the first
    l1.touched(access(0, 2, 0b0001, 0, touch::load));
    l1.touched(access(1, 2, 0b0010, 0, touch::load)); // another warp, which has not
    l1.touched(access(1, 2, 0b0010, 0, touch::load)); // by now it is there
    static_cast<void>(l1.ended());
    EXPECT_EQ(l2.cold().l2_read_hits, 3u);
    EXPECT_EQ(l2.cold().l2_late_hits, 1u);
    EXPECT_EQ(l2.cold().dram_reads, 4u);
}

// Lines side by side lie in one row. A warp that comes back to rows behind many others opens them again.
TEST(Traffic, ReadsOpenRows) {
    device_l2 l2(1 << 20, 64);
    l2.begin();
    block_l1 l1(l2, load_cache(0));
    for (std::uint64_t line = 0; line < 64; ++line) {
        l1.touched(access(0, line, 0b1111, 0, touch::load));
    }
    static_cast<void>(l1.ended());
    EXPECT_EQ(l2.cold().dram_rows, 16u); // of four lines
    block_l1 apart(l2, load_cache(0));
    for (const unsigned sectors : {0b0001u, 0b0100u}) { // one half of the lines after the other
        for (std::uint64_t line = 1000; line < 1000 + 256 * 64; line += 64) {
            apart.touched(access(0, line, sectors, 0, touch::load));
        }
    }
    static_cast<void>(apart.ended());
    EXPECT_EQ(l2.cold().dram_reads, 256u + 2 * 512u);
    EXPECT_EQ(l2.cold().dram_rows, 16u + 2 * 256u);
}

// A prefetch is no read. It brings a sector and its neighbour, for which the next one that asks waits.
TEST(Traffic, APrefetchedSectorIsThereAndLate) {
    for (const unsigned partitions : {1u, 2u}) {
        device_l2 l2(1 << 20, 64, {}, partitions);
        l2.begin();
        block_l1 l1(l2, load_cache(1 << 14));
        for (std::uint64_t line = 0; line < 64; ++line) {
            l1.touched(access(0, line, 0b0001, 1, touch::prefetch));
        }
        static_cast<void>(l1.ended());
        EXPECT_EQ(l2.cold().l2_reads, 0u);
        EXPECT_EQ(l2.cold().l2_requests, 64u);
        EXPECT_EQ(l2.cold().dram_reads, 128u);
        for (int round = 0; round < 2; ++round) { // the second one finds all there
            block_l1 again(l2, load_cache(1 << 14));
            for (std::uint64_t line = 0; line < 64; ++line) {
                again.touched(access(0, line, 0b1111, 1, touch::load));
            }
            EXPECT_EQ(again.ended().l1_hits, 0u);
            EXPECT_EQ(l2.cold().l2_late_hits, 128u);
        }
        EXPECT_EQ(l2.cold().l2_reads, 512u);
        EXPECT_EQ(l2.cold().l2_read_hits, 128u + 256u);
        EXPECT_EQ(l2.cold().dram_reads, 256u);
    }
}

// By clocks of the block, whichever order the host runs its warps in.
TEST(Traffic, WarpsAskForSectorsOfALineTogetherOrOneAfterTheOther) {
    device_l2 l2(1 << 20, 64);
    l2.begin();
    for (const double when : {1000., 1000., 2000., 500.}) {
        block_l1 l1(l2, load_cache(1 << 14));
        const auto line = static_cast<std::uint64_t>(l2.cold().l2_reads);
        l1.touched(access(0, line, 0b0001, 1, touch::load), 1000);
        l1.touched(access(1, line, 0b0010, 1, touch::load), when);
        static_cast<void>(l1.ended());
    }
    for (const traffic& t : {l2.warm(), l2.cold()}) {
        EXPECT_EQ(t.l2_late_hits, 4u);
        EXPECT_EQ(t.l2_together, 2u);
        EXPECT_EQ(t.l2_early_hits, 1u);
    }
}

// Four stores of a lane, each with two words of a sector, fill it; two do not.
TEST(Traffic, StoresThatDoNotFillTheirSectorsReadTheRest) {
    const auto reads = [](std::uint32_t stores) {
        device_l2 l2(16 * 128, 32);
        l2.begin();
        block_l1 l1(l2, load_cache(1 << 14));
        for (std::uint64_t line = 0; line < 8; ++line) {
            for (std::uint32_t k = 0; k < stores; ++k) {
                machine::line_access a = access(0, line, 0b1111, 1, touch::store);
                a.words = 0x1111'1111u << k;
                l1.touched(a);
            }
        }
        static_cast<void>(l1.ended());
        EXPECT_EQ(l2.cold().l2_store_requests, 8u);
        return l2.cold().dram_reads;
    };
    EXPECT_EQ(reads(4), 0u);
    EXPECT_EQ(reads(2), 6 * 4u); // two lines wait for the rest
}

// Its own partition does not have it: it is no hit there, late or not.
TEST(Traffic, ASectorThatComesToTheOtherPartitionIsLateThere) {
    device_l2 l2(1 << 20, 64, {.bytes = 512}, 2);
    l2.begin();
    const auto home = static_cast<std::uint16_t>(l2.home_of(5));
    l2.take({{.line = 5, .by = {.by = home}, .sectors = 0b0001}});
    l2.take({{.line = 5, .by = {.by = static_cast<std::uint16_t>(home ^ 1)}, .sectors = 0b0010}});
    EXPECT_EQ(l2.cold().l2_far_hits, 1u);
    EXPECT_EQ(l2.cold().l2_far_late, 1u);
    EXPECT_EQ(l2.cold().l2_read_hits, 0u);
    EXPECT_EQ(l2.cold().l2_late_hits, 0u);
}

TEST(Traffic, LocalMemoryStaysInL1AndIsTheBlocksOwn) {
    device_l2 l2(1 << 20, 32);
    l2.begin();
    const std::vector<host_lines> nothing;
    for (std::uint64_t place = 0; place < 2; ++place) {
        block_l1 l1(l2, load_cache(1 << 14), nothing, {.place = place});
        l1.touched_local(3, 7, ~0u, touch::store);
        l1.touched_local(3, 7, ~0u, touch::load); // L1 has it
        static_cast<void>(l1.ended());
    }
    EXPECT_EQ(l2.warm().l2_writes, 8u);
    EXPECT_EQ(l2.warm().l2_reads, 0u);
    block_l1 next(l2, load_cache(1 << 14), nothing, {.place = 1}); // a block in the place of one that is over
    next.touched_local(3, 7, ~0u, touch::load);
    next.touched_local(4, 7, ~0u, touch::load); // of another warp
    static_cast<void>(next.ended());
    EXPECT_EQ(l2.warm().l2_read_hits, 4u);
    EXPECT_EQ(l2.warm().l2_reads, 8u);
}

TEST(Traffic, MemoryOfTheHostGoesPastTheCaches) {
    device_l2 l2(1 << 20, 32);
    l2.begin();
    const std::vector<host_lines> host{{100, 102}};
    block_l1 l1(l2, load_cache(1 << 14), host);
    for (std::uint64_t line = 99; line < 103; ++line) {
        l1.touched(access(0, line, 0b0011, 0, touch::load));
    }
    EXPECT_EQ(l1.ended().host_sectors, 4u);
    EXPECT_EQ(l2.warm().l2_reads, 4u);
}

} // namespace
} // namespace softgpu::predict
