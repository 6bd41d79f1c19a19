// SPDX-License-Identifier: MIT
#include "softgpu/machine/splits.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace softgpu::machine {

namespace {

std::uint32_t count_lanes(lane_mask m) { return m == all_lanes ? lanes : static_cast<std::uint32_t>(std::popcount(m)); }

std::uint16_t free_join(warp* w) {
    for (std::uint16_t k = 1; k < w->joins.size(); ++k) {
        if (!w->joins[k].used) {
            w->joins_used = std::max(w->joins_used, k);
            return k;
        }
    }
    return 0; // cannot be: nested joins lose a lane each
}

void load(warp* w, const split& s) {
    w->mask = s.mask;
    w->join_index = s.join;
    w->meeting = w->joins[s.join].pc;
    w->pc = s.pc;
    w->running = true;
}

split running(const warp* w, const instruction* at) {
    return {at, w->mask, w->join_index, waiting::no, 0, 0};
}

void park(warp* w, const split& s) { w->splits[w->parked++] = s; }

void unpark(warp* w, std::uint32_t at) {
    for (std::uint32_t k = at + 1; k < w->parked; ++k) {
        w->splits[k - 1] = w->splits[k];
    }
    --w->parked;
}

// Splits whose join is complete go on behind it; a join that nobody comes to any more disappears.
void complete(warp* w, std::uint16_t j) {
    while (j != 0) {
        join& here = w->joins[j];
        if (here.arrived != here.expected) {
            return;
        }
        const std::uint16_t parent = here.parent;
        here.used = false;
        if (here.expected == 0) {
            here.pc = nullptr;
            j = parent;
            continue;
        }
        const split met{here.pc, here.expected, parent, waiting::no, 0, 0};
        here.pc = nullptr;
        if (parent != 0 && w->joins[parent].pc == met.pc) {
            w->joins[parent].arrived |= met.mask;
            j = parent;
            continue;
        }
        park(w, met);
        return;
    }
}

// Completes a barrier when all threads it wants have come.
bool complete_barrier(block* b, unsigned id) {
    barrier_state& s = b->barriers[id];
    const std::uint32_t wanted = s.wanted != 0 ? s.wanted : b->threads_live;
    if (s.arrived == 0 || s.arrived < wanted) {
        return false;
    }
    s.result_count = s.count;
    s.result_threads = s.arrived;
    b->at_barriers -= s.arrived;
    s.arrived = 0;
    s.count = 0;
    s.wanted = 0;
    for (std::uint32_t k = 0; k < b->warps; ++k) {
        warp& w = b->members[k];
        for (std::uint32_t n = 0; n < w.parked; ++n) {
            if (w.splits[n].why == waiting::barrier && w.splits[n].barrier == id) {
                w.splits[n].why = waiting::no;
            }
        }
    }
    return true;
}

} // namespace

bool let_go(warp* w) {
    bool any = false;
    for (std::uint16_t k = 1; k < w->joins.size(); ++k) {
        join& here = w->joins[k];
        if (here.used && here.arrived != 0 && here.arrived != here.expected) {
            const split met{here.pc, here.arrived, here.parent, waiting::no, 0, 0};
            here.expected &= ~here.arrived;
            here.arrived = 0;
            park(w, met);
            any = true;
        }
    }
    return any;
}

const instruction* next_split(warp* w) {
    for (std::uint32_t k = w->parked; k-- > 0;) {
        if (w->splits[k].why == waiting::no) {
            const split s = w->splits[k];
            unpark(w, k);
            load(w, s);
            return s.pc;
        }
    }
    w->running = false;
    w->mask = 0;
    return nullptr;
}

const instruction* diverge(warp* w, const instruction* i, lane_mask taken) {
    const lane_mask rest = w->mask & ~taken;
    const instruction* const after = i + 1;
    std::uint16_t j = w->join_index;
    if (i->meeting == nullptr) {
        // These lanes meet nowhere: two splits under the same join.
        park(w, {i->target, taken, j, waiting::no, 0, 0});
        w->mask = rest;
        return after;
    }
    if (j == 0 || w->joins[j].pc != i->meeting) {
        const std::uint16_t fresh = free_join(w);
        w->joins[fresh] = {i->meeting, w->mask, 0, j, true};
        j = fresh;
        w->join_index = j;
        w->meeting = i->meeting;
    }
    if (i->target == i->meeting) {
        w->joins[j].arrived |= taken;
        w->mask = rest;
        return after;
    }
    if (after == i->meeting) {
        w->joins[j].arrived |= rest;
        w->mask = taken;
        return i->target;
    }
    park(w, {i->target, taken, j, waiting::no, 0, 0});
    w->mask = rest;
    return after;
}

const instruction* arrive(warp* w) {
    join& here = w->joins[w->join_index];
    here.arrived |= w->mask;
    complete(w, w->join_index);
    return next_split(w);
}

const instruction* leave(warp* w, lane_mask gone, const instruction* rest_goes_on) {
    w->live &= ~gone;
    block* const b = w->owner;
    b->threads_live -= count_lanes(gone);
    for (std::uint16_t j = w->join_index; j != 0; j = w->joins[j].parent) {
        w->joins[j].expected &= ~gone;
    }
    for (unsigned id = 0; b->at_barriers != 0 && id < b->barriers.size(); ++id) {
        complete_barrier(b, id);
    }
    const lane_mask rest = w->mask & ~gone;
    if (rest != 0) {
        w->mask = rest;
        return rest_goes_on;
    }
    complete(w, w->join_index);
    // Lanes that waited for these lanes wait no more.
    for (std::uint32_t k = 0; k < w->parked; ++k) {
        if (w->splits[k].why == waiting::others) {
            w->splits[k].why = waiting::no;
        }
    }
    return next_split(w);
}

const instruction* give_way(warp* w, const instruction* resume) {
    w->budget = turn_budget;
    let_go(w);
    // The running split goes to the end of the queue: next_split takes the newest, so it goes in first.
    const split mine = running(w, resume);
    for (std::uint32_t k = w->parked; k > 0; --k) {
        w->splits[k] = w->splits[k - 1];
    }
    w->splits[0] = mine;
    ++w->parked;
    const instruction* const next = next_split(w);
    w->pc = next;
    w->gave_way = true;
    return nullptr;
}

const instruction* wait_at_barrier(warp* w, unsigned id, std::uint32_t wanted, bool waits, const instruction* resume) {
    block* const b = w->owner;
    barrier_state& s = b->barriers[id];
    const std::uint32_t arriving = count_lanes(w->mask);
    s.arrived += arriving;
    b->at_barriers += arriving;
    if (wanted != 0) {
        s.wanted = wanted;
    }
    if (s.arrived >= (s.wanted != 0 ? s.wanted : b->threads_live)) {
        complete_barrier(b, id);
        return resume;
    }
    if (!waits) {
        return resume;
    }
    split mine = running(w, resume);
    mine.why = waiting::barrier;
    mine.barrier = static_cast<std::uint8_t>(id);
    park(w, mine);
    if (w->parked == 1) {
        w->running = false;
        return nullptr;
    }
    return next_split(w);
}

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
    split mine = running(w, at);
    mine.why = waiting::others;
    mine.members = members;
    park(w, mine);
    *next = next_split(w);
    if (*next == nullptr && let_go(w)) {
        *next = next_split(w);
    }
    return 0;
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
