// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/warp/divergence.hpp"

#include <bit>
#include <cstdint>

#include "softgpu/machine/code/handler_set.hpp"
#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/inspect/barrier_checks.hpp"
#include "softgpu/machine/inspect/profile.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

namespace {

std::uint32_t count_lanes(lane_mask m) { return m == all_lanes ? lanes : static_cast<std::uint32_t>(std::popcount(m)); }

std::uint32_t free_join(warp* w) {
    if (const std::uint32_t k = w->free_joins; k != 0) {
        w->free_joins = w->joins[k].parent;
        return k;
    }
    if (++w->joins_used >= w->joins.size()) {
        w->joins.resize(2 * w->joins.size() + 1);
    }
    return w->joins_used;
}

void release_join(warp* w, std::uint32_t k) {
    w->joins[k] = {};
    w->joins[k].parent = w->free_joins;
    w->free_joins = k;
}

void load(warp* w, const split& s) {
    w->mask = s.mask;
    w->join_index = s.join;
    w->meeting = w->joins[s.join].pc;
    w->pc = s.pc;
    w->running = true;
    if (s.frame != w->frame) [[unlikely]] {
        enter_frame(w, s.frame);
    }
    if (w->host->profile != nullptr) [[unlikely]] {
        resume_profile(w, s.pc);
    }
}

split running(const warp* w, const instruction* at) {
    return {at, w->mask, w->join_index, w->frame, waiting::no, 0, 0};
}

void park(warp* w, const split& s) { w->splits[w->parked++] = s; }

void unpark(warp* w, std::uint32_t at) {
    for (std::uint32_t k = at + 1; k < w->parked; ++k) {
        w->splits[k - 1] = w->splits[k];
    }
    --w->parked;
}

// Splits whose join is complete go on behind it; a join that nobody comes to any more disappears.
void complete(warp* w, std::uint32_t j) {
    while (j != 0) {
        const join& here = w->joins[j];
        if (here.arrived != here.expected) {
            return;
        }
        const std::uint32_t parent = here.parent;
        const split met{here.pc, here.expected, parent, here.frame, waiting::no, 0, 0};
        release_join(w, j);
        if (met.mask == 0) {
            j = parent;
            continue;
        }
        if (parent != 0 && w->joins[parent].pc == met.pc && w->joins[parent].frame == met.frame) {
            w->joins[parent].arrived |= met.mask;
            j = parent;
            continue;
        }
        park(w, met);
        return;
    }
}

// Splits that stand at one place, under one join and in one call, run together from now on.
void merge_parked(warp* w) {
    for (std::uint32_t k = 0; k + 1 < w->parked; ++k) {
        split& first = w->splits[k];
        for (std::uint32_t n = w->parked; first.why == waiting::no && n-- > k + 1;) {
            const split& s = w->splits[n];
            if (s.why == waiting::no && s.pc == first.pc && s.frame == first.frame && s.join == first.join) {
                first.mask |= s.mask;
                unpark(w, n);
            }
        }
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
    if (b->view != nullptr) {
        barrier_completed(*b, id, s.wanted == 0 || s.arrived >= b->launch->request->block.count());
    }
    b->at_barriers -= s.arrived;
    s.arrived = 0;
    s.count = 0;
    s.wanted = 0;
    for (std::uint32_t k = 0; k < b->warps; ++k) {
        warp& w = b->members[k];
        if (w.held == id + 1) {
            w.held = 0;
            w.running = true;
            continue;
        }
        for (std::uint32_t n = 0; n < w.parked; ++n) {
            if (w.splits[n].why == waiting::barrier && w.splits[n].barrier == id) {
                w.splits[n].why = waiting::no;
            }
        }
        merge_parked(&w);
    }
    return true;
}

// Instructions are counted at the beginning of a basic block, all of it at once. Where lanes part or come together
// inside of one, the warp executes what is left of it once more, or once less, than was counted. Lanes are the same,
// either way.
std::uint64_t rest_of_block(const warp* w, const instruction* at) {
    const handler_set& set = chosen_handlers();
    const auto begins_block = [&](const instruction* i) { return i->run == set.enter || i->run == set.enter_meeting; };
    if (!w->host->count || begins_block(at)) {
        return 0; // nothing is counted, or it will be
    }
    const instruction* first = at;
    while (!begins_block(first)) {
        --first;
    }
    const std::uint64_t length = frame_of(w->frame)->code->block_instructions[first->more];
    return length - (at->source - first->source);
}

// Whether the running split comes to a meeting there, now or behind others in its function.
bool is_to_meet_at(const warp* w, const instruction* at) {
    for (std::uint32_t j = w->join_index; j != 0 && w->joins[j].frame == w->frame; j = w->joins[j].parent) {
        if (w->joins[j].pc == at) {
            return true;
        }
    }
    return false;
}

// Whether the running split's meeting is within a loop that a block is behind, which begins at `at`.
bool gives_up_meeting(const warp* w, const instruction* at) {
    const join& here = w->joins[w->join_index];
    return w->join_index != 0 && at->run == chosen_handlers().leave_loops && here.frame == w->frame &&
           here.pc->e != no_loop && !frame_of(w->frame)->code->is_in_loop(at->more, here.pc->e);
}

// Of the worker, not of a barrier interval: a sum that may pass below zero for a while.
std::uint64_t& warp_instructions(const warp* w) { return w->host->counts[0].warp_instructions; }

} // namespace

bool let_go(warp* w) {
    bool any = false;
    lane_mask wanted = 0;
    if (w->owner->view != nullptr) {
        for (std::uint32_t k = 0; k < w->parked; ++k) {
            wanted |= w->splits[k].why == waiting::others ? w->splits[k].members : 0;
        }
    }
    for (std::uint32_t k = 1; k <= w->joins_used; ++k) {
        join& here = w->joins[k];
        if (here.used && here.arrived != 0 && here.arrived != here.expected) {
            const split met{here.pc, here.arrived, here.parent, here.frame, waiting::no, 0, 0};
            here.expected &= ~here.arrived;
            here.arrived = 0;
            w->passed |= met.mask & wanted;
            park(w, met);
            any = true;
        }
    }
    return any;
}

const instruction* next_split(warp* w) {
    if (w->held != 0) {
        if (w->parked == 0) {
            return nullptr;
        }
        // Others may run now: it is parked after all.
        split mine = running(w, w->pc);
        mine.why = waiting::barrier;
        mine.barrier = static_cast<std::uint8_t>(w->held - 1);
        w->held = 0;
        park(w, mine);
    }
    for (std::uint32_t k = w->parked; k-- > 0;) {
        if (w->splits[k].why == waiting::no) {
            const split s = w->splits[k];
            unpark(w, k);
            load(w, s);
            return w->switched ? nullptr : s.pc;
        }
    }
    w->running = false;
    w->mask = 0;
    return nullptr;
}

const instruction* diverge(warp* w, const instruction* i, lane_mask taken, const instruction* after) {
    const lane_mask rest = w->mask & ~taken;
    // Lanes that leave a loop do not come to the meeting within it: they need no other one. If all leave, they meet behind it.
    const bool taken_leave = gives_up_meeting(w, i->target);
    const bool rest_leave = gives_up_meeting(w, after);
    if (taken_leave != rest_leave) {
        park(w,
             {taken_leave ? i->target : after, taken_leave ? taken : rest, w->join_index, w->frame, waiting::no, 0, 0});
        w->mask = taken_leave ? rest : taken;
        return taken_leave ? after : i->target;
    }
    if (taken_leave) {
        give_up_meetings(w, i->target);
    }
    if (i->immediate != 0 && !is_to_meet_at(w, i + i->immediate)) {
        join_at(w, i + i->immediate);
    }
    if (i->meeting == nullptr || (i->meeting != w->meeting && is_to_meet_at(w, i->meeting))) {
        // These lanes meet nowhere, or behind a loop that they are in: two splits under the same join.
        park(w, {i->target, taken, w->join_index, w->frame, waiting::no, 0, 0});
        w->mask = rest;
        return after;
    }
    const std::uint32_t j = join_at(w, i->meeting);
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
    park(w, {i->target, taken, j, w->frame, waiting::no, 0, 0});
    w->mask = rest;
    return after;
}

std::uint32_t join_at(warp* w, const instruction* meeting) {
    const std::uint32_t j = w->join_index;
    if (j != 0 && w->joins[j].pc == meeting && w->joins[j].frame == w->frame) {
        return j;
    }
    const std::uint32_t fresh = free_join(w);
    w->joins[fresh] = {meeting, w->frame, w->mask, 0, j, true};
    w->join_index = fresh;
    w->meeting = meeting;
    return fresh;
}

void give_up_meetings(warp* w, const instruction* at) {
    while (gives_up_meeting(w, at)) {
        const std::uint32_t j = w->join_index;
        join& here = w->joins[j];
        here.expected &= ~w->mask;
        w->join_index = here.parent;
        w->meeting = w->joins[here.parent].pc;
        complete(w, j);
    }
}

void part(warp* w, const instruction* at, lane_mask others) {
    warp_instructions(w) += rest_of_block(w, at);
    park(w, {at, others, w->join_index, w->frame, waiting::no, 0, 0});
    w->mask &= ~others;
}

void enter_frame(warp* w, std::byte* registers) {
    const call_frame* const f = frame_of(registers);
    w->frame = registers;
    w->constants = f->constants;
    w->executions = f->executions;
    w->switched = true;
}

const instruction* come_back(warp* w, lane_mask gone, const instruction* rest_goes_on) {
    call_frame* const f = frame_of(w->frame);
    std::uint32_t j = w->join_index;
    for (; w->joins[j].frame == w->frame; j = w->joins[j].parent) {
        w->joins[j].expected &= ~gone; // they do not come to the meeting places in the function
    }
    w->joins[j].arrived |= gone;
    f->inside &= ~gone;
    w->mask &= ~gone;
    if (w->mask != 0) {
        return rest_goes_on;
    }
    complete(w, w->join_index);
    if (f->inside == 0) {
        f->home->free.push_back(f);
    }
    return next_split(w);
}

const instruction* arrive(warp* w) {
    join& here = w->joins[w->join_index];
    here.arrived |= w->mask;
    const join& parent = w->joins[here.parent];
    if (here.arrived == here.expected && here.frame == w->frame && parent.pc != here.pc) {
        // The last to come take the others along.
        const instruction* const on = here.pc;
        const std::uint32_t number = w->join_index;
        w->mask = here.expected;
        w->join_index = here.parent;
        w->meeting = parent.pc;
        release_join(w, number);
        return on;
    }
    complete(w, w->join_index);
    return next_split(w);
}

const instruction* leave(warp* w, lane_mask gone, const instruction* rest_goes_on) {
    w->live &= ~gone;
    block* const b = w->owner;
    b->threads_live -= count_lanes(gone);
    for (std::uint32_t j = w->join_index; j != 0; j = w->joins[j].parent) {
        w->joins[j].expected &= ~gone;
    }
    for (call_frame* f = frame_of(w->frame); f->caller != nullptr;) {
        call_frame* const caller = f->caller;
        f->inside &= ~gone;
        if (f->inside == 0) {
            f->home->free.push_back(f);
        }
        f = caller;
    }
    for (unsigned id = 0; b->at_barriers != 0 && id < b->barriers.size(); ++id) {
        complete_barrier(b, id);
    }
    // Lanes that waited for these lanes wait no more. They come again, past the check of who meets.
    for (std::uint32_t k = 0; k < w->parked; ++k) {
        split& s = w->splits[k];
        if (s.why == waiting::others) {
            if ((w->passed & gone & s.members) != 0) [[unlikely]] {
                report_passed_by(w, s, w->passed & gone & s.members);
            }
            s.why = waiting::no;
            s.pc -= (s.pc - 1)->run == chosen_handlers().check_warp_sync ? 1 : 0;
        }
    }
    const lane_mask rest = w->mask & ~gone;
    if (rest != 0) {
        w->mask = rest;
        return rest_goes_on;
    }
    complete(w, w->join_index);
    return next_split(w);
}

const instruction* change_split(warp* w, const instruction* resume, std::uint32_t other) {
    const split next = w->splits[other];
    if (next.why != waiting::no) {
        return resume;
    }
    w->splits[other] = running(w, resume);
    load(w, next);
    return w->switched ? nullptr : next.pc;
}

void merge_lanes(warp* w, const instruction* at) {
    for (std::uint32_t k = w->parked; k-- > 0;) {
        const split& s = w->splits[k];
        if (s.why == waiting::no && s.pc == at && s.frame == w->frame && s.join == w->join_index) {
            warp_instructions(w) -= rest_of_block(w, at);
            w->mask |= s.mask;
            unpark(w, k);
        }
    }
}

const instruction* give_way(warp* w, const instruction* resume) {
    if (w->budget < 0) {
        w->budget = w->host->launch->turn;
        w->quiet = 0;
    }
    // The first time, lanes that wait at a join stay together: who spins may wait for another warp. From then on they go on
    // at once: they may hold what it waits for.
    const bool released = w->waits && let_go(w);
    w->waits = true;
    // The running split goes to the end of the queue: next_split takes the newest, so it goes in first.
    const split mine = running(w, resume);
    for (std::uint32_t k = w->parked; k > 0; --k) {
        w->splits[k] = w->splits[k - 1];
    }
    w->splits[0] = mine;
    ++w->parked;
    const instruction* const next = next_split(w);
    if (released) {
        return next;
    }
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
        merge_lanes(w, resume);
        return resume;
    }
    if (!waits) {
        return resume;
    }
    if (w->parked == 0) {
        w->pc = resume;
        w->running = false;
        w->held = static_cast<std::uint8_t>(id + 1);
        return nullptr;
    }
    split mine = running(w, resume);
    mine.why = waiting::barrier;
    mine.barrier = static_cast<std::uint8_t>(id);
    park(w, mine);
    return next_split(w);
}

const instruction* wait_for_others(warp* w, lane_mask members, const instruction* at) {
    split mine = running(w, at);
    mine.why = waiting::others;
    mine.members = members;
    park(w, mine);
    const instruction* next = next_split(w);
    if (!w->running && let_go(w)) {
        next = next_split(w);
    }
    return next;
}

} // namespace softgpu::machine
