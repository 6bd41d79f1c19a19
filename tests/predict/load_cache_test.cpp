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
