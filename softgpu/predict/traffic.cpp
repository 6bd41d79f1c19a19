// SPDX-License-Identifier: MIT
#include "softgpu/predict/traffic.hpp"

#include <algorithm>
#include <bit>

namespace softgpu::predict {

using machine::touch;

namespace {

constexpr std::size_t most_waiting = 4096;

std::uint64_t count_of(unsigned mask) { return static_cast<std::uint64_t>(std::popcount(mask)); }

} // namespace

void device_l2::begin() {
    const std::lock_guard lock(mutex_);
    cold_.clear();
    of_warm_ = {};
    of_cold_ = {};
    atomics_.clear();
}

// A store that fills only a part of a sector is counted as one that fills it: nothing is read for it.
void device_l2::count(sector_cache& cache, const l2_access& a, traffic& to) {
    const bool writes = a.how == touch::store || a.how == touch::atomic;
    const sector_cache::outcome o = writes ? cache.write(a.line, a.sectors) : cache.read(a.line, a.sectors);
    to.dram_writes += o.written;
    ++to.l2_requests;
    if (a.how == touch::store) {
        to.l2_writes += count_of(a.sectors);
        return;
    }
    to.l2_reads += count_of(a.sectors);
    to.l2_read_hits += count_of(o.hits);
    to.dram_reads += count_of(o.fetched);
}

void device_l2::take(const std::vector<l2_access>& accesses) {
    const std::lock_guard lock(mutex_);
    for (const l2_access& a : accesses) {
        count(warm_, a, of_warm_);
        count(cold_, a, of_cold_);
        if (a.how == touch::atomic) {
            of_warm_.atomic_lanes += a.lanes;
            std::uint64_t& here = atomics_[a.line];
            here += a.lanes;
            of_warm_.hottest_atomic_lanes = std::max(of_warm_.hottest_atomic_lanes, here);
        }
    }
}

traffic device_l2::warm() {
    const std::lock_guard lock(mutex_);
    return of_warm_;
}

traffic device_l2::cold() {
    const std::lock_guard lock(mutex_);
    traffic t = of_cold_;
    t.atomic_lanes = of_warm_.atomic_lanes;
    t.hottest_atomic_lanes = of_warm_.hottest_atomic_lanes;
    return t;
}

void block_l1::touched(std::uint64_t line, unsigned sectors, unsigned lanes, touch how) {
    unsigned missed = sectors;
    if (how == touch::load || how == touch::load_past_l1) {
        own_.loads += count_of(sectors);
        if (how == touch::load) {
            missed &= ~cache_.read(line, sectors).hits;
            own_.l1_hits += count_of(sectors & ~missed);
        }
    } else {
        cache_.drop(line, sectors);
    }
    if (missed != 0) {
        waiting_.push_back({line, lanes, static_cast<std::uint8_t>(missed), how});
        if (waiting_.size() == most_waiting) {
            behind_.take(waiting_);
            waiting_.clear();
        }
    }
}

traffic block_l1::ended() {
    behind_.take(waiting_);
    waiting_.clear();
    return own_;
}

} // namespace softgpu::predict
