// SPDX-License-Identifier: MIT
// Hits, evictions and written sectors of a cache, against what can be said by hand.
#include <cstdint>

#include <gtest/gtest.h>

#include "softgpu/predict/sector_cache.hpp"
#include "softgpu/predict/traffic.hpp"

namespace softgpu::predict {
namespace {

using machine::touch;

TEST(SectorCache, SectorsAreFetchedOneByOne) {
    sector_cache cache(16 * 128);
    EXPECT_EQ(cache.read(7, 0b0001).hits, 0u);
    EXPECT_EQ(cache.read(7, 0b0011).hits, 0b0001u);
    EXPECT_EQ(cache.read(7, 0b1111).hits, 0b0011u);
    EXPECT_EQ(cache.read(8, 0b0001).hits, 0u);
    cache.clear();
    EXPECT_EQ(cache.read(7, 0b1111).hits, 0u);
}

TEST(SectorCache, TheLeastRecentlyUsedLineGoes) {
    sector_cache cache(16 * 128); // one set
    for (std::uint64_t line = 0; line < 16; ++line) {
        EXPECT_EQ(cache.read(line, 1).hits, 0u);
    }
    EXPECT_EQ(cache.read(0, 1).hits, 1u);
    EXPECT_EQ(cache.read(16, 1).hits, 0u); // in the place of line 1
    EXPECT_EQ(cache.read(0, 1).hits, 1u);
    EXPECT_EQ(cache.read(1, 1).hits, 0u);
}

TEST(SectorCache, WrittenSectorsAreCountedWhenTheirLineGoes) {
    sector_cache cache(16 * 128);
    EXPECT_EQ(cache.write(99, 0b0111).written, 0u);
    unsigned written = 0;
    for (std::uint64_t line = 0; line < 16; ++line) {
        written += cache.read(line, 1).written;
    }
    EXPECT_EQ(written, 3u);
}

TEST(SectorCache, ReadsFetchTheSectorsBeside) {
    sector_cache pairs(16 * 128, 2);
    EXPECT_EQ(pairs.read(7, 0b0010).fetched, 0b0011u);
    EXPECT_EQ(pairs.read(7, 0b0001).hits, 0b0001u);
    EXPECT_EQ(pairs.read(7, 0b0110).fetched, 0b1100u); // one of the two was there
    EXPECT_EQ(pairs.write(8, 0b0001).fetched, 0b0001u);
    EXPECT_EQ(pairs.read(8, 0b0010).fetched, 0b0010u); // what was stored stays
    sector_cache lines(16 * 128, 4);
    EXPECT_EQ(lines.read(7, 0b0100).fetched, 0b1111u);
    EXPECT_EQ(lines.read(7, 0b0001).fetched, 0u);
}

TEST(SectorCache, OneWithoutBytesKeepsNothing) {
    sector_cache cache(0);
    EXPECT_EQ(cache.read(1, 1).hits, 0u);
    EXPECT_EQ(cache.read(1, 1).hits, 0u);
    EXPECT_EQ(cache.write(1, 3).written, 2u);
}

TEST(Traffic, WarmKeepsWhatTheLaunchBeforeHasRead) {
    device_l2 l2(1 << 20, 32);
    for (int launch = 0; launch < 2; ++launch) {
        l2.begin();
        block_l1 l1(l2, 1 << 14);
        for (int twice = 0; twice < 2; ++twice) {
            for (std::uint64_t line = 0; line < 100; ++line) {
                l1.touched(line, 0b1111, 32, touch::load);
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

TEST(Traffic, StoresAndLoadsPastL1LeaveItAlone) {
    device_l2 l2(1 << 20, 32);
    l2.begin();
    block_l1 l1(l2, 1 << 14);
    l1.touched(1, 1, 1, touch::load);
    l1.touched(1, 1, 1, touch::store); // L1 drops the sector
    l1.touched(1, 1, 1, touch::load);
    l1.touched(1, 1, 1, touch::load_past_l1);
    l1.touched(2, 1, 32, touch::atomic);
    l1.touched(2, 1, 32, touch::atomic);
    l1.touched(3, 1, 5, touch::atomic);
    EXPECT_EQ(l1.ended().l1_hits, 0u);
    EXPECT_EQ(l2.warm().l2_writes, 1u);
    EXPECT_EQ(l2.warm().l2_requests, 7u);
    EXPECT_EQ(l2.warm().atomic_lanes, 69u);
    EXPECT_EQ(l2.warm().hottest_atomic_lanes, 64u);
}

} // namespace
} // namespace softgpu::predict
