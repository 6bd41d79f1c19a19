// SPDX-License-Identifier: MIT
// Hits, evictions and written sectors of a cache, against what can be said by hand.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <list>
#include <random>

#include <gtest/gtest.h>

#include "softgpu/predict/sector_cache.hpp"

namespace softgpu::predict {
namespace {

std::uint32_t words_of(unsigned sectors) {
    std::uint32_t words = 0;
    for (unsigned k = 0; k < 4; ++k) {
        words |= (sectors >> k & 1) * 255u << 8 * k;
    }
    return words;
}

TEST(SectorCache, SectorsAreFetchedOneByOne) {
    sector_cache cache(16 * 128);
    EXPECT_EQ(cache.read(7, 0b0001).kept.hits, 0u);
    EXPECT_EQ(cache.read(7, 0b0011).kept.hits, 0b0001u);
    EXPECT_EQ(cache.read(7, 0b1111).kept.hits, 0b0011u);
    EXPECT_EQ(cache.read(8, 0b0001).kept.hits, 0u);
}

TEST(SectorCache, TheLeastRecentlyUsedLineGoes) {
    sector_cache cache(16 * 128); // one set
    for (std::uint64_t line = 0; line < 16; ++line) {
        EXPECT_EQ(cache.read(line, 1).kept.hits, 0u);
    }
    EXPECT_EQ(cache.read(0, 1).kept.hits, 1u);
    EXPECT_EQ(cache.read(16, 1).kept.hits, 0u); // in the place of line 1
    EXPECT_EQ(cache.read(0, 1).kept.hits, 1u);
    EXPECT_EQ(cache.read(1, 1).kept.hits, 0u);
}

TEST(SectorCache, WrittenSectorsAreCountedWhenTheirLineGoes) {
    sector_cache cache(16 * 128);
    EXPECT_EQ(cache.write(99, 0b0111).kept.written, 0u);
    unsigned written = 0;
    for (std::uint64_t line = 0; line < 16; ++line) {
        written += cache.read(line, 1).kept.written;
    }
    EXPECT_EQ(written, 3u);
}

TEST(SectorCache, ReadsFetchTheSectorsBeside) {
    sector_cache pairs(16 * 128, 2);
    EXPECT_EQ(pairs.read(7, 0b0010).kept.fetched, 0b0011u);
    EXPECT_EQ(pairs.read(7, 0b0001).kept.hits, 0b0001u);
    EXPECT_EQ(pairs.read(7, 0b0110).kept.fetched, 0b1100u); // one of the two was there
    EXPECT_EQ(pairs.write(8, 0b0001).kept.fetched, 0b0001u);
    EXPECT_EQ(pairs.read(8, 0b0010).kept.fetched, 0b0010u); // what was stored stays
    sector_cache lines(16 * 128, 4);
    EXPECT_EQ(lines.read(7, 0b0100).kept.fetched, 0b1111u);
    EXPECT_EQ(lines.read(7, 0b0001).kept.fetched, 0u);
}

TEST(SectorCache, StoredSectorsAreChangedUntilTheyAreRead) {
    sector_cache cache(16 * 128);
    EXPECT_EQ(cache.read(7, 0b0011).kept.changed, 0u);
    EXPECT_EQ(cache.write(7, 0b0110).kept.changed, 0u);
    EXPECT_EQ(cache.read(7, 0b0011).kept.changed, 0b0010u);
    EXPECT_EQ(cache.read(7, 0b1111).kept.changed, 0b0100u);
    EXPECT_EQ(cache.read(7, 0b1111).kept.changed, 0u);
    EXPECT_EQ(cache.write(7, 0b0001).kept.changed, 0u);
    for (std::uint64_t line = 100; line < 116; ++line) {
        EXPECT_EQ(cache.read(line, 1).kept.changed, 0u);
    }
    EXPECT_EQ(cache.read(7, 0b0001).kept.changed, 0u); // it has gone to DRAM meanwhile
}

TEST(SectorCache, OneWithoutBytesKeepsNothing) {
    sector_cache cache(0);
    EXPECT_EQ(cache.read(1, 1).kept.hits, 0u);
    EXPECT_EQ(cache.read(1, 1).kept.hits, 0u);
    EXPECT_EQ(cache.write(1, 3).kept.written, 2u);
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
            const asker by{.by = static_cast<std::uint16_t>(random() % 2)};
            const auto words = static_cast<std::uint32_t>(random() | random()) & words_of(sectors);
            const auto o = writes ? both.write(line, sectors, words) : both.read(line, sectors, by);
            const auto alone = (writes ? empty.write(line, sectors, words) : empty.read(line, sectors, by)).kept;
            ASSERT_EQ(o.fresh.hits, alone.hits) << launch << ' ' << k;
            ASSERT_EQ(o.fresh.fetched, alone.fetched) << launch << ' ' << k;
            ASSERT_EQ(o.fresh.written, alone.written) << launch << ' ' << k;
            ASSERT_EQ(o.fresh.filled, alone.filled) << launch << ' ' << k;
            hits += o.kept.hits != o.fresh.hits ? 1 : 0;
        }
        EXPECT_EQ(hits != 0, launch != 0);
    }
}

