// SPDX-License-Identifier: MIT
// What L1 keeps, and in which order its warps ask.
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "softgpu/predict/traffic.hpp"
#include "tests/predict/round_card.hpp"

namespace softgpu::predict {
namespace {

using machine::touch;

constexpr std::uint64_t l1_bytes = 1 << 14;
const std::vector<host_lines> no_host;

machine::line_access access(std::uint32_t warp, std::uint64_t line, unsigned sectors, touch how = touch::load) {
    return {.line = line, .warp = warp, .words = ~0u, .sectors = sectors, .passes = 1, .how = how};
}

TEST(BlockL1, ABlockFindsWhatTheOneBeforeHasLeftInItsPlace) {
    device_l2 l2(1 << 20, 32);
    l2.begin();
    l1_places places({l1_bytes, l1_bytes}, 2, 2);
    std::vector<std::uint64_t> hits;
    for (const std::uint64_t place : {0u, 1u, 0u}) {
        block_l1 l1(l2, places.take(place).cache);
        l1.touched(access(0, 5, 0b1111));
        hits.push_back(l1.ended().l1_hits);
        places.leave(place, l1.cache());
    }
    EXPECT_EQ(hits, (std::vector<std::uint64_t>{0, 0, 4}));
    EXPECT_EQ(l2.cold().l2_reads, 8u);
}

// Of three loads the second has one line of four that L1 does not have, the third two that follow each other.
TEST(BlockL1, ALoadMissesIfOneOfItsLinesDoes) {
    device_l2 l2(1 << 20, 32);
    l2.begin();
    block_l1 l1(l2, load_cache(l1_bytes));
    const auto load = [&](std::initializer_list<std::uint64_t> lines) {
        unsigned passes = 1;
        for (const std::uint64_t line : lines) {
            machine::line_access a = access(0, line, 1);
            a.passes = std::exchange(passes, 0);
            l1.touched(a);
        }
    };
    load({5, 7, 9});
    load({5, 7, 9, 20});
    load({30, 31});
    load({5, 31});
    const traffic all = l1.ended();
    EXPECT_EQ(all.load_requests, 4u);
    EXPECT_EQ(all.load_requests_missed, 3u);
    EXPECT_EQ(all.load_lines_missed, 6u);
    EXPECT_EQ(all.load_lines_apart, 5u);
}

// What a block has loaded is gone when it acquires what others have released.
TEST(BlockL1, NothingStaysBehindAnAcquire) {
    device_l2 l2(1 << 20, 32);
    l2.begin();
    l1_places places({l1_bytes, 2 * l1_bytes}, 2, 1);
    for (const std::uint64_t place : {0u, 1u}) {
        block_l1 l1(l2, places.take(place).cache, no_host, {.place = place}, places.shared_by(place));
        l1.touched(access(0, 5, 0b1111));
        l1.clear();
        l1.touched(access(0, 5, 0b1111));
        EXPECT_EQ(l1.ended().l1_hits, place == 0 ? 0u : 4u);
    }
}

// Of two multiprocessors with two blocks each: blocks 0 and 2 are on one.
TEST(BlockL1, BlocksOfAMultiprocessorShareWhatTheyLoad) {
    device_l2 l2(1 << 20, 32);
    l2.begin();
    l1_places places({l1_bytes, 2 * l1_bytes}, 4, 2);
    std::vector<std::uint64_t> hits;
    for (const std::uint64_t place : {0u, 1u, 2u}) {
        block_l1 l1(l2, places.take(place).cache, no_host, {.place = place}, places.shared_by(place));
        l1.touched(access(0, 5, 0b1111));
        hits.push_back(l1.ended().l1_hits);
    }
    EXPECT_EQ(hits, (std::vector<std::uint64_t>{0, 0, 4}));
}

// The host holds up the block in place 0: the one that would follow it goes where a block is over.
TEST(BlockL1, ABlockWhosePlaceIsTakenGoesToTheNextFreeOne) {
    l1_places places({l1_bytes, l1_bytes}, 3, 3);
    const l1_places::taken held_up = places.take(0);
    l1_places::taken other = places.take(1);
    EXPECT_EQ(other.cache.read(5, 1), 0u);
    places.leave(1, std::move(other.cache));
    l1_places::taken follows = places.take(0);
    EXPECT_EQ(follows.place, 1u);
    EXPECT_EQ(follows.cache.read(5, 1), 1u);
}

// More blocks run on the host than fit the card.
TEST(BlockL1, WithoutAFreePlaceABlockFindsNothing) {
    l1_places places({l1_bytes, l1_bytes}, 1, 1);
    l1_places::taken first = places.take(0);
    EXPECT_EQ(first.cache.read(5, 1), 0u);
    EXPECT_EQ(places.take(0).cache.read(5, 1), 0u);
    places.leave(0, std::move(first.cache));
    EXPECT_EQ(places.take(0).cache.read(5, 1), 1u);
}

TEST(BlockL1, AStoreLeavesItsSectorAndAnAtomicDoesNot) {
    for (const touch how : {touch::store, touch::atomic}) {
        device_l2 l2(1 << 20, 32);
        l2.begin();
        block_l1 l1(l2, load_cache(l1_bytes));
        l1.touched(access(0, 5, 0b0011));
        machine::line_access second = access(0, 5, 0b0010, how);
        second.words = 0x0000'0100;
        l1.touched(second);
        l1.touched(access(0, 5, 0b0111)); // the third one has not been loaded
        EXPECT_EQ(l1.ended().l1_hits, how == touch::store ? 2u : 1u);
    }
}

// An H200's counters: so do a store with .cg or .cs, and other warps of the block find it.
TEST(BlockL1, WhatAWarpHasStoredOthersFind) {
    device_l2 l2(1 << 20, 32);
    l2.begin();
    block_l1 l1(l2, load_cache(l1_bytes));
    l1.touched(access(0, 5, 0b1111, touch::store));
    l1.touched(access(1, 5, 0b1111));
    EXPECT_EQ(l1.ended().l1_hits, 4u);
}

// Two warps of a block, which the host runs one after the other; the second begins at another cycle.
traffic two_warps(unsigned first, unsigned second, double when, std::uint64_t line) {
    device_l2 l2(1 << 20, 64);
    l2.begin();
    block_l1 l1(l2, load_cache(l1_bytes));
    l1.touched(access(0, line, first), 1000);
    l1.touched(access(1, line, second), when);
    traffic t = l1.ended();
    const traffic behind = l2.cold();
    EXPECT_EQ(t.l1_hits + behind.l2_reads, t.loads);
    t.l2_reads = behind.l2_reads;
    t.l2_read_hits = behind.l2_read_hits;
    t.l2_requests = behind.l2_requests;
    return t;
}

TEST(BlockL1, TheWarpThatIsFirstByItsClockAsksForTheWholeLine) {
    const traffic later = two_warps(0b0001, 0b1111, 1001, 5);
    EXPECT_EQ(later.l2_requests, 2u);
    EXPECT_EQ(later.l2_read_hits, 1u); // what has come with the first sector
    const traffic earlier = two_warps(0b0001, 0b1111, 999, 5);
    EXPECT_EQ(earlier.l2_requests, 1u);
    EXPECT_EQ(earlier.l2_read_hits, 0u);
    EXPECT_EQ(earlier.l1_hits, 1u);
}

// As if it had asked first: the other one asks for the rest.
TEST(BlockL1, TheWarpThatIsFirstByItsClockAsksForAPart) {
    const traffic earlier = two_warps(0b1111, 0b1000, 999, 5);
    EXPECT_EQ(earlier.l2_requests, 2u);
    EXPECT_EQ(earlier.l2_read_hits, 1u);
    EXPECT_EQ(two_warps(0b1111, 0b1000, 1001, 5).l2_requests, 1u);
    EXPECT_EQ(two_warps(0b1111, 0b1111, 999, 5).l2_requests, 1u);
}

TEST(BlockL1, OfWarpsWithOneClockEitherMayBeFirst) {
    std::uint64_t requests = 0;
    for (std::uint64_t line = 0; line < 256; ++line) {
        requests += two_warps(0b1111, 0b1000, 1000, line).l2_requests;
    }
    EXPECT_NEAR(static_cast<double>(requests), 256 + 128, 32);
}

// What waits has gone to L2 in between.
TEST(BlockL1, WhatIsInL2AlreadyIsNotTakenBack) {
    device_l2 l2(1 << 20, 64);
    l2.begin();
    block_l1 l1(l2, load_cache(1 << 22));
    l1.touched(access(0, 5, 0b1111), 1000);
    for (std::uint64_t k = 0; k < 4096; ++k) { // with the first one, once more than wait
        l1.touched(access(0, 1 << 20, 1, touch::store), 1000);
        l1.touched(access(0, 1 << 21, 1, touch::store), 1000);
    }
    l1.touched(access(1, 5, 0b1000), 999);
    static_cast<void>(l1.ended());
    EXPECT_EQ(l2.cold().l2_reads, 4u);
}

// 132 multiprocessors with 8 blocks each, of which 66 have one half of L2.
TEST(BlockL1, NeighboursOfTheFirstWaveMostlyHaveOneHalfOfL2) {
    card c = round_card();
    c.multiprocessors = 132;
    constexpr std::uint64_t places = 8 * 132;
    const auto same = [&](std::uint64_t begin, std::uint64_t end) {
        double neighbours = 0;
        double halves = 0;
        for (std::uint64_t k = begin; k < end; ++k) {
            const block_place here = place_of(c, places, k);
            EXPECT_EQ(here.place, k % places);
            neighbours += here.half == place_of(c, places, k + 1).half ? 1 : 0;
            halves += here.half;
        }
        EXPECT_NEAR(halves / static_cast<double>(end - begin), 0.5, 0.05);
        return neighbours / static_cast<double>(end - begin);
    };
    EXPECT_NEAR(same(0, places - 1), 1 - 1 / 13., 0.01);
    EXPECT_NEAR(same(places, 3 * places), 0.5, 0.05);
    EXPECT_EQ(place_of(c, places, 7).half, place_of(c, places, 132 + 7).half); // of one multiprocessor
}

} // namespace
} // namespace softgpu::predict
