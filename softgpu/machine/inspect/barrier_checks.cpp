// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/barrier_checks.hpp"

#include <bit>
#include <cstring>

#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/inspect/report.hpp"
#include "softgpu/machine/run/warp_sync.hpp"

namespace softgpu::machine {

namespace {

const char* const mismatched_masks = "mismatched masks";
constexpr std::uint64_t window = memory::device_memory::window_bytes;

template <class Body>
void each(lane_mask mask, Body&& body) {
    for (; mask != 0; mask &= mask - 1) {
        body(static_cast<unsigned>(std::countr_zero(mask)));
    }
}

const std::uint32_t* words(std::byte* frame, const warp* w, place p) {
    return reinterpret_cast<const std::uint32_t*>(((p & in_constants) != 0 ? w->constants : frame) +
                                                  (p & ~in_constants));
}

std::string mask_text(lane_mask m) {
    char text[16];
    std::snprintf(text, sizeof(text), "0x%08x", m);
    return text;
}

// Findings of the sync check.
void mismatch(const instruction* i, warp* w, unsigned lane, const char* kind, std::string message,
              const seen_access* other = nullptr) {
    launch_state& l = *w->host->launch;
    if (!l.checks->owner.has(check::sync) || count_again(l, check::sync, kind, false, place_of(w, i),
                                                         other != nullptr ? other->where : instruction_place{})) {
        return;
    }
    seen what;
    what.check = check::sync;
    what.kind = kind;
    what.message = std::move(message);
    const instruction_place at = place_of(w, i);
    report(l, std::move(what),
           {std::string(ptx::name_of(at.function->instructions[at.index].op)),
            at,
            w->owner->linear,
            thread_of(w, lane),
            {}},
           other);
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

// A shuffle's lanes read from lanes that are there.
void look_at_shuffle(const instruction* i, std::byte* frame, warp* w, const std::uint32_t* members, lane_mask here) {
    const std::uint32_t* const by = words(frame, w, i->b);
    const std::uint32_t* const limits = words(frame, w, i->c);
    each(here, [&](unsigned lane) {
        const unsigned segment = limits[lane] >> 8 & 31;
        const unsigned clamp = limits[lane] & 31;
        const int distance = static_cast<int>(by[lane] & 31);
        const int own = static_cast<int>(lane);
        const int least = own & static_cast<int>(segment);
        const int most = least | static_cast<int>(clamp & ~segment);
        int from = own;
        bool inside = true;
        switch (i->more) {
        case meeting_up:
            from = own - distance;
            inside = from >= most;
            break;
        case meeting_down:
            from = own + distance;
            inside = from <= most;
            break;
        case meeting_bfly:
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

const instruction* inspect_meeting(const instruction* i, std::byte* frame, warp* w) {
    const std::uint32_t* const members = words(frame, w, i->e);
    static_cast<void>(members_of_first(w, members, i)); // who stays here looks at the meeting, the others come again
    const lane_mask first = members[std::countr_zero(w->mask)];
    check::block_clock& clock = w->owner->checks->clock;
    lane_mask differ = 0;
    each(w->mask, [&](unsigned l) { differ |= members[l] ^ first; });
    const bool same_place = i->more != meeting_barrier;
    w->passed &= ~w->mask;
    const lane_mask here = gathered(w, first, i + 1, same_place);
    each(w->mask, [&](unsigned l) {
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
                const seen_access waits{"waits",
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
    if (i->more >= meeting_up) {
        look_at_shuffle(i, frame, w, members, here);
    }
    if (differ == 0) {
        const lane_mask together = here & first;
        clock.synchronize_warp(w->index, together, (w->live & ~together) == 0);
        return i + 1;
    }
    // Each group with a mask of its own.
    lane_mask left = here;
    while (left != 0) {
        const lane_mask mask = members[std::countr_zero(left)];
        lane_mask group = 0;
        each(left, [&](unsigned l) { group |= (members[l] == mask ? 1u : 0u) << l; });
        clock.synchronize_warp(w->index, group & mask, false);
        left &= ~group;
    }
    return i + 1;
}

const instruction* inspect_barrier(const instruction* i, std::byte* frame, warp* w) {
    const auto first = static_cast<unsigned>(std::countr_zero(w->mask));
    const std::uint32_t id = words(frame, w, i->a)[first];
    if (id < w->owner->barriers.size()) {
        w->owner->checks->clock.arrive(id, w->index, w->mask, (i->more & barrier_waits) != 0);
        w->owner->checks->arrivals[id].push_back(
            {w->index, w->mask, frame_of(w->frame)->code->source, i->source, (i->more & barrier_aligned) != 0});
    }
    return i + 1;
}

namespace {

void barrier_finding(const block& b, const char* kind, std::string message, const barrier_arrival& a,
                     const barrier_arrival* other) {
    launch_state& l = *b.launch;
    if (count_again(l, check::sync, kind, false, {a.function, a.source},
                    other != nullptr ? instruction_place{other->function, other->source} : instruction_place{})) {
        return;
    }
    seen what;
    what.check = check::sync;
    what.kind = kind;
    what.message = std::move(message);
    const auto at = [&](const barrier_arrival& x) {
        return seen_access{"arrival at a barrier",
                           {x.function, x.source},
                           b.linear,
                           x.warp * lanes + static_cast<unsigned>(std::countr_zero(x.lanes)),
                           {}};
    };
    if (other == nullptr) {
        report(l, std::move(what), at(a));
    } else {
        const seen_access second = at(*other);
        report(l, std::move(what), at(a), &second);
    }
}

// A barrier has completed: did all come that it is for, and each warp as one?
void look_at_arrivals(block& b, unsigned id) {
    std::vector<barrier_arrival>& there = b.checks->arrivals[id];
    if (there.empty()) {
        return;
    }
    if (b.launch->checks->owner.has(check::sync)) {
        std::uint32_t came = 0;
        for (const barrier_arrival& a : there) {
            came += static_cast<std::uint32_t>(std::popcount(a.lanes));
        }
        const auto threads = static_cast<std::uint32_t>(b.launch->request->block.count());
        if (b.barriers[id].wanted == 0 && came < threads) {
            barrier_finding(b, "barrier reached by part of the block",
                            std::to_string(came) + " of the block's " + std::to_string(threads) +
                                " threads come to this barrier; the others have ended",
                            there.front(), nullptr);
        }
        std::array<const barrier_arrival*, 32> first{};
        for (const barrier_arrival& a : there) {
            const barrier_arrival*& f = first[a.warp & 31];
            if (f == nullptr) {
                f = &a;
            } else if ((f->source != a.source || f->function != a.function) && (f->aligned || a.aligned)) {
                const bool later = f->source > a.source;
                barrier_finding(b, "barrier in divergent code",
                                "lanes of one warp come to it by different instructions; all of a warp have to come by "
                                "the same one",
                                later ? a : *f, later ? f : &a);
            }
        }
    }
    there.clear();
}

} // namespace

void report_passed_by(const warp* w, const split& waits, lane_mask gone) {
    launch_state& l = *w->host->launch;
    const char* const kind = "lanes that never come";
    const instruction_place at{frame_of(waits.frame)->code->source, waits.pc->source};
    if (!l.checks->owner.has(check::sync) || count_again(l, check::sync, kind, false, at, {})) {
        return;
    }
    seen what;
    what.check = check::sync;
    what.kind = kind;
    what.message = "lanes " + mask_text(waits.mask) + " wait with the member mask " + mask_text(waits.members) +
                   " for lanes " + mask_text(gone) + ", which have gone past this place and ended";
    report(l, std::move(what),
           {std::string(ptx::name_of(at.function->instructions[at.index].op)),
            at,
            w->owner->linear,
            thread_of(w, static_cast<unsigned>(std::countr_zero(waits.mask))),
            {}});
}

void report_stuck(const block& b) {
    launch_state& l = *b.launch;
    if (!l.checks->owner.has(check::sync) || l.checks->has_found(mismatched_masks)) {
        return; // the masks are why
    }
    std::vector<seen_access> who;
    for (const warp& w : b.members) {
        if (w.held != 0) {
            who.push_back({"lanes " + mask_text(w.mask) + " of warp " + std::to_string(w.index) + " wait at barrier " +
                               std::to_string(w.held - 1),
                           {frame_of(w.frame)->code->source, (w.pc - 1)->source},
                           b.linear,
                           w.index * lanes + static_cast<unsigned>(std::countr_zero(w.mask)),
                           {}});
        }
        for (std::uint32_t k = 0; k < w.parked && who.size() < 8; ++k) {
            const split& s = w.splits[k];
            const auto first = static_cast<unsigned>(std::countr_zero(s.mask));
            const std::string whose = "lanes " + mask_text(s.mask) + " of warp " + std::to_string(w.index);
            if (s.why == waiting::barrier) {
                // It goes on behind the barrier's instruction.
                who.push_back({whose + " wait at barrier " + std::to_string(s.barrier),
                               {frame_of(s.frame)->code->source, (s.pc - 1)->source},
                               b.linear,
                               w.index * lanes + first,
                               {}});
            } else if (s.why == waiting::others) {
                who.push_back({whose + " wait for lanes " + mask_text(s.members & w.live & ~s.mask),
                               {frame_of(s.frame)->code->source, s.pc->source},
                               b.linear,
                               w.index * lanes + first,
                               {}});
            }
        }
    }
    if (who.empty()) {
        return;
    }
    std::size_t other = 1;
    while (other < who.size() && who[other].where.index == who[0].where.index) {
        ++other;
    }
    seen what;
    what.check = check::sync;
    what.kind = "threads that never meet";
    what.message = "no thread of the block can go on";
    report(l, std::move(what), who[0], other < who.size() ? &who[other] : nullptr);
}

void barrier_completed(block& b, unsigned id, bool everybody) {
    check::block_clock& clock = b.checks->clock;
    clock.complete(id, everybody);
    look_at_arrivals(b, id);
    if (b.view->has_fenced && b.checks->record != nullptr && clock.view.base == clock.view.time) {
        b.checks->record->block_fences = b.checks->record->fences;
    }
    if (everybody && clock.view.base == clock.view.time && clock.wants_renewal() && b.launch->checks->stamps_global()) {
        if (const std::uint64_t serial = b.launch->checks->further_serial(b.linear); serial != 0) {
            clock.renew(serial);
        }
    }
}

namespace {

// Of this block, made on first use.
check::release_graph::block_record& record_of(block& b) {
    if (b.checks->record == nullptr) {
        b.checks->record = &b.launch->checks->graph.record_of(b.linear);
        b.checks->record->fence_of.assign(std::size_t{b.warps} * lanes, 0);
    }
    return *b.checks->record;
}

} // namespace

const instruction* inspect_fence(const instruction* i, std::byte* /*frame*/, warp* w) {
    launch_state& l = *w->host->launch;
    if (!l.check_races) {
        return i + 1;
    }
    block& b = *w->owner;
    check::release_graph& graph = l.checks->graph;
    const std::lock_guard lock(graph.mutex());
    auto& record = record_of(b);
    b.view->has_fenced = true;
    b.checks->clock.close(w->index);
    const std::uint32_t made =
        graph.add_release(record, b.checks->clock, w->index, (i->more & fence_within_block) != 0);
    if (i->more == fence_of_all) {
        record.note_fence(made, w->mask);
    }
    each(w->mask, [&](unsigned lane) { record.fence_of[w->index * lanes + lane] = made + 1; });
    return i + 1;
}

namespace {

// The word that a lane's access goes to.
check::release_graph::word word_at(const warp* w, std::uint64_t at, access_space space) {
    const std::uint64_t base = w->host->launch->memory->shared_window();
    if (space == access_space::generic && at - base < window) {
        at -= base;
        space = access_space::shared;
    }
    return {at, space == access_space::shared ? w->owner->linear : check::release_graph::word::global};
}

} // namespace

void inspect_release(const instruction* i, warp* w, const std::uint64_t* at, access_space space) {
    launch_state& l = *w->host->launch;
    if (!l.check_races) {
        return;
    }
    const access_site& site = *i->access;
    block& b = *w->owner;
    check::release_graph& graph = l.checks->graph;
    const std::lock_guard lock(graph.mutex());
    auto& record = record_of(b);
    std::uint32_t made = 0;
    if (site.releases) {
        b.checks->clock.close(w->index);
        made = graph.add_release(record, b.checks->clock, w->index, site.within_block) + 1;
    }
    each(w->mask, [&](unsigned lane) {
        const std::uint32_t release = made != 0 ? made : record.fence_of[w->index * lanes + lane];
        const check::release_graph::word to = word_at(w, at[lane], space);
        bool replaces = site.verb == access_verb::store;
        const auto carry = [&](std::uint32_t which, lane_mask by) {
            graph.attach(to, record, which, by, replaces);
            replaces = false;
        };
        if (release != 0) {
            carry(release - 1, 1u << lane);
        }
        // fence.sc of others, which this thread knows of by a barrier or __syncwarp(): they come before the fence of who
        // reads what is written here. What the thread's own release has behind it needs no other.
        const check::release_graph::release own =
            release != 0 ? record.releases[release - 1] : check::release_graph::release{};
        const check::block_view& v = *b.view;
        const std::uint64_t warp_base = v.warps[w->index].base + v.global_offset;
        if (own.block_base < v.base + v.global_offset) {
            for (const auto& f : record.block_fences) {
                carry(f.release, f.by);
            }
        }
        if (own.warp_base < warp_base) {
            for (const auto& f : record.fences) {
                if (record.releases[f.release].warp == w->index && record.releases[f.release].time <= warp_base) {
                    carry(f.release, f.by);
                }
            }
        }
    });
}

const instruction* inspect_acquisition(const instruction* i, std::byte* /*frame*/, warp* w) {
    launch_state& l = *w->host->launch;
    block& b = *w->owner;
    check::release_graph& graph = l.checks->graph;
    if (!l.check_races || graph.empty()) {
        return i + 1;
    }
    const std::lock_guard lock(graph.mutex());
    auto& record = record_of(b);
    check::block_view& v = *b.view;
    v.warps[w->index].touched = v.time;
    each(w->mask, [&](unsigned lane) {
        graph.acquire(word_at(w, v.acquired_at[w->index][lane], i->access->space), record,
                      {v.time + v.global_offset, w->index, lane});
    });
    return i + 1;
}

} // namespace softgpu::machine
