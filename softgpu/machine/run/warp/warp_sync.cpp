// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/warp/warp_sync.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

#include "softgpu/machine/run/warp/divergence.hpp"

namespace softgpu::machine {

namespace {

// `width` bytes a lane, or one mask where it is 0.
void copy_lanes(std::byte* to, const std::byte* from, place at, unsigned width, lane_mask of) {
    if (at == nowhere || (at & in_constants) != 0) {
        return;
    }
    if (width == 0) {
        lane_mask theirs;
        lane_mask ours;
        std::memcpy(&theirs, from + at, 4);
        std::memcpy(&ours, to + at, 4);
        ours = (theirs & of) | (ours & ~of);
        std::memcpy(to + at, &ours, 4);
        return;
    }
    for (; of != 0; of &= of - 1) {
        const std::size_t lane = at + static_cast<std::size_t>(std::countr_zero(of)) * width;
        std::memcpy(to + lane, from + lane, width);
    }
}

template <class Body>
void each_other_frame(warp* w, lane_mask gathered, Body&& body) {
    for (std::uint32_t k = 0; k < w->parked; ++k) {
        const split& s = w->splits[k];
        if (s.why == waiting::others && (s.mask & ~gathered) == 0 && s.frame != w->frame) {
            body(s);
        }
    }
}

} // namespace

lane_mask gather_lanes(warp* w, lane_mask members, const instruction* at, bool same_place, const instruction** next) {
    const lane_mask wanted = members & w->live;
    lane_mask here = w->mask;
    for (std::uint32_t k = 0; k < w->parked; ++k) {
        const split& s = w->splits[k];
        if (s.why == waiting::others && s.members == members && (!same_place || s.pc == at)) {
            here |= s.mask;
        }
    }
    if ((wanted & ~here) == 0) {
        return here;
    }
    *next = wait_for_others(w, members, at);
    return 0;
}

lane_mask members_of_first(warp* w, const std::uint32_t* named, const instruction* at) {
    const lane_mask first = named[std::countr_zero(w->mask)];
    lane_mask all = 0;
    lane_mask others = 0;
    for (lane_mask m = w->mask; m != 0; m &= m - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(m));
        all |= named[lane];
        others |= named[lane] == first ? 0 : m & ~(m - 1);
    }
    if (others == 0 || (all & w->live & ~w->mask) == 0) {
        return all;
    }
    part(w, at, others);
    return first;
}

void borrow_registers(warp* w, const instruction* i, lane_mask gathered) {
    each_other_frame(w, gathered, [&](const split& s) {
        copy_lanes(w->frame, s.frame, i->a, i->width[1], s.mask);
        copy_lanes(w->frame, s.frame, i->b, i->width[2], s.mask);
        copy_lanes(w->frame, s.frame, i->c, i->width[3], s.mask);
    });
}

void hand_back_registers(warp* w, const instruction* i, lane_mask gathered) {
    each_other_frame(w, gathered, [&](const split& s) {
        copy_lanes(s.frame, w->frame, i->d, i->width[0], s.mask);
        copy_lanes(s.frame, w->frame, i->e, 0, s.mask);
    });
}

void borrow_list(warp* w, const instruction* i, lane_mask gathered) {
    each_other_frame(w, gathered, [&](const split& s) {
        for (unsigned k = 0; k < i->width[3]; ++k) {
            copy_lanes(w->frame, s.frame, i->places[k], i->width[0], s.mask);
        }
    });
}

void hand_back_list(warp* w, const instruction* i, lane_mask gathered) {
    each_other_frame(w, gathered, [&](const split& s) {
        for (unsigned k = 0; k < i->width[3]; ++k) {
            copy_lanes(s.frame, w->frame, i->places[k], i->width[0], s.mask);
        }
    });
}

void release_lanes(warp* w, lane_mask gathered, const instruction* resume) {
    for (std::uint32_t k = 0; k < w->parked; ++k) {
        split& s = w->splits[k];
        if (s.why == waiting::others && (s.mask & gathered) != 0 && (s.mask & ~gathered) == 0) {
            s.why = waiting::no;
            s.pc = resume != nullptr ? resume : s.pc + 1;
        }
    }
}

} // namespace softgpu::machine
