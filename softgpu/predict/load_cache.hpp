// SPDX-License-Identifier: MIT
// A cache of loads, 128-byte lines of four sectors: set-associative, the least recently used line goes, sectors are fetched one
// by one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "softgpu/predict/lru_set.hpp"

namespace softgpu::predict {

class load_cache {
public:
    // 0 bytes: it keeps nothing.
    explicit load_cache(std::uint64_t bytes)
        : sets_(bytes == 0 ? 0 : std::max<std::uint64_t>(bytes / (lru_set::ways * 128), 1)) {}

    [[nodiscard]] bool is_empty() const noexcept { return sets_.empty(); }

    // Which of the sectors (a mask of four) are there. It keeps all of them from now on.
    unsigned read(std::uint64_t line, unsigned sectors) {
        if (sets_.empty()) {
            return 0;
        }
        set& here = sets_[lru_set::place_of(line, sets_.size())];
        std::size_t way = here.lines.last();
        if (!here.lines.is_last(line)) { // most are
            way = here.lines.way_of(line);
            if (way == lru_set::ways) {
                way = here.lines.oldest();
                here.lines.put(way, line);
                here.valid &= ~(std::uint64_t{15} << 4 * way);
            }
            here.lines.use(way);
        }
        const auto hits = static_cast<unsigned>(here.valid >> 4 * way & sectors);
        here.valid |= std::uint64_t{sectors} << 4 * way;
        return hits;
    }

    void clear() noexcept {
        for (set& s : sets_) {
            s.valid = 0;
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
        }
    }

private:
    struct set {
        lru_set lines;
        std::uint64_t valid = 0; // sectors, four bits a way
    };
    std::vector<set> sets_;
};

} // namespace softgpu::predict
