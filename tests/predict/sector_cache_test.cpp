// SPDX-License-Identifier: MIT
// Hits, evictions and written sectors of a cache, against what can be said by hand.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <list>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "softgpu/predict/sector_cache.hpp"

namespace softgpu::predict {
namespace {

TEST(SectorCache, SectorsAreFetchedOneByOne) {
    sector_cache cache(16 * 128);
    EXPECT_EQ(cache.read(7, 0b0001).hits, 0u);
    EXPECT_EQ(cache.read(7, 0b0011).hits, 0b0001u);
    EXPECT_EQ(cache.read(7, 0b1111).hits, 0b0011u);
    EXPECT_EQ(cache.read(8, 0b0001).hits, 0u);
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

TEST(SectorCache, StoredSectorsAreChangedUntilTheyAreRead) {
    sector_cache cache(16 * 128);
    EXPECT_EQ(cache.read(7, 0b0011).changed, 0u);
    EXPECT_EQ(cache.write(7, 0b0110).changed, 0u);
    EXPECT_EQ(cache.read(7, 0b0011).changed, 0b0010u);
    EXPECT_EQ(cache.read(7, 0b1111).changed, 0b0100u);
    EXPECT_EQ(cache.read(7, 0b1111).changed, 0u);
    EXPECT_EQ(cache.write(7, 0b0001).changed, 0u);
    for (std::uint64_t line = 100; line < 116; ++line) {
        EXPECT_EQ(cache.read(line, 1).changed, 0u);
    }
    EXPECT_EQ(cache.read(7, 0b0001).changed, 0u); // it has gone to DRAM meanwhile
}

TEST(SectorCache, OneWithoutBytesKeepsNothing) {
    sector_cache cache(0);
    EXPECT_EQ(cache.read(1, 1).hits, 0u);
    EXPECT_EQ(cache.read(1, 1).hits, 0u);
    EXPECT_EQ(cache.write(1, 3).written, 2u);
}

// The second of the two caches is one that is empty when a launch begins, access by access.
TEST(SectorCache, TheFreshOneIsAnEmptyOneOfTheSameSize) {
    std::mt19937 random(1);
    sector_cache both(64 * 128, 2);
    for (int launch = 0; launch < 3; ++launch) {
        both.begin();
        sector_cache empty(64 * 128, 2);
        std::uint64_t hits = 0;
        for (int k = 0; k < 2000; ++k) {
            const std::uint64_t line = random() % 100;
            const auto sectors = static_cast<unsigned>(1 + random() % 15);
            const bool writes = random() % 3 == 0;
            const auto by = static_cast<std::uint16_t>(random() % 2);
            const auto o = writes ? both.write_both(line, sectors) : both.read_both(line, sectors, by);
            const auto alone = writes ? empty.write(line, sectors) : empty.read(line, sectors, by);
            ASSERT_EQ(o.fresh.hits, alone.hits) << launch << ' ' << k;
            ASSERT_EQ(o.fresh.fetched, alone.fetched) << launch << ' ' << k;
            ASSERT_EQ(o.fresh.written, alone.written) << launch << ' ' << k;
            hits += o.kept.hits != o.fresh.hits ? 1 : 0;
        }
        EXPECT_EQ(hits != 0, launch != 0);
    }
}

// One set as a list of lines, the last used first; pairs of sectors are fetched together.
class plain_set {
public:
    sector_cache::outcome use(std::uint64_t line, unsigned sectors, bool writes, std::uint16_t by) {
        sector_cache::outcome o;
        auto at = std::find_if(lines_.begin(), lines_.end(), [&](const line_state& l) { return l.line == line; });
        if (at == lines_.end()) {
            if (lines_.size() == 16) {
                o.written = static_cast<unsigned>(std::popcount(lines_.back().dirty));
                lines_.pop_back();
            }
            at = lines_.insert(lines_.begin(), {.line = line, .by = by});
        }
        lines_.splice(lines_.begin(), lines_, at);
        line_state& l = lines_.front();
        for (unsigned s = 1; s < 16; s <<= 1) {
            const unsigned other = s == 1 || s == 4 ? s << 1 : s >> 1;
            if ((sectors & s) == 0) {
                continue;
            }
            o.hits |= l.before & s;
            o.late |= l.by != by ? l.along & s & l.before : 0;
            o.fetched |= ~l.before & (writes ? s : s | other) & ((l.before & s) == 0 ? 15u : 0u);
        }
        l.along = (l.along | o.fetched) & ~sectors;
        l.before |= sectors | o.fetched;
        l.dirty |= writes ? sectors : 0;
        l.by = o.fetched != 0 ? by : l.by;
        return o;
    }
    void drop(std::uint64_t line, unsigned sectors) {
        for (line_state& l : lines_) {
            l.before &= l.line == line ? ~sectors : 15u;
        }
    }

private:
    struct line_state {
        std::uint64_t line = 0;
        std::uint16_t by = 0;
        unsigned before = 0, dirty = 0, along = 0; // `before`: sectors that are there
    };
    std::list<line_state> lines_;
};

// Also lines whose numbers differ in high bits alone, or in bits whose sum is the same.
TEST(SectorCache, IsAListOfLinesByTheirLastUse) {
    std::mt19937_64 random(3);
    sector_cache cache(16 * 128, 2);
    plain_set plain;
    cache.begin();
    for (int k = 0; k < 50'000; ++k) {
        const std::uint64_t line = random() % 12 * 0x1'0001 ^ (random() % 2 << 58) ^ (random() % 2 << 32);
        const auto sectors = static_cast<unsigned>(1 + random() % 15);
        const auto by = static_cast<std::uint16_t>(random() % 2);
        const auto what = random() % 8;
        if (what == 0) {
            cache.drop(line, sectors);
            plain.drop(line, sectors);
            continue;
        }
        const bool writes = what < 3;
        const auto o = writes ? cache.write(line, sectors) : cache.read(line, sectors, by);
        const auto expected = plain.use(line, sectors, writes, writes ? std::uint16_t{0} : by);
        ASSERT_EQ(o.hits, expected.hits) << k;
        ASSERT_EQ(o.late, expected.late) << k;
        ASSERT_EQ(o.fetched, expected.fetched) << k;
        ASSERT_EQ(o.written, expected.written) << k;
    }
}

} // namespace
} // namespace softgpu::predict