// A card's L2 with so many lines stored to writes the oldest one back, and keeps it.
TEST(SectorCache, FewLinesOfASetWaitToBeWrittenBack) {
    sector_cache cache(16 * 128);
    unsigned written = 0;
    for (std::uint64_t line = 0; line < 10; ++line) {
        written += cache.write(line, 0b0011).kept.written;
    }
    EXPECT_EQ(written, 6u); // of lines 0, 1 and 2
    const auto o = cache.write(2, 0b1111).kept;
    EXPECT_EQ(o.written, 2u); // line 3
    EXPECT_EQ(o.in_parts, 2u);
    EXPECT_EQ(o.part_lines, 1u);
    EXPECT_EQ(cache.read(0, 0b0011).kept.hits, 0b0011u);
}

TEST(SectorCache, SectorsOfWhichAPartWasStoredToAreFilled) {
    sector_cache cache(16 * 128);
    constexpr std::uint32_t first_half = 0x0F; // words of sector 0
    EXPECT_EQ(cache.write(0, 0b0001, first_half).kept.filled, 0u);
    EXPECT_EQ(cache.write(0, 0b0001, 0xF0).kept.filled, 0u); // the other half
    for (std::uint64_t line = 1; line < 4; ++line) {
        const auto o = cache.write(line, 0b0011, first_half | 0xFF00).kept;
        EXPECT_EQ(o.filled, line == 3 ? 1u : 0u); // line 1, of which sector 1 is whole
        EXPECT_EQ(o.written, line == 3 ? 2u : 0u);
    }
    EXPECT_EQ(cache.read(2, 0b0011).kept.fetched, 0b0001u);        // the rest of it
    EXPECT_EQ(cache.write(4, 0b0001, first_half).kept.filled, 0u); // lines 3 and 4
    EXPECT_EQ(cache.write(0, 0b0001, first_half).kept.filled, 0u); // it was whole
    unsigned filled = 0;
    for (std::uint64_t line = 100; line < 116; ++line) {
        filled += cache.read(line, 1).kept.filled;
    }
    EXPECT_EQ(filled, 2u);
}

TEST(SectorCache, TellsWhetherOneWarpAskedAtTheSameTimeAsTheOther) {
    using order = sector_cache::order;
    const auto after = [](asker first, asker second) {
        sector_cache cache(16 * 128, 2);
        cache.read(7, 0b0001, first);
        const auto o = cache.read(7, 0b0010, second).kept;
        EXPECT_EQ(o.late, 0b0010u);
        return o.after;
    };
    EXPECT_EQ(after({.by = 1, .when = 100}, {.by = 2, .when = 106}), order::together);
    EXPECT_EQ(after({.by = 1, .when = 100}, {.by = 2, .when = 94}), order::together);
    EXPECT_EQ(after({.by = 1, .when = 100}, {.by = 2, .when = 107}), order::later);
    EXPECT_EQ(after({.by = 1, .when = 100}, {.by = 2, .when = 93}), order::earlier);
    EXPECT_EQ(after({.by = 1, .block = 1, .when = 100}, {.by = 2, .block = 2, .when = 100}), order::later);
}

