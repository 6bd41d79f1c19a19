// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/async/bulk_checks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "softgpu/check/shadow/under_way.hpp"
#include "softgpu/machine/inspect/access_checks.hpp"
#include "softgpu/machine/inspect/async/copy_checks.hpp"
#include "softgpu/machine/inspect/block_checks.hpp"
#include "softgpu/machine/inspect/races/distributed_races.hpp"
#include "softgpu/machine/inspect/report.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

using check::stamp;

namespace {

constexpr std::uint32_t bulk_piece = 16;

// Runs body(site, offset) for pieces of the range that are aligned to their size, up to 16 bytes each.
template <class Body>
void each_bulk_piece(const access_site& site, std::uint64_t at, std::uint32_t bytes, Body&& body) {
    access_site part = site;
    part.elements = 1;
    for (std::uint32_t k = 0; k < bytes;) {
        const std::uint64_t aligned = (at + k) % bulk_piece == 0 ? bulk_piece : (at + k) & (~(at + k) + 1);
        const auto size = static_cast<std::uint32_t>(
            std::min<std::uint64_t>({aligned, bulk_piece, std::bit_floor(std::uint64_t{bytes - k})}));
        part.bytes = static_cast<std::uint8_t>(size);
        part.element_bytes = part.bytes;
        body(part, at + k);
        k += size;
    }
}

void look(const instruction* i, warp* w, unsigned lane, const access_site& site, std::uint64_t at, std::uint32_t bytes,
          access_space space) {
    instruction part = *i;
    each_bulk_piece(site, at, bytes, [&](const access_site& one, std::uint64_t where) {
        std::uint64_t of_lane[lanes] = {};
        of_lane[lane] = where;
        part.access = &one;
        check_access(&part, w->frame, w, of_lane, 1u << lane, space);
    });
}

stamp who(const access_site& site, const warp* w, unsigned lane) {
    return static_cast<stamp>(site.id) << check::site_shift | static_cast<stamp>(w->index) << check::warp_shift |
           static_cast<stamp>(lane) << check::lane_shift | check::bytes_bits;
}

template <class Body>
void each_marked_word(stamp* stamps, std::uint32_t at, std::uint32_t bytes, Body&& body) {
    for (std::uint32_t k = at / 4; stamps != nullptr && k < (at + bytes + 3) / 4; ++k) {
        body(stamps[k], k);
    }
}

void set_valid(check::block_view& v, std::uint32_t at, std::uint32_t bytes) {
    for (std::uint32_t k = at; k < at + bytes; ++k) {
        v.shared_valid[k / 8] |= static_cast<std::uint8_t>(1u << (k & 7));
    }
}

// The threads' writes that a copy is about to read.
void check_proxy(const instruction* i, const warp* w, unsigned lane, const access_site& site, std::uint32_t from,
                 std::uint32_t bytes) {
    const block& b = *w->owner;
    block_checks& known = *b.checks;
    launch_state& l = *w->host->launch;
    each_marked_word(b.view->shared_writes, from, bytes, [&](stamp s, std::uint32_t word) {
        const std::uint64_t time = check::time_of(s);
        if (s == 0 || time < known.started || time > b.view->time || time < known.proxy_fence_base) {
            return;
        }
        const unsigned writer = check::warp_of(s);
        const unsigned first = (s & check::several_lanes) != 0 ? 0 : check::lane_of(s);
        const unsigned last = (s & check::several_lanes) != 0 ? lanes - 1 : check::lane_of(s);
        for (unsigned k = first; k <= last; ++k) {
            const std::size_t thread = std::size_t{writer} * lanes + k;
            if (thread < known.proxy_fences.size() && time < known.proxy_fences[thread]) {
                return;
            }
        }
        const access_site* const written = known.sites->by_id[check::site_of(s)].load(std::memory_order_acquire);
        if (written == nullptr || (written->from != nullptr && written->verb == access_verb::store)) {
            return; // not a write of a thread
        }
        constexpr const char* kind = "race in shared memory";
        const instruction_place there{written->function, written->source};
        if (count_again(l, check::race, kind, false, place_of(w, i), there)) {
            return;
        }
        const access_facts before{access_text(*written), there, b.linear, writer * lanes + check::lane_of(s), {}};
        report(l,
               {.check = check::race,
                .kind = kind,
                .message = "a bulk copy reads what threads have written, without fence.proxy.async between",
                .at = place_in_shared(l, word * 4)},
               {access_text(site), place_of(w, i), b.linear, thread_of(w, lane), {}}, &before);
    });
}

// Nothing else notes the site of a copy.
bool looks_at_bulk(const launch_state& l) { return l.check_races || l.check_init; }

} // namespace

const instruction* note_bulk_site(const instruction* i, std::byte* /*frame*/, warp* w) {
    w->owner->checks->bulk_site = i->access;
    return i + 1;
}

