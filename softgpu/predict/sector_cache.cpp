// SPDX-License-Identifier: MIT
#include "softgpu/predict/sector_cache.hpp"

#include <bit>

namespace softgpu::predict {

sector_cache::sector_cache(std::uint64_t bytes, unsigned fetched_together)
    : together_(fetched_together), sets_(bytes / (ways * 128)) {
    sets_ = bytes != 0 && sets_ == 0 ? 1 : sets_;
    entries_.resize(sets_ * ways);
}

// The set is a hash of the line, as in hardware, so that strides of powers of two do not meet in one set.
sector_cache::entry* sector_cache::set_of(std::uint64_t line) {
    const std::uint64_t mixed = (line ^ line >> 17) * 0x9E3779B97F4A7C15ull >> 32;
    return entries_.data() + (mixed * sets_ >> 32) * ways;
}

unsigned sector_cache::fetched_for(unsigned missed, unsigned valid, bool reads) const noexcept {
    if (!reads || together_ == 1) {
        return missed;
    }
    if (together_ == 4) {
        return (missed != 0 ? 15u : 0u) & ~valid;
    }
    return (((missed & 3) != 0 ? 3u : 0u) | ((missed & 12) != 0 ? 12u : 0u)) & ~valid;
}

// `is_own`: what came along was fetched for the one that asks.
sector_cache::outcome sector_cache::use(sectors_of_line& here, unsigned sectors, unsigned dirty,
                                        bool is_own) const noexcept {
    const unsigned hits = here.valid & sectors;
    const unsigned fetched = fetched_for(sectors & ~hits, here.valid, dirty == 0);
    const unsigned late = is_own ? 0 : here.along & hits;
    here.along = static_cast<std::uint8_t>((here.along | fetched) & ~sectors);
    here.valid = static_cast<std::uint8_t>(here.valid | sectors | fetched);
    here.dirty = static_cast<std::uint8_t>(here.dirty | dirty);
    return {.hits = hits, .late = late, .fetched = fetched, .written = 0};
}

sector_cache::outcomes sector_cache::find(std::uint64_t line, unsigned sectors, unsigned dirty, std::uint16_t by) {
    if (sets_ == 0) {
        const outcome o{
            .hits = 0, .late = 0, .fetched = sectors, .written = static_cast<unsigned>(std::popcount(dirty))};
        return {o, o};
    }
    entry* const set = set_of(line);
    ++time_;
    entry* e = set;
    entry* goes = set;
    for (; e != set + ways && (e->used == 0 || e->line != line); ++e) {
        if (time_ - e->used > time_ - goes->used) { // an empty one is the oldest
            goes = e;
        }
    }
    unsigned written = 0;
    unsigned fresh_written = 0;
    if (e == set + ways) {
        e = goes;
        written = static_cast<unsigned>(std::popcount(e->kept.dirty));
        fresh_written = e->launch == launch_ ? static_cast<unsigned>(std::popcount(e->fresh.dirty)) : 0;
        *e = {.line = line, .used = 0, .launch = launch_, .by = by, .kept = {}, .fresh = {}};
    }
    if (e->launch != launch_) {
        e->launch = launch_;
        e->fresh = {};
    }
    const bool is_own = e->by == by;
    outcomes o{use(e->kept, sectors, dirty, is_own), use(e->fresh, sectors, dirty, is_own)};
    o.kept.written = written;
    o.fresh.written = fresh_written;
    e->by = (o.kept.fetched | o.fresh.fetched) != 0 ? by : e->by;
    e->used = time_;
    return o;
}

void sector_cache::drop(std::uint64_t line, unsigned sectors) {
    if (sets_ == 0) {
        return;
    }
    entry* const set = set_of(line);
    for (entry* e = set; e != set + ways; ++e) {
        if (e->used != 0 && e->line == line) {
            e->kept.valid = static_cast<std::uint8_t>(e->kept.valid & ~sectors);
        }
    }
}

} // namespace softgpu::predict
