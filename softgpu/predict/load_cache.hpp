// SPDX-License-Identifier: MIT
// L1: 128-byte lines of four sectors, set-associative; the least recently used line goes. Sectors are fetched one by one. A store leaves
// its words.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "softgpu/predict/lru_set.hpp"

namespace softgpu::predict {

// The sectors of a line that have one of these words.
inline unsigned sectors_of(std::uint32_t words) noexcept {
    words |= words >> 4;
    words |= words >> 2;
    words |= words >> 1;
    return (words & 0x0101'0101) * 0x0102'0408 >> 24 & 15;
}

class load_cache {
public:
    // 0 bytes: it keeps nothing.
    explicit load_cache(std::uint64_t bytes)
        : sets_(bytes == 0 ? 0 : std::max<std::uint64_t>(bytes / (lru_set::ways * 128), 1)) {}

    [[nodiscard]] bool is_empty() const noexcept { return sets_.empty(); }

    // Which of the sectors (a mask of four) are there, or of which all that is wanted was stored: `words`, a mask of the line's 32. It
    // keeps all of them from now on.
    unsigned read(std::uint64_t line, unsigned sectors, std::uint32_t words = ~0u) {
        if (sets_.empty()) {
            return 0;
        }
        set& here = sets_[lru_set::place_of(line, sets_.size())];
        const std::size_t way = way_for(here, line);
        auto hits = static_cast<unsigned>(here.valid >> 4 * way & sectors);
        if (const std::uint32_t stored = here.stored[way]; hits != sectors && stored != 0) {
            hits |= sectors & ~sectors_of(words & ~stored);
        }
        here.valid |= std::uint64_t{sectors} << 4 * way;
        return hits;
    }

    // Keeps the words that a store fills.
    void write(std::uint64_t line, std::uint32_t words) {
        if (sets_.empty() || words == 0) {
            return;
        }
        set& here = sets_[lru_set::place_of(line, sets_.size())];
        const std::size_t way = way_for(here, line);
        here.stored[way] |= words;
        here.valid |= std::uint64_t{15 & ~sectors_of(~here.stored[way])} << 4 * way;
    }

    void clear() noexcept {
        for (set& s : sets_) {
            s.valid = 0;
            s.stored.fill(0);
        }
    }

    // Sectors that are there leave, as L1 does with what is stored to.
    void drop(std::uint64_t line, unsigned sectors) {
        if (sets_.empty()) {
            return;
        }
        set& here = sets_[lru_set::place_of(line, sets_.size())];
        if (const std::size_t way = here.lines.way_of(line); way != lru_set::ways) {
            here.valid &= ~(std::uint64_t{sectors} << 4 * way);
            here.stored[way] = 0;
        }
    }

private:
    struct set {
        lru_set lines;
        std::uint64_t valid = 0;                           // sectors, four bits a way
        std::array<std::uint32_t, lru_set::ways> stored{}; // words, by way
    };

    // The line's way, which is the most recently used one then; of a line that was not there, one without a valid sector.
    static std::size_t way_for(set& here, std::uint64_t line) {
        if (here.lines.is_last(line)) { // most are
            return here.lines.last();
        }
        std::size_t way = here.lines.way_of(line);
        if (way == lru_set::ways) {
            way = here.lines.oldest();
            here.lines.put(way, line);
            here.valid &= ~(std::uint64_t{15} << 4 * way);
            here.stored[way] = 0;
        }
        here.lines.use(way);
        return way;
    }
    std::vector<set> sets_;
};

} // namespace softgpu::predict
