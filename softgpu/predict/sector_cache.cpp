// SPDX-License-Identifier: MIT
#include "softgpu/predict/sector_cache.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace softgpu::predict {

namespace {

// Sectors of a line all of whose eight words are in the mask.
unsigned whole_sectors(std::uint32_t words) noexcept {
    std::uint32_t all = words & words >> 4;
    all &= all >> 2;
    all &= all >> 1;
    return (all & 0x0101'0101) * 0x0102'0408 >> 24 & 15;
}

std::uint32_t words_of_sectors(unsigned sectors) noexcept {
    return ((sectors & 1) | (sectors & 2) << 7 | (sectors & 4) << 14 | (sectors & 8) << 21) * 255;
}

// Hosts without an instruction for it would call a function.
int ways_in(unsigned mask) noexcept {
    mask -= mask >> 1 & 0x5555;
    mask = (mask & 0x3333) + (mask >> 2 & 0x3333);
    mask = (mask + (mask >> 4)) & 0x0F0F;
    return static_cast<int>((mask + (mask >> 8)) & 0xFF);
}

} // namespace

sector_cache::sector_cache(std::uint64_t bytes, unsigned fetched_together, std::uint32_t latency)
    : fetched_together_(fetched_together),
      latency_(latency),
      sets_(bytes == 0 ? 0 : std::max<std::uint64_t>(bytes / (lru_set::ways * 128), 1)) {}

inline unsigned sector_cache::fetched_for(unsigned missed, unsigned valid) const noexcept {
    if (fetched_together_ == 1) {
        return missed;
    }
    if (fetched_together_ == 4) {
        return (missed != 0 ? 15u : 0u) & ~valid;
    }
    return (((missed & 3) != 0 ? 3u : 0u) | ((missed & 12) != 0 ? 12u : 0u)) & ~valid;
}

// The host runs one warp after the other: what it does later may come earlier.
inline sector_cache::order sector_cache::order_of(asker a, asker before) noexcept {
    const auto apart = static_cast<std::int32_t>(a.when - before.when);
    return a.block != before.block || apart > together ? order::later
           : apart < -together                         ? order::earlier
                                                       : order::together;
}

inline void sector_cache::load(sectors_of_line& here, unsigned sectors, relation to, outcome& o) const noexcept {
    const unsigned there = here.valid & ~here.partial;
    o.hits = there & sectors;
    o.fetched = fetched_for(sectors & ~o.hits, there);
    o.late = to.is_own ? 0 : here.along & o.hits;
    o.waits = to.is_soon ? here.sent & o.hits & ~o.late : 0;
    o.changed = here.changed & sectors;
    here.along = (here.along | o.fetched) & ~sectors & 15;
    here.changed &= ~sectors & 15;
    here.partial &= ~o.fetched & 15;
    here.valid = static_cast<std::uint8_t>(here.valid | sectors | o.fetched);
}

inline void sector_cache::store(sectors_of_line& here, unsigned sectors, std::uint32_t words, outcome& o) noexcept {
    here.words |= words;
    o.hits = here.valid & sectors;
    o.fetched = sectors & ~o.hits;
    here.along &= ~sectors & 15;
    here.changed |= sectors & 15;
    here.partial = (here.partial | o.fetched) & ~(whole_sectors(here.words) & sectors) & 15;
    here.words &= words_of_sectors(here.partial);
    here.valid = static_cast<std::uint8_t>(here.valid | sectors);
    here.dirty |= sectors & 15;
}

template <sector_cache::sectors_of_line sector_cache::entry::*Of>
inline void sector_cache::clean(set& s, stored_lines& stored, std::size_t way, outcome& o) noexcept {
    sectors_of_line& here = s.entries[way].*Of;
    o.written += sectors_in(here.dirty);
    if (here.dirty != 0 && here.dirty != 15) {
        o.in_parts += sectors_in(here.dirty);
        ++o.part_lines;
    }
    o.filled += sectors_in(here.partial);
    here.dirty = 0;
    here.partial = 0;
    stored.dirty = static_cast<std::uint16_t>(stored.dirty & ~(1u << way));
    stored.partial = static_cast<std::uint16_t>(stored.partial & ~(1u << way));
}

template <sector_cache::sectors_of_line sector_cache::entry::*Of>
inline void sector_cache::limit(set& s, stored_lines& stored, std::size_t way, outcome& o) noexcept {
    const auto note = [&](std::uint16_t& lines, bool is_one) {
        lines = static_cast<std::uint16_t>((lines & ~(1u << way)) | (is_one ? 1u << way : 0));
    };
    note(stored.dirty, (s.entries[way].*Of).dirty != 0);
    note(stored.partial, (s.entries[way].*Of).partial != 0);
    if (ways_in(stored.partial) > most_partial) {
        clean<Of>(s, stored, s.lines.oldest_of(stored.partial), o);
    }
    if (ways_in(stored.dirty) > most_dirty) {
        clean<Of>(s, stored, s.lines.oldest_of(stored.dirty), o);
    }
}

template <sector_cache::use How>
sector_cache::outcomes sector_cache::find(std::uint64_t line, unsigned sectors, std::uint32_t words, asker a) {
    constexpr bool stores = How == use::write;
    if (sets_.empty()) {
        const outcome o{.fetched = sectors, .written = stores ? sectors_in(sectors) : 0};
        return {o, o};
    }
    set& here = sets_[lru_set::place_of(line, sets_.size())];
    if (here.launch != launch_) {
        here.is_new = here.launch == 0;
        here.launch = launch_;
        here.fresh = {};
        for (entry& e : here.entries) {
            e.fresh = {};
            e.kept.sent = 0;
        }
    }
    outcomes o;
    std::size_t way = here.lines.way_of(line);
    if (way == lru_set::ways) {
        way = here.lines.oldest();
        clean<&entry::kept>(here, here.kept, way, o.kept);
        if (!here.is_new) {
            clean<&entry::fresh>(here, here.fresh, way, o.fresh);
        }
        here.entries[way] = {.by = a, .kept = {}, .fresh = {}};
        here.lines.put(way, line);
    }
    here.lines.use(way);
    entry& e = here.entries[way];
    if constexpr (stores) {
        store(e.kept, sectors, words, o.kept);
        if (!here.is_new) {
            store(e.fresh, sectors, words, o.fresh);
        }
    } else {
        const bool is_own = e.by.by == a.by;
        const relation to{.is_own = is_own, .is_soon = !is_own && is_within(latency_, a, e.by)};
        load(e.kept, sectors, to, o.kept);
        if (!here.is_new) {
            load(e.fresh, sectors, to, o.fresh);
        }
        if constexpr (How == use::prefetch) {
            e.kept.along |= o.kept.fetched & 15;
            e.fresh.along |= o.fresh.fetched & 15;
            a = nobody;
        } else {
            e.kept.sent |= o.kept.fetched & 15;
            e.fresh.sent |= o.fresh.fetched & 15;
        }
        o.kept.after = o.fresh.after = order_of(a, e.by);
        e.by = (o.kept.fetched | o.fresh.fetched) != 0 ? a : e.by;
    }
    if (stores || (here.kept.partial | here.fresh.partial) != 0) {
        limit<&entry::kept>(here, here.kept, way, o.kept);
        if (!here.is_new) {
            limit<&entry::fresh>(here, here.fresh, way, o.fresh);
        }
    }
    if (here.is_new) {
        o.fresh = o.kept;
    }
    return o;
}

template sector_cache::outcomes sector_cache::find<sector_cache::use::read>(std::uint64_t, unsigned, std::uint32_t,
                                                                            asker);
template sector_cache::outcomes sector_cache::find<sector_cache::use::prefetch>(std::uint64_t, unsigned, std::uint32_t,
                                                                                asker);
template sector_cache::outcomes sector_cache::find<sector_cache::use::write>(std::uint64_t, unsigned, std::uint32_t,
                                                                             asker);

void sector_cache::expect(std::uint64_t line) const noexcept {
    if (!sets_.empty()) {
        const auto* const here = reinterpret_cast<const std::byte*>(&sets_[lru_set::place_of(line, sets_.size())]);
        for (std::size_t at = 0; at < sizeof(set); at += 64) {
            __builtin_prefetch(here + at, 1);
        }
    }
}

} // namespace softgpu::predict
