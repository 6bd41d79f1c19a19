// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/warp/warp_sync_checks.hpp"

#include <array>
#include <bit>

#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/inspect/barrier_checks.hpp"
#include "softgpu/machine/inspect/block_checks.hpp"
#include "softgpu/machine/inspect/report.hpp"
#include "softgpu/machine/run/warp/warp_sync.hpp"

namespace softgpu::machine {

namespace {

const std::uint32_t* words(std::byte* frame, const warp* w, place p) {
    return reinterpret_cast<const std::uint32_t*>(lanes_at(frame, w, p));
}

// Findings of the sync check.
void mismatch(const instruction* i, warp* w, unsigned lane, const char* kind, std::string message,
              const access_facts* other = nullptr) {
    launch_state& l = *w->host->launch;
    if (!l.checks->owner.has(check::sync) || count_again(l, check::sync, kind, false, place_of(w, i),
                                                         other != nullptr ? other->where : instruction_place{})) {
        return;
    }
    report(l, {.check = check::sync, .kind = kind, .message = std::move(message)},
           access_by_opcode(place_of(w, i), w, lane), other);
}

// The lanes of the running split and of those that wait here, if all that live of the members are there; 0: not yet.
lane_mask gathered(const warp* w, lane_mask members, const instruction* at, bool same_place) {
    lane_mask here = w->mask;
    if (((members & w->live) & ~here) == 0) {
        return here;
    }
    for (std::uint32_t k = 0; k < w->parked; ++k) {
        const split& s = w->splits[k];
        if (s.why == waiting::others && s.members == members && (!same_place || s.pc == at)) {
            here |= s.mask;
        }
    }
    return ((members & w->live) & ~here) == 0 ? here : 0;
}

// The whole warp is here, and every lane names all: nothing can be missing.
bool is_whole(const warp* w, const std::uint32_t* members) {
    lane_mask by_all = w->mask;
    for (unsigned lane = 0; lane < lanes; ++lane) {
        by_all &= members[lane];
    }
    return by_all == all_lanes;
}

// Of each lane in `here`, a word of its own call's frame.
std::array<std::uint32_t, lanes> words_of(std::byte* frame, const warp* w, place p, lane_mask here) {
    std::array<std::uint32_t, lanes> found{};
    const auto take = [&](std::byte* from, lane_mask of) {
        each_lane(of, [&](unsigned lane) { found[lane] = words(from, w, p)[lane]; });
    };
    take(frame, here & w->mask);
    for (std::uint32_t k = 0; k < w->parked; ++k) {
        const split& s = w->splits[k];
        if (s.why == waiting::others) {
            take(s.frame, here & s.mask);
        }
    }
    return found;
}

// A shuffle's lanes read from lanes that are there.
void check_shuffle(const instruction* i, std::byte* frame, warp* w, const std::array<std::uint32_t, lanes>& members,
                   lane_mask here) {
    const auto by = words_of(frame, w, i->b, here), limits = words_of(frame, w, i->c, here);
    each_lane(here, [&](unsigned lane) {
        const unsigned segment = limits[lane] >> 8 & 31;
        const unsigned clamp = limits[lane] & 31;
        const int distance = static_cast<int>(by[lane] & 31);
        const int own = static_cast<int>(lane);
        const int least = own & static_cast<int>(segment);
        const int most = least | static_cast<int>(clamp & ~segment);
        int from = own;
        bool inside = true;
        switch (static_cast<warp_sync>(i->more)) {
        case warp_sync::shfl_up:
            from = own - distance;
            inside = from >= most;
            break;
        case warp_sync::shfl_down:
            from = own + distance;
            inside = from <= most;
            break;
        case warp_sync::shfl_bfly:
            from = own ^ distance;
            inside = from <= most;
            break;
        default: from = least | (distance & ~static_cast<int>(segment)); inside = from <= most;
        }
        if (!inside) {
            return; // it gets its own value
        }
        const lane_mask source = 1u << (from & 31);
        if ((here & source) == 0 || (members[lane] & source) == 0) {
            mismatch(i, w, lane, "shuffle from an absent lane",
                     "lane " + std::to_string(lane) + " reads from lane " + std::to_string(from) +
                         ((members[lane] & source) == 0
                              ? ", which is not in the member mask " + mask_text(members[lane])
                          : (w->live & source) == 0 ? ", which has ended"
                                                    : ", which does not take part"));
        }
    });
}

} // namespace

const instruction* check_warp_sync(const instruction* i, std::byte* frame, warp* w) {
    const std::uint32_t* const members = words(frame, w, i->e);
    check::block_clock& clock = w->owner->checks->clock;
    if (is_whole(w, members)) {
        w->passed = 0;
        clock.synchronize_warp(w->index, all_lanes, true);
        return i + 1;
    }
    static_cast<void>(members_of_first(w, members, i)); // who stays here looks at the meeting, the others come again
    const lane_mask first = members[std::countr_zero(w->mask)];
    lane_mask differ = 0;
    each_lane(w->mask, [&](unsigned l) { differ |= members[l] ^ first; });
    const bool same_place = static_cast<warp_sync>(i->more) != warp_sync::barrier;
    w->passed &= ~w->mask;
    const lane_mask here = gathered(w, first, i + 1, same_place);
    each_lane(w->mask, [&](unsigned l) {
        if ((members[l] >> l & 1) == 0) {
            mismatch(i, w, l, "lane outside its own mask",
                     "lane " + std::to_string(l) + " executes this with the member mask " + mask_text(members[l]) +
                         ", which does not name it");
        }
    });
    if (here == 0) {
        // Others that wait with another mask but name these lanes will wait in vain.
        for (std::uint32_t k = 0; k < w->parked; ++k) {
            const split& s = w->splits[k];
            if (s.why == waiting::others && s.members != first && (s.members & w->mask) != 0 && (first & s.mask) != 0) {
                const access_facts waits{"waits",
                                         {frame_of(s.frame)->code->source, s.pc->source},
                                         w->owner->linear,
                                         thread_of(w, static_cast<unsigned>(std::countr_zero(s.mask))),
                                         {}};
                mismatch(i, w, static_cast<unsigned>(std::countr_zero(w->mask)), mismatched_masks,
                         "lanes " + mask_text(w->mask) + " come with the member mask " + mask_text(first) + ", lanes " +
                             mask_text(s.mask) + " wait with " + mask_text(s.members),
                         &waits);
            }
        }
        return i + 1;
    }
    std::array<std::uint32_t, lanes> named; // those that wait here name the same lanes as the first one
    named.fill(first);
    each_lane(w->mask, [&](unsigned l) { named[l] = members[l]; });
    if (static_cast<warp_sync>(i->more) >= warp_sync::shfl_up) {
        check_shuffle(i, frame, w, named, here);
    }
    if (differ == 0) {
        const lane_mask together = here & first;
        clock.synchronize_warp(w->index, together, (w->live & ~together) == 0);
        return i + 1;
    }
    // Each group with a mask of its own.
    lane_mask left = here;
    while (left != 0) {
        const lane_mask mask = named[static_cast<unsigned>(std::countr_zero(left))];
        lane_mask group = 0;
        each_lane(left, [&](unsigned l) { group |= (named[l] == mask ? 1u : 0u) << l; });
        clock.synchronize_warp(w->index, group & mask, false);
        left &= ~group;
    }
    return i + 1;
}

} // namespace softgpu::machine
