// SPDX-License-Identifier: MIT
#include "softgpu/predict/traffic.hpp"

#include <algorithm>
#include <utility>

namespace softgpu::predict {

using machine::touch;

namespace {

constexpr std::size_t most_waiting = 4096;
constexpr std::uint64_t copy_of_line = 1ull << 60; // in the partition that is not its home
constexpr std::size_t looked_ahead = 8;            // accesses: the host's memory takes as long as so many look-ups

} // namespace

void float_additions::add(std::uint64_t line, unsigned sectors, double passes) noexcept {
    const std::uint64_t sector = line << 4 | sectors;
    if (sectors_in(sectors) == 1 && sector == sector_) {
        votes_ += passes;
        added_ += passes;
    } else if (votes_ >= passes || sectors_in(sectors) != 1) {
        votes_ = std::max(votes_ - passes, 0.0);
    } else {
        sector_ = sector;
        votes_ = passes - votes_;
        added_ = passes;
    }
    most_added_ = std::max(most_added_, added_);
}

void device_l2::begin() {
    const std::lock_guard lock(mutex_);
    cache_.begin();
    of_warm_ = {};
    of_cold_ = {};
    open_in_cold_ = {};
    std::fill(slice_cycles_.begin(), slice_cycles_.end(), 0.0);
    float_additions_.clear();
    std::fill(last_slice_cycles_.begin(), last_slice_cycles_.end(), 0.0);
}

inline bool device_l2::is_far(const l2_access& a) const {
    const bool reads = a.how == touch::load || a.how == touch::load_past_l1 || a.how == touch::prefetch;
    return partitions_ == 2 && reads && home_of(a.line) != (a.by.by & 1u);
}

// A store goes to the line's home alone. A copy that it makes stale counts as one that is there: it would be fetched from its
// home again, not from DRAM.
inline device_l2::looked_up device_l2::look_up(const l2_access& a) {
    if (a.how == touch::store || is_atomic(a.how)) {
        return {.own = cache_.write(a.line, a.sectors, a.how == touch::store ? a.words : ~0u), .home = {}};
    }
    const auto ask = [&](std::uint64_t line, unsigned sectors) {
        return a.how == touch::prefetch ? cache_.prefetch(line, sectors) : cache_.read(line, sectors, a.by);
    };
    if (!is_far(a)) {
        return {.own = ask(a.line, a.sectors), .home = {}};
    }
    const sector_cache::outcomes own = ask(a.line | copy_of_line, a.sectors);
    const unsigned missed = own.kept.fetched | own.fresh.fetched;
    return {.own = own, .home = missed != 0 ? ask(a.line, missed) : sector_cache::outcomes{}, .is_far = true};
}

inline void device_l2::count_read(const sector_cache::outcome& o, const l2_access& a, traffic& to) {
    to.l2_reads += sectors_in(a.sectors);
    to.l2_read_hits += sectors_in(o.hits);
    to.l2_late_hits += sectors_in(o.late);
    to.l2_waited += sectors_in(o.waits);
    to.l2_together += o.after == sector_cache::order::together ? sectors_in(o.late) : 0;
    to.l2_early_hits += o.after == sector_cache::order::earlier ? sectors_in(o.late) : 0;
    if (is_atomic(a.how)) {
        to.l2_atomics += sectors_in(a.sectors);
        to.l2_atomic_hits += sectors_in(o.hits);
    }
}

inline void device_l2::count(const sector_cache::outcome& o, const sector_cache::outcome* home, const l2_access& a,
                             open_rows& open, traffic& to) const {
    const auto write_back = [&](const sector_cache::outcome& from) {
        to.dram_writes += from.written;
        to.dram_reads += from.filled;
        to.dram_rows += from.filled != 0 ? 1 : 0;
        to.dram_part_sectors += from.in_parts;
        to.dram_part_lines += from.part_lines;
    };
    const auto read = [&](unsigned fetched) {
        if (fetched != 0) {
            to.dram_reads += sectors_in(fetched);
            const std::uint64_t row = (a.line >> slice_shift_) + 1;
            std::uint64_t& last = open.rows[(row * 0x9E3779B97F4A7C15ull >> 32) % open_rows::places];
            to.dram_rows += std::exchange(last, row) != row ? 1 : 0;
        }
    };
    write_back(o);
    ++to.l2_requests;
    if (a.how == touch::store) {
        to.l2_writes += sectors_in(a.sectors);
        ++to.l2_store_requests;
        return;
    }
    if (a.how != touch::prefetch) { // which is no read, as Nsight Compute counts
        count_read(o, a, to);
    }
    if (home == nullptr) {
        read(o.fetched);
        return;
    }
    write_back(*home);
    read(o.fetched & home->fetched);
    if (a.how != touch::prefetch) {
        to.l2_far_hits += sectors_in(a.sectors & o.fetched & home->hits);
        to.l2_far_late += sectors_in(a.sectors & o.fetched & home->late);
        to.l2_waited += sectors_in(a.sectors & o.fetched & home->waits);
    }
}

inline void device_l2::count_slice(const l2_access& a, unsigned changed) {
    const std::size_t slice = slice_of(a.line);
    double& here = slice_cycles_[slice];
    double in_a_row = 0;
    switch (a.how) {
    case touch::store: here += slices_.store * a.passes; break;
    case touch::atomic_of_floats: {
        float_additions& all = float_additions_[slice];
        all.add(a.line, a.sectors, a.passes);
        in_a_row = all.most() * slices_.floats;
        [[fallthrough]];
    }
    case touch::atomic:
    case touch::atomic_of_warp: here += slices_.atomic * a.passes; break;
    case touch::load_past_l1: here += changed != 0 ? slices_.changed : slices_.load; break;
    case touch::load:
    case touch::prefetch: here += slices_.load; break;
    }
    of_warm_.slice_cycles = std::max({of_warm_.slice_cycles, here, in_a_row});
}

void device_l2::take(const std::vector<l2_access>& accesses) {
    const std::lock_guard lock(mutex_);
    for (std::size_t k = 0; k < accesses.size(); ++k) {
        if (k + looked_ahead < accesses.size() &&
            accesses[k + looked_ahead].line != accesses[k + looked_ahead - 1].line) {
            const l2_access& soon = accesses[k + looked_ahead];
            cache_.expect(soon.line);
            if (is_far(soon)) {
                cache_.expect(soon.line | copy_of_line);
            }
        }
        const l2_access& a = accesses[k];
        if (a.sectors == 0) { // others asked before
            continue;
        }
        const looked_up l = look_up(a);
        count(l.own.kept, l.is_far ? &l.home.kept : nullptr, a, open_in_warm_, of_warm_);
        count(l.own.fresh, l.is_far ? &l.home.fresh : nullptr, a, open_in_cold_, of_cold_);
        count_slice(a, l.own.kept.changed | l.home.kept.changed);
        of_warm_.atomic_passes += is_atomic(a.how) ? a.passes : 0;
    }
}

double device_l2::cycles_of(const l2_access& a) const {
    const bool is_chain = a.how == touch::atomic_of_floats && sectors_in(a.sectors) == 1;
    return a.passes * (is_chain ? slices_.floats : slices_.atomic);
}

void device_l2::note_last(const std::unordered_map<std::size_t, double>& cycles) {
    const std::lock_guard lock(mutex_);
    for (const auto& [slice, n] : cycles) {
        double& here = last_slice_cycles_[slice];
        here += n;
        of_warm_.last_slice_cycles = std::max(of_warm_.last_slice_cycles, here);
    }
}

traffic device_l2::warm() {
    const std::lock_guard lock(mutex_);
    return of_warm_;
}

traffic device_l2::cold() {
    const std::lock_guard lock(mutex_);
    traffic t = of_cold_;
    t.atomic_passes = of_warm_.atomic_passes;
    t.slice_cycles = of_warm_.slice_cycles;
    t.last_slice_cycles = of_warm_.last_slice_cycles;
    return t;
}

l1_places::taken l1_places::take(std::uint64_t place) {
    const std::lock_guard lock(mutex_);
    for (std::uint64_t k = 0; k < all_.size(); ++k) {
        const std::uint64_t at = (place + k) % all_.size();
        if (all_[at].is_free) {
            state here = std::exchange(all_[at], {.is_free = false, .left = std::nullopt});
            return {at, here.left ? std::move(*here.left) : load_cache(bytes_)};
        }
    }
    return {place, load_cache(bytes_)};
}

void l1_places::leave(std::uint64_t place, load_cache&& cache) {
    const std::lock_guard lock(mutex_);
    all_[place] = {.is_free = true, .left = std::move(cache)};
}

inline void block_l1::pass_on(const l2_access& a) {
    waiting_.push_back(a);
    if (waiting_.size() == most_waiting) {
        behind_.take(waiting_);
        waiting_.clear();
        joined_.clear();
    }
}

unsigned block_l1::taken_back(const asked_lines::load& other, unsigned hits, asker from) {
    const bool by_chance = (other.line * 0x9E3779B97F4A7C15ull >> 63) != 0;
    if ((other.by.when == from.when && by_chance) || other.at >= waiting_.size()) {
        return 0;
    }
    l2_access& theirs = waiting_[other.at];
    if (theirs.line != other.line || theirs.how != touch::load || theirs.by.by == from.by) {
        return 0;
    }
    const unsigned taken = theirs.sectors & hits;
    theirs.sectors = static_cast<std::uint8_t>(theirs.sectors & ~taken);
    return taken;
}

bool block_l1::joins(const machine::line_access& a) {
    if (joined_.size() <= a.warp) {
        joined_.resize(a.warp + 1);
    }
    stored_lines& now = joined_[a.warp].now;
    stored_lines& before = joined_[a.warp].before;
    if (a.passes != 0) { // the store's first line
        before = now;
        now.count = 0;
    }
    std::size_t place = waiting_.size();
    for (std::size_t k = 0; before.count <= joined_lines && k < before.count; ++k) {
        if (l2_access& earlier = waiting_[before.at[k]]; earlier.line == a.line) {
            earlier.sectors = static_cast<std::uint8_t>(earlier.sectors | a.sectors);
            earlier.words |= a.words;
            ++earlier.passes;
            place = before.at[k];
        }
    }
    if (now.count < joined_lines) {
        now.at[now.count] = place;
    }
    ++now.count;
    return place != waiting_.size();
}

void block_l1::touched_local(std::uint32_t warp, std::uint64_t line, std::uint32_t mask, touch how) {
    const std::uint64_t whole = local_ | std::uint64_t{warp} << 22 | line;
    const unsigned sectors = sectors_of(mask);
    const unsigned hits = cache_.read(whole, sectors, mask);
    if (const unsigned missed = how == touch::store ? sectors : sectors & ~hits; missed != 0) {
        pass_on({whole, 1, mask, by(warp, 0), static_cast<std::uint8_t>(missed), how});
    }
}

unsigned block_l1::missed_by(const machine::line_access& a, asker self) {
    may_hit_ = true;
    const unsigned hits = cache_.read(a.line, a.sectors, a.words != 0 ? a.words : ~0u);
    unsigned missed = a.sectors & ~hits;
    bool waits = hits != 0 && asked_.has(a.line, self, behind_.latency());
    // Of what another block has loaded.
    if (missed != 0 && shared_ != nullptr) {
        const shared_l1::outcome o = shared_->read(a.line, missed, self, behind_.latency());
        missed &= ~o.hits;
        waits = waits || o.waits;
    }
    own_.l1_hits += sectors_in(a.sectors & ~missed);
    if (waits) {
        own_.load_requests_waited += std::exchange(request_waited_, true) ? 0 : 1;
    }
    asked_lines::load& last = asked_.place_of(a.line);
    // Where both ask for the same sectors, nothing changes.
    if (last.line == a.line && hits != 0 && a.sectors != last.sectors &&
        static_cast<std::int32_t>(self.when - last.by.when) <= 0) {
        missed |= taken_back(last, hits, self);
    }
    if (missed != 0) {
        last = {a.line, self, static_cast<std::uint16_t>(waiting_.size()), static_cast<std::uint8_t>(missed)};
    }
    return missed;
}

void block_l1::touched(const machine::line_access& a, double when) {
    for (const host_lines& h : host_) {
        if (a.line - h.begin < h.end - h.begin) {
            own_.host_sectors += sectors_in(a.sectors);
            return;
        }
    }
    unsigned missed = a.sectors;
    std::uint32_t passes = a.passes;
    const asker self = by(a.warp, static_cast<std::uint32_t>(static_cast<std::int64_t>(when)));
    if (a.how == touch::load || a.how == touch::load_past_l1) {
        own_.loads += sectors_in(a.sectors);
        if (a.passes != 0) { // the request's first line
            ++own_.load_requests;
            request_missed_ = false;
            request_waited_ = false;
        }
        missed = a.how == touch::load ? missed_by(a, self) : missed;
    } else if (is_atomic(a.how)) {
        cache_.drop(a.line, a.sectors);
        if (shared_ != nullptr) {
            shared_->drop(a.line, a.sectors);
        }
    }
    if (a.how == touch::store) {
        may_hit_ = true;
        cache_.write(a.line, a.words);
        if (joins_stores_ && joins(a)) {
            return;
        }
        passes = 1;
    } else if (a.warp < joined_.size()) {
        joined_[a.warp] = {};
    }
    if (missed != 0 && (a.how == touch::load || a.how == touch::load_past_l1)) {
        const bool follows = request_missed_ && a.line == last_missed_ + 1;
        own_.load_requests_missed += std::exchange(request_missed_, true) ? 0 : 1;
        own_.load_requests_waited += std::exchange(request_waited_, true) ? 0 : 1;
        ++own_.load_lines_missed;
        own_.load_lines_apart += follows ? 0 : 1;
        last_missed_ = a.line;
    }
    if (missed != 0) {
        pass_on({a.line, passes, a.words, self, static_cast<std::uint8_t>(missed), a.how});
    }
    if (is_atomic(a.how)) {
        note_last_atomic({a.line, passes, a.words, self, static_cast<std::uint8_t>(a.sectors), a.how}, a.warp);
    } else if (a.how != touch::store && a.warp == last_warp_ && !has_barrier_) {
        of_warp_.clear();
    }
}

// The host runs one warp after the other, up to a barrier.
void block_l1::note_last_atomic(const l2_access& a, std::uint32_t warp) {
    if (warp != std::exchange(last_warp_, warp)) {
        keep_last_atomics();
    }
    of_warp_[behind_.slice_of(a.line)] += behind_.cycles_of(a);
}

void block_l1::keep_last_atomics() {
    for (const auto& [slice, cycles] : of_warp_) {
        last_cycles_[slice] += cycles;
    }
    of_warp_.clear();
}

traffic block_l1::ended() {
    behind_.take(waiting_);
    waiting_.clear();
    keep_last_atomics();
    if (!last_cycles_.empty()) {
        behind_.note_last(last_cycles_);
    }
    return own_;
}

} // namespace softgpu::predict
