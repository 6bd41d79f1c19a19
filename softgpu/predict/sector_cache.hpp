// SPDX-License-Identifier: MIT
// A cache of 128-byte lines of four sectors: set-associative, the least recently used line goes, sectors are fetched one by
// one, stores are kept until their line goes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace softgpu::predict {

// How many sectors a mask of a line's four has. A table: hosts without an instruction for it would call a function.
constexpr unsigned sectors_in(unsigned mask) noexcept { return 0x4332'3221'3221'2110 >> 4 * (mask & 15) & 15; }

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
        unsigned changed = 0; // of a read, as a mask: sectors that were stored to since they were last read
    };
    // Looks for the sectors (a mask of four) and keeps them from now on. `by`: who asks.
    outcome read(std::uint64_t line, unsigned sectors, std::uint16_t by = 0) {
        return find<false>(line, sectors, 0, by).kept;
    }
    outcome write(std::uint64_t line, unsigned sectors) { return find<false>(line, sectors, sectors, 0).kept; }

    // The same for two caches at once: this one, and one that was empty at the last begin(). Of each set the second has the
    // lines used since then; the least recently used one goes first, so these are the last to go here.
    struct outcomes {
        outcome kept;
        outcome fresh;
    };
    void begin() noexcept { ++launch_; }
    outcomes read_both(std::uint64_t line, unsigned sectors, std::uint16_t by) {
        return find<true>(line, sectors, 0, by);
    }
    outcomes write_both(std::uint64_t line, unsigned sectors) { return find<true>(line, sectors, sectors, 0); }

    // Sectors that are there leave, as L1 does with what is stored to.
    void drop(std::uint64_t line, unsigned sectors);

    // Asks the host's memory for the line's set: it is looked for soon.
    void expect(std::uint64_t line) const noexcept;

private:
    static constexpr std::size_t ways = 16;
    struct sectors_of_line {
        std::uint8_t valid = 0;
        std::uint8_t dirty = 0;
        std::uint8_t along : 4 = 0;   // fetched with another one, and not asked for yet
        std::uint8_t changed : 4 = 0; // stored to, and not read yet
    };
    struct entry {
        std::uint64_t line = ~std::uint64_t{0}; // no line: the entry is empty
        std::uint16_t by = 0;                   // who asked for the sector that `along` came with
        sectors_of_line kept, fresh;
    };
    // Laid out for the host's caches: what a look-up needs first is in the first 64 bytes.
    struct alignas(64) set {
        std::array<std::uint16_t, ways> tags = all(tag_of(~std::uint64_t{0}));
        std::uint64_t order = 0xFEDC'BA98'7654'3210; // ways, four bits each, the least recently used one lowest
        std::uint32_t launch = 0;                    // of another one: `fresh` of all entries says nothing
        std::array<entry, ways> entries;
    };

    static constexpr std::uint16_t tag_of(std::uint64_t line) {
        return static_cast<std::uint16_t>(line ^ line >> 16 ^ line >> 32);
    }
    static constexpr std::array<std::uint16_t, ways> all(std::uint16_t tag) {
        std::array<std::uint16_t, ways> tags{};
        tags.fill(tag);
        return tags;
    }

    // Both: `fresh` of the result is the second cache's.
    template <bool Both>
    outcomes find(std::uint64_t line, unsigned sectors, unsigned dirty, std::uint16_t by);
    [[nodiscard]] outcome use(sectors_of_line& here, unsigned sectors, unsigned dirty, bool is_own) const noexcept;
    [[nodiscard]] unsigned fetched_for(unsigned missed, unsigned valid, bool reads) const noexcept;
    [[nodiscard]] std::size_t place_of(std::uint64_t line) const noexcept;
    // Its way, or `ways`.
    [[nodiscard]] static std::size_t way_of(const set& s, std::uint64_t line) noexcept;

    unsigned together_;
    std::vector<set> sets_;
    std::uint32_t launch_ = 0;
};

} // namespace softgpu::predict
