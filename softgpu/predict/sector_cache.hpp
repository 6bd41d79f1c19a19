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
        unsigned hits = 0; // sectors, as a mask
        unsigned late =
            0; // of these, those that were fetched for a neighbour which another one asked for, and not used yet
        unsigned fetched = 0; // likewise: those that missed, and of a read those fetched with them
        unsigned written = 0; // sectors of a line that had to go, as a count: they were stored to
    };
    // Looks for the sectors (a mask of four) and keeps them from now on. `by`: who asks.
    outcome read(std::uint64_t line, unsigned sectors, std::uint16_t by = 0) { return find(line, sectors, 0, by).kept; }
    outcome write(std::uint64_t line, unsigned sectors) { return find(line, sectors, sectors, 0).kept; }

    // The same for two caches at once: this one, and one that was empty at the last begin(). Of each set the second has the
    // lines used since then; the least recently used one goes first, so these are the last to go here.
    struct outcomes {
        outcome kept;
        outcome fresh;
    };
    void begin() noexcept { ++launch_; }
    outcomes read_both(std::uint64_t line, unsigned sectors, std::uint16_t by) { return find(line, sectors, 0, by); }
    outcomes write_both(std::uint64_t line, unsigned sectors) { return find(line, sectors, sectors, 0); }

    // Sectors that are there leave, as L1 does with what is stored to.
    void drop(std::uint64_t line, unsigned sectors);

private:
    static constexpr std::size_t ways = 16;
    struct sectors_of_line {
        std::uint8_t valid = 0;
        std::uint8_t dirty = 0;
        std::uint8_t along = 0; // fetched with another one, and not asked for yet
    };
    struct entry {
        std::uint64_t line = 0;
        std::uint32_t used = 0;   // the cache's time when it was used last; 0: the entry is empty
        std::uint32_t launch = 0; // of another one: `fresh` says nothing
        std::uint16_t by = 0;     // who asked for the sector that `along` came with
        sectors_of_line kept, fresh;
    };

    outcomes find(std::uint64_t line, unsigned sectors, unsigned dirty, std::uint16_t by);
    [[nodiscard]] outcome use(sectors_of_line& here, unsigned sectors, unsigned dirty, bool is_own) const noexcept;
    [[nodiscard]] unsigned fetched_for(unsigned missed, unsigned valid, bool reads) const noexcept;
    [[nodiscard]] entry* set_of(std::uint64_t line);

    unsigned together_;
    std::vector<entry> entries_;
    std::uint64_t sets_;
    std::uint32_t launch_ = 0;
    std::uint32_t time_ = 0;
};

} // namespace softgpu::predict
