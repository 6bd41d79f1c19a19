// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/barrier_checks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "softgpu/machine/code/matrix/warpgroup_plan.hpp"
#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/inspect/block_checks.hpp"
#include "softgpu/machine/inspect/report.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

namespace {

void barrier_finding(const block& b, const char* kind, std::string message, const barrier_arrival& a,
                     const barrier_arrival* other) {
    launch_state& l = *b.launch;
    if (count_again(l, check::sync, kind, false, {a.function, a.source},
                    other != nullptr ? instruction_place{other->function, other->source} : instruction_place{})) {
        return;
    }
    const finding_facts what{.check = check::sync, .kind = kind, .message = std::move(message)};
    const auto at = [&](const barrier_arrival& x) {
        return access_facts{"arrival at a barrier",
                            {x.function, x.source},
                            b.linear,
                            x.warp * lanes + static_cast<unsigned>(std::countr_zero(x.lanes)),
                            {}};
    };
    if (other == nullptr) {
        report(l, what, at(a));
    } else {
        const access_facts second = at(*other);
        report(l, what, at(a), &second);
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

const instruction* check_barrier(const instruction* i, std::byte* frame, warp* w) {
    const auto first = static_cast<unsigned>(std::countr_zero(w->mask));
    std::uint32_t id;
    std::memcpy(&id, lanes_at(frame, w, i->a) + first * sizeof(id), sizeof(id));
    if (id < w->owner->barriers.size()) {
        w->owner->checks->clock.arrive(id, w->index, w->mask, (i->more & barrier_waits) != 0);
        w->owner->checks->arrivals[id].push_back(
            {w->index, w->mask, frame_of(w->frame)->code->source, i->source, (i->more & barrier_aligned) != 0});
    }
    return i + 1;
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

void report_passed_by(const warp* w, const split& waits, lane_mask gone) {
    launch_state& l = *w->host->launch;
    const char* const kind = "lanes that never come";
    const instruction_place at{frame_of(waits.frame)->code->source, waits.pc->source};
    if (!l.checks->owner.has(check::sync) || count_again(l, check::sync, kind, false, at, {})) {
        return;
    }
    report(l,
           {.check = check::sync,
            .kind = kind,
            .message = "lanes " + mask_text(waits.mask) + " wait with the member mask " + mask_text(waits.members) +
                       " for lanes " + mask_text(gone) + ", which have gone past this place and ended"},
           access_by_opcode(at, w, static_cast<unsigned>(std::countr_zero(waits.mask))));
}

std::string missing_at(const warp& w, const split& s) {
    lane_mask absent = s.members & w.live;
    for (std::uint32_t k = 0; k < w.parked; ++k) {
        absent &= w.splits[k].why == waiting::others ? ~w.splits[k].mask : all_lanes;
    }
    const ptx::instruction& at = frame_of(s.frame)->code->source->instructions[s.pc->source];
    if (absent != 0 || at.op != ptx::opcode::wgmma) {
        return "lanes " + mask_text(s.members & w.live & ~s.mask) + " of their warp";
    }
    const auto first = w.owner->members.begin() + w.index / warpgroup_warps * warpgroup_warps;
    const bool ended = std::any_of(first, first + warpgroup_warps, [](const warp& m) { return m.live == 0; });
    return std::string("the other warps of their warpgroup") + (ended ? ", of which one has ended" : "");
}

void report_stuck(const block& b) {
    launch_state& l = *b.launch;
    if (!l.checks->owner.has(check::sync) || l.checks->has_found(mismatched_masks)) {
        return; // the masks are why
    }
    std::vector<access_facts> who;
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
                who.push_back({whose + " wait for " + missing_at(w, s),
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
    report(l, {.check = check::sync, .kind = never_meet, .message = "no thread of the block can go on"}, who[0],
           other < who.size() ? &who[other] : nullptr);
}

} // namespace softgpu::machine
