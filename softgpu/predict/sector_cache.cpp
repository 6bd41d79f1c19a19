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

sector_cache::outcome sector_cache::find(std::uint64_t line, unsigned sectors, unsigned dirty) {
    if (sets_ == 0) {
        return {.hits = 0, .fetched = sectors, .written = static_cast<unsigned>(std::popcount(dirty))};
    }
    entry* const set = set_of(line);
    ++time_;
    entry* goes = set;
    for (entry* e = set; e != set + ways; ++e) {
        if (e->epoch != epoch_) {
            goes = goes->epoch == epoch_ ? e : goes;
        } else if (e->line == line) {
            const unsigned hits = e->valid & sectors;
            const unsigned fetched = fetched_for(sectors & ~hits, e->valid, dirty == 0);
            e->used = time_;
            e->valid = static_cast<std::uint8_t>(e->valid | sectors | fetched);
            e->dirty = static_cast<std::uint8_t>(e->dirty | dirty);
            return {.hits = hits, .fetched = fetched, .written = 0};
        } else if (goes->epoch == epoch_ && time_ - e->used > time_ - goes->used) {
            goes = e;
        }
    }
    const unsigned written = goes->epoch == epoch_ ? static_cast<unsigned>(std::popcount(goes->dirty)) : 0;
    const unsigned fetched = fetched_for(sectors, 0, dirty == 0);
    *goes = {line, epoch_, time_, static_cast<std::uint8_t>(sectors | fetched), static_cast<std::uint8_t>(dirty)};
    return {.hits = 0, .fetched = fetched, .written = written};
}

void sector_cache::drop(std::uint64_t line, unsigned sectors) {
    if (sets_ == 0) {
        return;
    }
    entry* const set = set_of(line);
    for (entry* e = set; e != set + ways; ++e) {
        if (e->epoch == epoch_ && e->line == line) {
            e->valid = static_cast<std::uint8_t>(e->valid & ~sectors);
        }
    }
}

} // namespace softgpu::predict
