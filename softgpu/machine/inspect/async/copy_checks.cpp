// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/async/copy_checks.hpp"

#include <bit>
#include <cstring>

#include "softgpu/check/shadow/under_way.hpp"
#include "softgpu/machine/inspect/access_checks.hpp"
#include "softgpu/machine/inspect/block_checks.hpp"
#include "softgpu/machine/inspect/races/word_races.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

using check::stamp;

namespace {

// The bits of up to 16 bytes from `begin` on. There are 8 bytes and more behind the last bit of each kind of memory.
std::uint64_t bits_of(const std::uint8_t* valid, std::uint64_t begin, unsigned bytes) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, valid + begin / 8, sizeof(bits));
    return bits >> (begin & 7) & ((1ull << bytes) - 1);
}

// What is unwritten in the source is so in the copy; but not where all of it is: that was found when the copy began.
void copy_valid(const launch_state& l, const check::block_view& v, const pending_copy& c) {
    const check::shadow_view& shadow = *l.shadow;
    std::uint64_t bits = (1ull << c.bytes) - 1;
    const std::uint64_t begin = c.from - shadow.arena;
    if (c.filled != 0 && shadow.valid != nullptr && begin < shadow.bytes) {
        const std::uint64_t known = bits_of(shadow.valid, begin, c.filled);
        if (known != 0) {
            bits = (bits >> c.filled << c.filled) | known;
        }
    }
    for (unsigned k = 0; k < c.bytes; k += 4) { // nobody else looks at the block's bits now
        const std::uint64_t to = std::uint64_t{c.to} + k;
        const auto mask = static_cast<std::uint8_t>(15u << (to & 7));
        std::uint8_t& byte = v.shared_valid[to / 8];
        byte = static_cast<std::uint8_t>((byte & ~mask) | (((bits >> k & 15u) << (to & 7)) & mask));
    }
}

// The copy may have read its source as late as now.
void read_source(std::byte* frame, warp* w, const access_site& site, const pending_copy& c) {
    launch_state& l = *w->host->launch;
    const check::block_view& v = *w->owner->view;
    const check::shadow_view& shadow = *l.shadow;
    const std::uint64_t begin = c.from - shadow.arena;
    if (!v.stamps_global || begin > shadow.bytes || c.filled > shadow.bytes - begin) {
        return;
    }
    instruction read;
    read.source = site.source;
    read.access = &site;
    word_access word(&read, frame, w, access_space::global);
    constexpr stamp but_time = (stamp{1} << check::time_shift) - 1;
    const stamp mine = static_cast<stamp>((v.time + v.global_offset) << check::time_shift) |
                       static_cast<stamp>(site.id) << check::site_shift |
                       static_cast<stamp>(w->index) << check::warp_shift |
                       static_cast<stamp>(c.lane) << check::lane_shift | check::bytes_bits;
    for (unsigned k = 0; k + 4 <= c.filled; k += 4) {
        stamp& written = shadow.writes[(begin + k) / 4];
        stamp& read_last = shadow.reads[(begin + k) / 4];
        const stamp last = __atomic_load_n(&read_last, __ATOMIC_RELAXED);
        if (__atomic_load_n(&written, __ATOMIC_RELAXED) >= v.launch_floor) {
            word.look(written, read_last, c.from + k, c.lane, k, 15);
        } else if (last >= v.own_floor && ((last ^ mine) & but_time) == 0) {
            __atomic_store_n(&read_last, mine, __ATOMIC_RELAXED); // nobody else has read it since
        }
    }
}

