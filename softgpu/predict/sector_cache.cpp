// SPDX-License-Identifier: MIT
#include "softgpu/predict/sector_cache.hpp"

#include <bit>

namespace softgpu::predict {

sector_cache::sector_cache(std::uint64_t bytes) : sets_(bytes / (ways * 128)) {
    sets_ = bytes != 0 && sets_ == 0 ? 1 : sets_;
    entries_.resize(sets_ * ways);
}

// The set is a hash of the line, as in hardware, so that strides of powers of two do not meet in one set.
sector_cache::entry* sector_cache::set_of(std::uint64_t line) {
    const std::uint64_t mixed = (line ^ line >> 17) * 0x9E3779B97F4A7C15ull >> 32;
    return entries_.data() + (mixed * sets_ >> 32) * ways;
}

sector_cache::outcome sector_cache::find(std::uint64_t line, unsigned sectors, unsigned dirty) {
    if (sets_ == 0) {
        return {0, static_cast<unsigned>(std::popcount(dirty))};
    }
    entry* const set = set_of(line);
    ++time_;
    entry* goes = set;
    for (entry* e = set; e != set + ways; ++e) {
        if (e->epoch != epoch_) {
            goes = goes->epoch == epoch_ ? e : goes;
        } else if (e->line == line) {
            const unsigned hits = e->valid & sectors;
            e->used = time_;
            e->valid = static_cast<std::uint8_t>(e->valid | sectors);
            e->dirty = static_cast<std::uint8_t>(e->dirty | dirty);
            return {hits, 0};
        } else if (goes->epoch == epoch_ && time_ - e->used > time_ - goes->used) {
            goes = e;
        }
    }
    const unsigned written = goes->epoch == epoch_ ? static_cast<unsigned>(std::popcount(goes->dirty)) : 0;
    *goes = {line, epoch_, time_, static_cast<std::uint8_t>(sectors), static_cast<std::uint8_t>(dirty)};
    return {0, written};
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
