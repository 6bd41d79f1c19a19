// SPDX-License-Identifier: MIT
// A cache of 128-byte lines of four sectors: set-associative, the least recently used line goes, sectors are fetched one by
// one, stores are kept until their line goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace softgpu::predict {

class sector_cache {
public:
    // 0 bytes: it keeps nothing. A read that misses fetches as many sectors side by side: 1, 2 or 4.
    explicit sector_cache(std::uint64_t bytes, unsigned fetched_together = 1);

    struct outcome {
        unsigned hits = 0;    // sectors, as a mask
        unsigned fetched = 0; // likewise: those that missed, and of a read those fetched with them
        unsigned written = 0; // sectors of a line that had to go, as a count: they were stored to
    };
    // Looks for the sectors (a mask of four) and keeps them from now on.
    outcome read(std::uint64_t line, unsigned sectors) { return find(line, sectors, 0); }
    outcome write(std::uint64_t line, unsigned sectors) { return find(line, sectors, sectors); }
    // Sectors that are there leave, as L1 does with what is stored to.
    void drop(std::uint64_t line, unsigned sectors);
    // It is empty again. Nothing is written back. O(1).
    void clear() noexcept { ++epoch_; }

private:
    static constexpr std::size_t ways = 16;
    struct entry {
        std::uint64_t line = 0;
        std::uint32_t epoch = 0; // of another one: the entry is empty
        std::uint32_t used = 0;  // the cache's time when it was used last
        std::uint8_t valid = 0;
        std::uint8_t dirty = 0;
    };

    outcome find(std::uint64_t line, unsigned sectors, unsigned dirty);
    [[nodiscard]] unsigned fetched_for(unsigned missed, unsigned valid, bool reads) const noexcept;
    [[nodiscard]] entry* set_of(std::uint64_t line);

    unsigned together_;
    std::vector<entry> entries_;
    std::uint64_t sets_;
    std::uint32_t epoch_ = 1;
    std::uint32_t time_ = 0;
};

} // namespace softgpu::predict
