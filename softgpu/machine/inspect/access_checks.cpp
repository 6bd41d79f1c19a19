// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/access_checks.hpp"

#include <algorithm>
#include <bit>

#include "softgpu/check/shadow/under_way.hpp"
#include "softgpu/machine/inspect/block_checks.hpp"
#include "softgpu/machine/inspect/races/operation_races.hpp"
#include "softgpu/machine/inspect/races/word_races.hpp"
#include "softgpu/machine/inspect/uninitialized.hpp"
#include "softgpu/machine/state/launch_state.hpp"
#include "softgpu/memory/peers.hpp"

namespace softgpu::machine {

using check::stamp;
using check::strength;

namespace {

bool bit(const std::uint8_t* valid, std::uint64_t k) {
    return (__atomic_load_n(valid + k / 8, __ATOMIC_RELAXED) >> (k & 7) & 1) != 0;
}

// Applies body(byte, mask) to the parts of `valid` that hold these bits, while it is true.
template <class Body>
bool each_part(std::uint8_t* valid, std::uint64_t begin, unsigned bytes, Body&& body) {
    for (std::uint64_t k = begin, end = begin + bytes; k < end;) {
        const std::uint64_t next = std::min(end, (k / 8 + 1) * 8);
        if (!body(valid + k / 8, static_cast<std::uint8_t>(((1u << (next - k)) - 1) << (k & 7)))) {
            return false;
        }
        k = next;
    }
    return true;
}

bool are_set(std::uint8_t* valid, std::uint64_t begin, unsigned bytes) {
    return each_part(valid, begin, bytes, [](const std::uint8_t* at, std::uint8_t mask) {
        return (__atomic_load_n(at, __ATOMIC_RELAXED) & mask) == mask;
    });
}

// Others may set bits beside them.
void set_bits(std::uint8_t* valid, std::uint64_t begin, unsigned bytes) {
    each_part(valid, begin, bytes, [](std::uint8_t* at, std::uint8_t mask) {
        if ((__atomic_load_n(at, __ATOMIC_RELAXED) & mask) != mask) {
            __atomic_fetch_or(at, mask, __ATOMIC_RELAXED);
        }
        return true;
    });
}

// `begin`: the lane's first byte in `valid`.
void look_at_read(const access_site& site, warp* w, access_space space, const std::uint8_t* valid, std::uint64_t begin,
                  std::uint64_t at, unsigned lane) {
    // An element is at fault where none of its bytes was written: padding of structures is copied along.
    for (unsigned e = 0; e < site.elements; ++e) {
        bool any = (site.used >> e & 1) == 0;
        for (unsigned k = e * site.element_bytes; k < (e + 1u) * site.element_bytes; ++k) {
            any = any || ((site.used_bytes >> k & 1) != 0 && bit(valid, begin + k));
        }
        if (any) {
            continue;
        }
        launch_state& l = *w->host->launch;
        const std::uint64_t here = at + e * site.element_bytes;
        if (space == access_space::global && !memory::peers::find_reachable(*l.memory, here, site.element_bytes)) {
            return; // that is found elsewhere
        }
        if (space == access_space::shared && site.verb == access_verb::load) {
            hold_uninitialized(site, w, lane, e, here);
            continue;
        }
        report_uninitialized(site, w, lane, space, here);
        return;
    }
}

void look_at_init(const access_site& site, warp* w, access_space space, std::uint8_t* valid, std::uint64_t begin,
                  std::uint64_t at, unsigned lane) {
    if (site.verb != access_verb::store && !are_set(valid, begin, site.bytes)) {
        look_at_read(site, w, space, valid, begin, at, lane);
    }
    if (site.verb != access_verb::load) {
        set_bits(valid, begin, site.bytes);
    }
}

} // namespace

void check_access(const instruction* i, std::byte* frame, warp* w, const std::uint64_t* at, lane_mask mask,
                  access_space space) {
    launch_state& l = *w->host->launch;
    block& b = *w->owner;
    check::block_view& v = *b.view;
    const access_site& site = *i->access;
    const check::shadow_view& shadow = *l.shadow;
    const std::uint64_t size = space == access_space::global   ? shadow.bytes
                               : space == access_space::shared ? l.shared_bytes
                                                               : l.local_bytes;
    const std::uint64_t origin = space == access_space::global ? shadow.arena : 0;
    std::uint8_t* const valid = space == access_space::global   ? shadow.valid
                                : space == access_space::shared ? v.shared_valid
                                                                : v.local_valid;
    stamp* writes = nullptr;
    stamp* reads = nullptr;
    if (space == access_space::global && v.stamps_global) {
        writes = shadow.writes;
        reads = shadow.reads;
    } else if (space == access_space::shared) {
        writes = v.shared_writes;
        reads = v.shared_reads;
    }
    v.warps[w->index].touched = v.time;
    word_access word(i, frame, w, space);
    each_lane(mask, [&](unsigned lane) {
        const std::uint64_t begin = at[lane] - origin;
        if ((begin & (std::bit_floor(unsigned{site.bytes}) - 1)) != 0 || begin > size || site.bytes > size - begin) {
            if (space == access_space::global && site.strength != strength::plain && site.verb != access_verb::store) {
                meet_host(l);
            }
            return; // the access itself will say what is wrong
        }
        // What is under way is found below; what a copy brings is written when it is there.
        const bool under_way = writes != nullptr && space == access_space::shared &&
                               check::is_under_way(writes[begin / 4], b.checks->started);
        if (valid != nullptr && !under_way && site.from == nullptr) {
            const std::uint64_t first =
                space == access_space::local ? (std::uint64_t{w->index} * lanes + lane) * size + begin : begin;
            look_at_init(site, w, space, valid, first, at[lane], lane);
        }
        if (writes == nullptr) {
            return;
        }
        if (site.bytes < 4) {
            const unsigned byte_mask = ((1u << site.bytes) - 1) << (begin & 3);
            word.look(writes[begin / 4], reads[begin / 4], at[lane], lane, 0, byte_mask);
            return;
        }
        for (unsigned k = 0; k < site.bytes; k += 4) {
            word.look(writes[(begin + k) / 4], reads[(begin + k) / 4], at[lane] + k, lane, k, 15);
        }
    });
}

} // namespace softgpu::machine