// One set as a list of lines, the last used first; pairs of sectors are fetched together.
class plain_set {
public:
    sector_cache::outcome use(std::uint64_t line, unsigned sectors, bool writes, std::uint32_t words, asker by) {
        sector_cache::outcome o;
        auto at = std::find_if(lines_.begin(), lines_.end(), [&](const line_state& l) { return l.line == line; });
        if (at == lines_.end()) {
            if (lines_.size() == 16) {
                clean(lines_.back(), o);
                lines_.pop_back();
            }
            at = lines_.insert(lines_.begin(), {.line = line, .by = by.by});
        }
        lines_.splice(lines_.begin(), lines_, at);
        line_state& l = lines_.front();
        const unsigned there = writes ? l.before : l.before & ~l.partial();
        for (unsigned s = 1; s < 16; s <<= 1) {
            const unsigned other = s == 1 || s == 4 ? s << 1 : s >> 1;
            if ((sectors & s) == 0) {
                continue;
            }
            o.hits |= there & s;
            o.late |= l.by != by.by ? l.along & s & there : 0;
            o.fetched |= ~there & (writes ? s : s | other) & ((there & s) == 0 ? 15u : 0u);
        }
        l.along = (l.along | o.fetched) & ~sectors;
        for (unsigned k = 0; k < 4; ++k) {
            const unsigned s = 1u << k;
            if (writes && (sectors & s) != 0) {
                l.missing[k] = (l.before & s) == 0 ? 255u : l.missing[k];
                l.missing[k] &= ~(words >> 8 * k);
            } else if (!writes && (o.fetched & s) != 0) {
                l.missing[k] = 0;
            }
        }
        l.before |= sectors | o.fetched;
        l.dirty |= writes ? sectors : 0;
        l.by = o.fetched != 0 && !writes ? by.by : l.by;
        clean_oldest(
            2, [](const line_state& x) { return x.partial() != 0; }, o);
        clean_oldest(
            7, [](const line_state& x) { return x.dirty != 0; }, o);
        return o;
    }

private:
    struct line_state {
        std::uint64_t line = 0;
        std::uint16_t by = 0;
        unsigned before = 0, dirty = 0, along = 0; // `before`: sectors that are there, at least in part
        unsigned missing[4] = {};                  // words of a sector that is there in part

        [[nodiscard]] unsigned partial() const {
            return (missing[0] != 0 ? 1u : 0u) | (missing[1] != 0 ? 2u : 0u) | (missing[2] != 0 ? 4u : 0u) |
                   (missing[3] != 0 ? 8u : 0u);
        }
    };
    static void clean(line_state& l, sector_cache::outcome& o) {
        o.written += static_cast<unsigned>(std::popcount(l.dirty));
        o.filled += static_cast<unsigned>(std::popcount(l.partial()));
        l.dirty = 0;
        std::fill(std::begin(l.missing), std::end(l.missing), 0u);
    }
    template <class Is>
    void clean_oldest(std::ptrdiff_t most, Is is, sector_cache::outcome& o) {
        if (std::count_if(lines_.begin(), lines_.end(), is) > most) {
            clean(*std::find_if(lines_.rbegin(), lines_.rend(), is), o);
        }
    }
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
        const asker by{.by = static_cast<std::uint16_t>(random() % 2)};
        const bool writes = random() % 3 == 0;
        const auto words = static_cast<std::uint32_t>(random() | random()) & words_of(sectors);
        const auto o = (writes ? cache.write(line, sectors, words) : cache.read(line, sectors, by)).kept;
        const auto expected = plain.use(line, sectors, writes, words, writes ? asker{} : by);
        ASSERT_EQ(o.hits, expected.hits) << k;
        ASSERT_EQ(o.late, writes ? 0 : expected.late) << k;
        ASSERT_EQ(o.fetched, expected.fetched) << k;
        ASSERT_EQ(o.written, expected.written) << k;
        ASSERT_EQ(o.filled, expected.filled) << k;
    }
}

} // namespace
} // namespace softgpu::predict
