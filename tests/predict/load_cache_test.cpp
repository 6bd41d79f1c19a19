// SPDX-License-Identifier: MIT
// Hits of a cache of loads, against a list of lines.
#include <algorithm>
#include <cstdint>
#include <list>
#include <random>

#include <gtest/gtest.h>

#include "softgpu/predict/load_cache.hpp"

namespace softgpu::predict {
namespace {

TEST(LoadCache, SectorsAreFetchedOneByOne) {
    load_cache cache(16 * 128);
    EXPECT_EQ(cache.read(7, 0b0001), 0u);
    EXPECT_EQ(cache.read(7, 0b0011), 0b0001u);
    EXPECT_EQ(cache.read(8, 0b0001), 0u);
    EXPECT_EQ(cache.read(7, 0b1111), 0b0011u);
    cache.drop(7, 0b0110);
    EXPECT_EQ(cache.read(7, 0b1111), 0b1001u);
}

// As an H200 does, by its counters: 64 lines a warp, words stored and then loaded.
TEST(LoadCache, AStoreLeavesItsWords) {
    load_cache cache(16 * 128);
    cache.write(3, 0x0000'00ff); // all of the first sector
    cache.write(3, 0x0000'0f00); // half of the second one
    EXPECT_EQ(cache.read(3, 0b0011, 0x0000'0303), 0b0011u);
    cache.write(4, 0x0101'0101); // a word of each sector
    EXPECT_EQ(cache.read(4, 0b1111, 0x0202'0101), 0b0011u);
    EXPECT_EQ(cache.read(4, 0b1111, 0x0202'0202), 0b1111u); // fetched since
    cache.write(5, 0x0000'00ff);
    cache.drop(5, 0b0001);
    EXPECT_EQ(cache.read(5, 0b0001, 1), 0u);
    cache.write(6, 1);
    cache.clear();
    EXPECT_EQ(cache.read(6, 0b0001, 1), 0u);
}

TEST(LoadCache, StoredLinesTakePlaces) {
    load_cache cache(16 * 128);
    EXPECT_EQ(cache.read(100, 1), 0u);
    for (std::uint64_t line = 0; line < 16; ++line) {
        cache.write(line, 1);
    }
    EXPECT_EQ(cache.read(0, 1, 1), 1u);
    EXPECT_EQ(cache.read(100, 1), 0u);
}

TEST(LoadCache, OneWithoutBytesKeepsNothing) {
    load_cache cache(0);
    EXPECT_EQ(cache.read(1, 1), 0u);
    cache.drop(1, 1);
    EXPECT_EQ(cache.read(1, 1), 0u);
}

// Also lines whose numbers differ in high bits alone, or in bits whose sum is the same.
TEST(LoadCache, IsAListOfLinesByTheirLastUse) {
    struct line_state {
        std::uint64_t line = 0;
        unsigned there = 0;
    };
    std::mt19937_64 random(3);
    load_cache cache(16 * 128);
    std::list<line_state> lines; // the last used first
    for (int k = 0; k < 50'000; ++k) {
        const std::uint64_t line = random() % 12 * 0x1'0001 ^ (random() % 2 << 58) ^ (random() % 2 << 32);
        const auto sectors = static_cast<unsigned>(1 + random() % 15);
        auto at = std::find_if(lines.begin(), lines.end(), [&](const line_state& l) { return l.line == line; });
        if (random() % 8 == 0) {
            cache.drop(line, sectors);
            if (at != lines.end()) {
                at->there &= ~sectors;
            }
            continue;
        }
        if (at == lines.end()) {
            if (lines.size() == 16) {
                lines.pop_back();
            }
            at = lines.insert(lines.begin(), {.line = line});
        }
        lines.splice(lines.begin(), lines, at);
        ASSERT_EQ(cache.read(line, sectors), at->there & sectors) << k;
        at->there |= sectors;
    }
}

} // namespace
} // namespace softgpu::predict