void check_incoming(const instruction* i, warp* w, unsigned lane, block& target, incoming_copy& what) {
    if (!looks_at_bulk(*w->host->launch)) {
        return;
    }
    const access_site& site = *w->owner->checks->bulk_site;
    check::block_view& v = *target.view;
    block_checks& known = *target.checks;
    if (site.from != nullptr) {
        if (what.from != 0) {
            look(i, w, lane, *site.from, what.from, what.bytes, access_space::global);
        }
        for (const bulk_row& r : what.rows) {
            look(i, w, lane, *site.from, r.at, r.bytes, access_space::global);
        }
    }
    const bool updates = site.verb == access_verb::update;
    v.shared_stored = v.time;
    if (&target != w->owner) {
        each_bulk_piece(site, what.to, what.bytes,
                        [&](const access_site& one, std::uint64_t at) { check_distributed(one, w, target, lane, at); });
    } else if (v.shared_writes != nullptr || updates) {
        look(i, w, lane, site, what.to, what.bytes, access_space::shared);
    }
    what.is_marked = !updates;
    if (what.is_marked) {
        ++known.copies_under_way;
        v.has_lost = true; // not in order with any read, whatever barriers came between
        each_marked_word(v.shared_writes, what.to, what.bytes,
                         [&](stamp& s, std::uint32_t) { s = check::under_way(known.started) | who(site, w, lane); });
    }
}

void land_incoming(block& target, const incoming_copy& what) {
    if (!looks_at_bulk(*target.launch)) {
        return;
    }
    check::block_view& v = *target.view;
    block_checks& known = *target.checks;
    const launch_state& l = *target.launch;
    if (what.is_marked) {
        known.copies_under_way -= known.copies_under_way != 0 ? 1 : 0;
        v.has_lost = known.copies_under_way != 0 || !known.lost.empty();
    }
    if (l.check_init && v.shared_valid != nullptr) {
        if (what.from != 0) {
            copy_valid_bytes(l, v, what.from, what.to, what.bytes);
        } else {
            set_valid(v, what.to, what.bytes);
        }
    }
    // From here on they are in order with who waits.
    each_marked_word(v.shared_writes, what.to, what.bytes, [&](stamp& s, std::uint32_t) {
        s = !what.is_marked || check::is_under_way(s, known.started) ? 0 : s;
    });
    if (!known.remote_writes.empty()) {
        each_marked_word(known.remote_writes.data(), what.to, what.bytes, [](stamp& s, std::uint32_t) { s = 0; });
    }
}

void check_cluster_source(const instruction* i, warp* w, unsigned lane, std::uint32_t from, std::uint32_t bytes) {
    if (!looks_at_bulk(*w->host->launch)) {
        return;
    }
    const access_site& site = *w->owner->checks->bulk_site;
    look(i, w, lane, *site.from, from, bytes, access_space::shared);
    check_proxy(i, w, lane, *site.from, from, bytes);
}

void check_zeros(const instruction* i, warp* w, unsigned lane, std::uint32_t at, std::uint32_t bytes) {
    if (looks_at_bulk(*w->host->launch)) {
        look(i, w, lane, *w->owner->checks->bulk_site, at, bytes, access_space::shared);
    }
}

void check_outgoing(const instruction* i, warp* w, unsigned lane, const outgoing_copy& what) {
    if (!looks_at_bulk(*w->host->launch)) {
        return;
    }
    const access_site& site = *w->owner->checks->bulk_site;
    block_checks& known = *w->owner->checks;
    look(i, w, lane, site, what.from, what.bytes, access_space::shared);
    check_proxy(i, w, lane, site, what.from, what.bytes);
    for (const bulk_row& r : what.rows) {
        look(i, w, lane, *site.from, r.at, r.bytes, access_space::global);
    }
    each_marked_word(w->owner->view->shared_reads, what.from, what.bytes,
                     [&](stamp& s, std::uint32_t) { s = check::under_way(known.started) | who(site, w, lane); });
}

void finish_outgoing_check(const warp* w, const outgoing_copy& what) {
    if (!looks_at_bulk(*w->host->launch)) {
        return;
    }
    check::block_view& v = *w->owner->view;
    const block_checks& known = *w->owner->checks;
    constexpr stamp by = check::lane_bits | check::warp_bits;
    const stamp mine = static_cast<stamp>(w->index) << check::warp_shift | static_cast<stamp>(what.lane)
                                                                               << check::lane_shift;
    v.warps[w->index].touched = v.time;
    each_marked_word(v.shared_reads, what.from, what.bytes, [&](stamp& s, std::uint32_t) {
        if (check::is_under_way(s, known.started) && ((s ^ mine) & by) == 0) {
            constexpr stamp site_bits = static_cast<stamp>(check::most_sites) << check::site_shift;
            s = static_cast<stamp>(v.time << check::time_shift) | (s & site_bits) | mine | check::bytes_bits;
        }
    });
}

void note_proxy_fence(const warp* w) {
    block_checks& known = *w->owner->checks;
    const std::uint64_t time = known.clock.close(w->index);
    known.proxy_fences.resize(std::size_t{w->owner->warps} * lanes, 0);
    each_lane(w->mask, [&](unsigned l) { known.proxy_fences[w->index * lanes + l] = time; });
    known.proxy_fence_base = std::max(known.proxy_fence_base, w->owner->view->base);
}

} // namespace softgpu::machine