void land(std::byte* frame, warp* w, const pending_copy& c) {
    block& b = *w->owner;
    check::block_view& v = *b.view;
    launch_state& l = *w->host->launch;
    block_checks& known = *b.checks;
    known.copies_under_way -= known.copies_under_way != 0 ? 1 : 0;
    v.has_lost = known.copies_under_way != 0 || !known.lost.empty();
    if (l.check_init && v.shared_valid != nullptr) {
        copy_valid(l, v, c);
    }
    if (v.shared_writes == nullptr) {
        return;
    }
    constexpr stamp who = check::lane_bits | check::warp_bits;
    const stamp mine = static_cast<stamp>(v.time << check::time_shift) |
                       static_cast<stamp>(w->index) << check::warp_shift |
                       static_cast<stamp>(c.lane) << check::lane_shift | check::bytes_bits;
    const access_site* site = nullptr;
    for (unsigned k = 0; k < c.bytes; k += 4) {
        stamp& s = v.shared_writes[(c.to + k) / 4];
        if (check::is_under_way(s, known.started) &&
            ((s ^ mine) & who) == 0) { // else somebody has written it meanwhile
            site = known.sites->by_id[check::site_of(s)].load(std::memory_order_acquire);
            s = mine | static_cast<stamp>(check::site_of(s)) << check::site_shift;
        }
    }
    v.shared_stored = v.time;
    v.warps[w->index].touched = v.time;
    if (site != nullptr && site->from != nullptr && c.filled != 0) {
        read_source(frame, w, *site->from, c);
    }
}

} // namespace

void begin_copies(const instruction* i, warp* w, const std::uint64_t* to, lane_mask by) {
    launch_state& l = *w->host->launch;
    check::block_view& v = *w->owner->view;
    block_checks& known = *w->owner->checks;
    const unsigned bytes = i->access->bytes;
    constexpr stamp but_time = (stamp{1} << check::time_shift) - 1;
    for (; by != 0; by &= by - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(by));
        if ((to[lane] & (bytes - 1)) != 0 || to[lane] > l.shared_bytes || bytes > l.shared_bytes - to[lane]) {
            return; // the copy itself will say what is wrong
        }
        ++known.copies_under_way;
        v.has_lost = true; // not in order with any read, whatever barriers came between
        for (unsigned k = 0; v.shared_writes != nullptr && k < bytes; k += 4) {
            stamp& s = v.shared_writes[(to[lane] + k) / 4];
            s = (s & but_time) | check::under_way(known.started);
        }
    }
}

void inspect_short_source(const instruction* i, std::byte* frame, warp* w, const std::uint64_t* from, unsigned lane,
                          unsigned filled) {
    access_site site = *i->access->from;
    // Whole words; bytes are not told apart where a word is not read to its end.
    site.bytes = static_cast<std::uint8_t>(filled >= 4 ? filled & ~3u : std::bit_floor(filled));
    site.element_bytes = site.bytes;
    instruction read = *i;
    read.access = &site;
    check_access(&read, frame, w, from, lane_mask{1} << lane, access_space::global);
}

void land_copies(std::byte* frame, warp* w, lane_mask by) {
    for (const pending_copy& c : w->copies) {
        if ((by >> c.lane & 1u) != 0) {
            land(frame, w, c);
        }
    }
}

void copy_valid_bytes(const launch_state& l, const check::block_view& v, std::uint64_t from, std::uint32_t to,
                      std::uint32_t bytes) {
    constexpr std::uint32_t piece = 16;
    for (std::uint32_t k = 0; k < bytes; k += piece) {
        pending_copy c;
        c.from = from + k;
        c.to = to + k;
        c.bytes = piece;
        c.filled = piece;
        copy_valid(l, v, c);
    }
}

const instruction* check_copy_wait(const instruction* i, std::byte* frame, warp* w) {
    if (i->a == nowhere) {
        land_copies(frame, w, w->mask);
        return i + 1;
    }
    const std::byte* const groups = lanes_at(frame, w, i->a);
    std::uint32_t keep = 0;
    std::memcpy(&keep, groups + sizeof(keep) * static_cast<unsigned>(std::countr_zero(w->mask)), sizeof(keep));
    for (const pending_copy& c : w->copies) {
        if ((w->mask >> c.lane & 1u) != 0 && std::uint64_t{c.group} + keep < w->copy_groups[c.lane]) {
            land(frame, w, c);
        }
    }
    return i + 1;
}

} // namespace softgpu::machine
