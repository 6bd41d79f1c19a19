// SPDX-License-Identifier: MIT
// A cache of 128-byte lines of four sectors: set-associative, the least recently used line goes, sectors are fetched one by
// one. Of a set's lines few wait to be written back, and fewer have sectors of which a part was stored to: what is too much is
// written back, and what such sectors lack is read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "softgpu/predict/lru_set.hpp"

namespace softgpu::predict {

// How many sectors a mask of a line's four has. A table: hosts without an instruction for it would call a function.
constexpr unsigned sectors_in(unsigned mask) noexcept { return 0x4332'3221'3221'2110 >> 4 * (mask & 15) & 15; }

// Who asks. Numbers that others rarely have, of the warp and of its block.
struct asker {
    std::uint16_t by = 0;
    std::uint16_t block = 0;
    std::uint32_t when = 0; // cycles since the block's begin
};

// Whether fewer cycles lie between the two.
[[nodiscard]] constexpr bool is_within(std::uint32_t cycles, asker a, asker other) noexcept {
    return cycles != 0 && a.when - other.when + (cycles - 1) <= 2 * (cycles - 1); // modulo 2^32
}

class sector_cache {
public:
    // 0 bytes: it keeps nothing. A read that misses fetches as many sectors side by side, 1, 2 or 4, which takes `latency` cycles.
    explicit sector_cache(std::uint64_t bytes, unsigned fetched_together = 1, std::uint32_t latency = 0);

    enum class order : std::uint8_t { earlier, together, later };
    struct outcome {
        unsigned hits = 0; // sectors, as a mask
        unsigned late =
            0; // of these, those that were fetched for a neighbour which another one asked for, and not used yet
        unsigned waits = 0;         // of these, others that are on their way to another one
        unsigned fetched = 0;       // likewise: those that missed, and of a read those fetched with them
        unsigned written = 0;       // sectors that were stored to and are written back, as a count
        unsigned filled = 0;        // of these, sectors of which a part was stored to: the rest is read first
        unsigned in_parts = 0;      // of these, sectors of lines that are not written back whole
        unsigned part_lines = 0;    // such lines
        unsigned changed = 0;       // of a read, as a mask: sectors that were stored to since they were last read
        order after = order::later; // of a read, what was fetched for another one
    };
    // Of two caches: this one, and one that was empty at the last begin(). Of each set the second has the lines used since then;
    // the least recently used one goes first, so these are the last to go here.
    struct outcomes {
        outcome kept;
        outcome fresh;
    };
    void begin() noexcept { ++launch_; }
    // Looks for the sectors (a mask of four) and keeps them from now on.
    outcomes read(std::uint64_t line, unsigned sectors, asker a = {}) { return find<use::read>(line, sectors, 0, a); }
    // Nobody has asked for the sectors yet: the next one that does finds them late.
    outcomes prefetch(std::uint64_t line, unsigned sectors) { return find<use::prefetch>(line, sectors, 0, {}); }
    // `words`: a mask of the line's 32, those that the store fills.
    outcomes write(std::uint64_t line, unsigned sectors, std::uint32_t words = ~0u) {
        return find<use::write>(line, sectors, words, {});
    }

    // Asks the host's memory for the line's set: it is looked for soon.
    void expect(std::uint64_t line) const noexcept;

private:
    static constexpr asker nobody{0xFFFF, 0xFFFF, 0};
    static constexpr int most_dirty = 7;        // lines of a set
    static constexpr int most_partial = 2;      // likewise
    static constexpr std::int32_t together = 6; // cycles
    struct sectors_of_line {
        std::uint32_t words = 0; // that were stored to, of partial sectors
        std::uint8_t valid = 0;
        std::uint8_t dirty : 4 = 0;
        std::uint8_t partial : 4 = 0; // of these, those of which a part was stored to, and the rest is not there
        std::uint8_t along : 4 = 0;   // fetched with another one, and not asked for yet
        std::uint8_t changed : 4 = 0; // stored to, and not read yet
        std::uint8_t sent : 4 = 0;    // fetched for a read of this launch
    };
    struct entry {
        asker by; // for whom sectors were fetched last
        sectors_of_line kept, fresh;
    };
    // Lines, as masks of ways.
    struct stored_lines {
        std::uint16_t dirty = 0;
        std::uint16_t partial = 0;
    };
    // Laid out for the host's caches: what a look-up needs first comes first.
    struct alignas(64) set {
        lru_set lines;
        std::uint32_t launch = 0; // of another one: `fresh` of all entries says nothing
        bool is_new = false;      // no launch before has used the set: `fresh` would be `kept`, and is not kept up
        stored_lines kept, fresh;
        std::array<entry, lru_set::ways> entries;
    };

    enum class use : std::uint8_t { read, prefetch, write };
    template <use How>
    outcomes find(std::uint64_t line, unsigned sectors, std::uint32_t words, asker a);
    // Of the reads before: who asks now is the one who asked, or asks while what was fetched is on its way.
    struct relation {
        bool is_own = false;
        bool is_soon = false;
    };
    void load(sectors_of_line& here, unsigned sectors, relation to, outcome& o) const noexcept;
    static void store(sectors_of_line& here, unsigned sectors, std::uint32_t words, outcome& o) noexcept;
    // Writes the way's sectors back, which stay.
    template <sectors_of_line entry::*Of>
    static void clean(set& s, stored_lines& stored, std::size_t way, outcome& o) noexcept;
    // The way was used: notes whether it is a stored line, and cleans the oldest of these where there are too many.
    template <sectors_of_line entry::*Of>
    static void limit(set& s, stored_lines& stored, std::size_t way, outcome& o) noexcept;
    [[nodiscard]] static order order_of(asker a, asker before) noexcept;
    [[nodiscard]] unsigned fetched_for(unsigned missed, unsigned valid) const noexcept;

    unsigned fetched_together_;
    std::uint32_t latency_;
    std::vector<set> sets_;
    std::uint32_t launch_ = 0;
};

} // namespace softgpu::predict
