// SPDX-License-Identifier: MIT
// Whether an access is in order with those before it: by its block's clock, by releases and acquires.
#include <mutex>

#include "softgpu/machine/inspect/races/word_races.hpp"
#include "softgpu/machine/inspect/report.hpp"

namespace softgpu::machine {

using check::stamp;

namespace {

constexpr std::uint64_t most_searched = 1000; // findings of one pair of instructions

} // namespace

bool word_access::event_of(stamp s, std::uint64_t& block, event& e) const {
    const access_site* const site = site_before(s);
    e = {check::time_of(s), check::warp_of(s), lane_before(s), site != nullptr && site->is_init};
    block = b_.linear;
    if (!in_global_) {
        return true;
    }
    if (s < clock_.view.launch_first) {
        return false;
    }
    const std::uint64_t serial = e.time >> check::serial_time_bits;
    if (serial == clock_.serial()) {
        e.time -= clock_.view.global_offset;
        return true;
    }
    block = l_.checks->block_of(serial);
    return block != ~0ull && block != b_.linear; // another launch; the block before it took a further serial
}

bool word_access::knows_acquisition(event by) const {
    if (by.time >> check::serial_time_bits != clock_.serial()) {
        return true;
    }
    by.time -= clock_.view.global_offset;
    return is_known(by);
}

bool word_access::is_released_directly(std::uint64_t block, event e) const {
    if (b_.checks->record == nullptr) {
        return false;
    }
    if (block == b_.linear) {
        e.time += clock_.view.global_offset;
    }
    const auto is_mine = [&](const event& by) { return knows_acquisition(by); };
    return l_.checks->graph.is_covered(block, e, *b_.checks->record, w_->index, lane_,
                                       b_.checks->released[w_->index]) ||
           check::release_graph::is_on_path(block, e, *b_.checks->record, b_.checks->paths, is_mine);
}

void word_access::note_known(std::uint64_t block) const {
    const check::release_graph::block_record& record = *b_.checks->record;
    const check::release_graph::path& path = b_.checks->paths[block % b_.checks->paths.size()];
    if (path.record != &record || path.block != block) {
        return;
    }
    const check::release_graph::acquisition& acquisition = record.acquisitions[path.acquisition];
    const bool has_met_since = acquisition.time >> check::serial_time_bits != clock_.serial() ||
                               acquisition.time < clock_.view.base + clock_.view.global_offset;
    if (!has_met_since) {
        return;
    }
    const auto add = [&](std::uint64_t of, const check::release_graph::release& r) {
        // A block that has run out of times has none of its own there.
        const bool has_serial = l_.checks->block_of(r.block_base >> check::serial_time_bits) == of;
        if (!r.of_inits && !r.within_block && has_serial) {
            clock_.view.known.add(static_cast<stamp>(r.block_base << check::time_shift));
        }
    };
    add(block, path.what);
    check::release_graph::each_found(acquisition, check::known_blocks::size, [&](const auto& of, const auto& r) {
        if (&of != &record) {
            add(of.block, r);
        }
    });
}

bool word_access::is_released(std::uint64_t block, event e) const {
    check::release_graph& graph = l_.checks->graph;
    if (b_.checks->record == nullptr) {
        return false;
    }
    if (is_released_directly(block, e)) {
        return true;
    }
    if (block == b_.linear) {
        e.time += clock_.view.global_offset;
    }
    const std::lock_guard lock(graph.mutex());
    const bool is_ordered = graph.is_ordered(block, e, *b_.checks->record, b_.checks->paths,
                                             [&](const event& by) { return knows_acquisition(by); });
    if (is_ordered && block != b_.linear) {
        note_known(block);
    }
    return is_ordered;
}

bool word_access::follows_write(stamp s) const {
    std::uint64_t block = 0;
    event e;
    if (is_known_of_others(s) || !event_of(s, block, e)) {
        return true;
    }
    if (block == b_.linear) {
        const bool by_row = (s & check::several_lanes) != 0 && e.warp == w_->index;
        if (by_row ? row_element(s) == 0 || follows_row(s, e) : is_known(e)) {
            return true;
        }
    }
    return is_released_directly(block, e) || has_enough(s) || is_released(block, e);
}

bool word_access::follows_read(stamp s) const {
    std::uint64_t block = 0;
    event e;
    if (is_known_of_others(s) || !event_of(s, block, e)) {
        return true;
    }
    const bool own = block == b_.linear;
    switch (check::spread_of(s)) {
    case check::spread::thread:
        if (own && is_known(e)) {
            return true;
        }
        break;
    case check::spread::lanes:
        if (own && (e.warp == w_->index ? follows_row(s, e) : is_known(e))) {
            return true;
        }
        break;
    case check::spread::warps:
        if (own && (e.time < clock_.view.base ||
                    (clock_.has_partial_order(w_->index) && clock_.has_synchronized_since(e.time, w_->index, lane_)))) {
            return true;
        }
        break;
    case check::spread::blocks:
        if (own) {
            // This block was the last to read; when the others did is not known. If it has ever waited for others, they
            // count as ordered.
            return has_enough(s) || has_acquired();
        }
        break;
    }
    return is_released_directly(block, e) || has_enough(s) || is_released(block, e);
}

bool word_access::has_acquired_since(std::uint64_t time) const {
    check::release_graph& graph = l_.checks->graph;
    if (b_.checks->record == nullptr) {
        return false;
    }
    const std::lock_guard lock(graph.mutex());
    const auto& list = b_.checks->record->acquisitions;
    return !list.empty() && list.back().time >= time + clock_.view.global_offset;
}

// Its block's own record changes only while its block runs: no mutex.
bool word_access::has_acquired_itself_since(std::uint64_t time) const {
    const check::release_graph::block_record* const record = b_.checks->record;
    const std::uint32_t last = record == nullptr ? 0 : record->last_of(w_->index, lane_);
    return last != 0 && record->acquisitions[last - 1].time > time + clock_.view.global_offset;
}

bool word_access::has_acquired() const {
    if (b_.checks->record == nullptr) {
        return false;
    }
    const std::lock_guard lock(l_.checks->graph.mutex());
    return !b_.checks->record->acquisitions.empty();
}

bool word_access::has_enough(stamp s) const {
    std::uint64_t times = 0;
    for (const reach between : {reach::block, reach::warp, reach::lane}) {
        times += l_.checks->times(alike_of(check::race, kind(), false, own_place(), place_before(s), between));
    }
    return times > most_searched;
}

} // namespace softgpu::machine
