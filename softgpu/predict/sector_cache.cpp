// SPDX-License-Identifier: MIT
#include "softgpu/predict/sector_cache.hpp"

#include <algorithm>
#include <bit>

namespace softgpu::predict {

namespace {

// `order`, in which each way stands once, with this way as the most recently used one.
std::uint64_t moved_up(std::uint64_t order, std::uint64_t way) noexcept {
    constexpr std::uint64_t ones = 0x1111'1111'1111'1111;
    const std::uint64_t differs = order ^ way * ones; // 0 in its four bits alone
    const int at = std::countr_zero((differs - ones) & ~differs & ones << 3) & 60;
    const std::uint64_t below = (std::uint64_t{1} << at) - 1;
    return (order & below) | (order >> 4 & ~below) | way << 60;
}

} // namespace

sector_cache::sector_cache(std::uint64_t bytes, unsigned fetched_together)
    : together_(fetched_together), sets_(bytes == 0 ? 0 : std::max<std::uint64_t>(bytes / (ways * 128), 1)) {}

// The set is a hash of the line, as in hardware, so that strides of powers of two do not meet in one set.
inline std::size_t sector_cache::place_of(std::uint64_t line) const noexcept {
    const std::uint64_t mixed = (line ^ line >> 17) * 0x9E3779B97F4A7C15ull >> 32;
    return mixed * sets_.size() >> 32;
}

inline std::size_t sector_cache::way_of(const set& s, std::uint64_t line) noexcept {
    const std::uint16_t tag = tag_of(line);
    unsigned candidates = 0; // lines of one tag
    for (std::size_t way = 0; way < ways; ++way) {
        candidates |= s.tags[way] == tag ? 1u << way : 0;
    }
    for (; candidates != 0; candidates &= candidates - 1) {
        const auto way = static_cast<std::size_t>(std::countr_zero(candidates));
        if (s.entries[way].line == line) {
            return way;
        }
    }
    return ways;
}

inline unsigned sector_cache::fetched_for(unsigned missed, unsigned valid, bool reads) const noexcept {
    if (!reads || together_ == 1) {
        return missed;
    }
    if (together_ == 4) {
        return (missed != 0 ? 15u : 0u) & ~valid;
    }
    return (((missed & 3) != 0 ? 3u : 0u) | ((missed & 12) != 0 ? 12u : 0u)) & ~valid;
}

// `is_own`: what came along was fetched for the one that asks.
inline sector_cache::outcome sector_cache::use(sectors_of_line& here, unsigned sectors, unsigned dirty,
                                               bool is_own) const noexcept {
    const unsigned hits = here.valid & sectors;
    const unsigned fetched = fetched_for(sectors & ~hits, here.valid, dirty == 0);
    const unsigned late = is_own ? 0 : here.along & hits;
    const unsigned changed = dirty == 0 ? here.changed & sectors : 0;
    here.along = (here.along | fetched) & ~sectors & 15;
    here.changed = ((here.changed & ~sectors) | dirty) & 15;
    here.valid = static_cast<std::uint8_t>(here.valid | sectors | fetched);
    here.dirty = static_cast<std::uint8_t>(here.dirty | dirty);
    return {.hits = hits, .late = late, .fetched = fetched, .written = 0, .changed = changed};
}

template <bool Both>
sector_cache::outcomes sector_cache::find(std::uint64_t line, unsigned sectors, unsigned dirty, std::uint16_t by) {
    if (sets_.empty()) {
        const outcome o{.hits = 0, .late = 0, .fetched = sectors, .written = sectors_in(dirty), .changed = 0};
        return {o, o};
    }
    set& here = sets_[place_of(line)];
    if constexpr (!Both) { // most reads of L1 are of the set's last line
        const sectors_of_line& last = here.entries[here.order >> 60].kept;
        if (here.entries[here.order >> 60].line == line && dirty == 0 && (sectors & ~last.valid) == 0 &&
            (sectors & (last.along | last.changed)) == 0) {
            return {.kept = {.hits = sectors}, .fresh = {}};
        }
    }
    if (Both && here.launch != launch_) {
        here.launch = launch_;
        for (entry& e : here.entries) {
            e.fresh = {};
        }
    }
    std::size_t way = way_of(here, line);
    unsigned written = 0;
    unsigned fresh_written = 0;
    if (way == ways) {
        way = here.order & 15;
        entry& goes = here.entries[way];
        written = sectors_in(goes.kept.dirty);
        fresh_written = sectors_in(goes.fresh.dirty);
        goes = {.line = line, .by = by, .kept = {}, .fresh = {}};
        here.tags[way] = tag_of(line);
    }
    here.order = moved_up(here.order, way);
    entry& e = here.entries[way];
    const bool is_own = e.by == by;
    outcomes o{use(e.kept, sectors, dirty, is_own), Both ? use(e.fresh, sectors, dirty, is_own) : outcome{}};
    o.kept.written = written;
    o.fresh.written = fresh_written;
    e.by = (o.kept.fetched | o.fresh.fetched) != 0 ? by : e.by;
    return o;
}

template sector_cache::outcomes sector_cache::find<false>(std::uint64_t, unsigned, unsigned, std::uint16_t);
template sector_cache::outcomes sector_cache::find<true>(std::uint64_t, unsigned, unsigned, std::uint16_t);

void sector_cache::drop(std::uint64_t line, unsigned sectors) {
    if (sets_.empty()) {
        return;
    }
    set& here = sets_[place_of(line)];
    if (const std::size_t way = way_of(here, line); way != ways) {
        sectors_of_line& kept = here.entries[way].kept;
        kept.valid = static_cast<std::uint8_t>(kept.valid & ~sectors);
    }
}

void sector_cache::expect(std::uint64_t line) const noexcept {
    if (!sets_.empty()) {
        const set& here = sets_[place_of(line)];
        __builtin_prefetch(&here, 1);
        for (std::size_t way = 0; way < ways; way += 64 / sizeof(entry)) {
            __builtin_prefetch(&here.entries[way], 1);
        }
    }
}

} // namespace softgpu::predict
