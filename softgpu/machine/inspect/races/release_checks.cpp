// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/races/release_checks.hpp"

#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>

#include "softgpu/check/launch_checks.hpp"
#include "softgpu/machine/code/tensor_kinds.hpp"
#include "softgpu/machine/inspect/async/bulk_checks.hpp"
#include "softgpu/machine/inspect/async/tensor_map_checks.hpp"
#include "softgpu/machine/inspect/block_checks.hpp"
#include "softgpu/machine/inspect/races/operation_races.hpp"
#include "softgpu/machine/state/distributed_place.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

check::release_graph::block_record& record_of(block& b) {
    if (b.checks->record == nullptr) {
        b.checks->record = &b.launch->checks->graph.record_of(b.linear);
        b.checks->record->fence_of.assign(std::size_t{b.warps} * lanes, 0);
        b.checks->record->init_fence_of.assign(std::size_t{b.warps} * lanes, 0);
        b.checks->updated.fill({});
        b.checks->looked_at.fill({});
    }
    return *b.checks->record;
}

const instruction* check_fence(const instruction* i, std::byte* frame, warp* w) {
    launch_state& l = *w->host->launch;
    if (!l.check_races) {
        return i + 1;
    }
    if ((i->more & fence_is_async_proxy) != 0) {
        note_proxy_fence(w);
        return i + 1;
    }
    if ((i->more & (fence_releases_maps | fence_acquires_map)) != 0) {
        note_map_fence(i, frame, w, (i->more & fence_acquires_map) != 0);
    }
    block& b = *w->owner;
    check::release_graph& graph = l.checks->graph;
    const std::lock_guard lock(graph.mutex());
    auto& record = record_of(b);
    ++b.checks->fences;
    b.view->has_fenced = true;
    b.checks->clock.close(w->index);
    const bool of_inits = (i->more & fence_is_of_inits) != 0;
    const std::uint32_t made =
        graph.add_release(record, b.checks->clock, w->index, (i->more & fence_within_block) != 0, of_inits);
    if ((i->more & ~fence_within_block) == fence_is_sc) {
        record.note_fence(made, w->mask);
    }
    auto& last = of_inits ? record.init_fence_of : record.fence_of;
    each_lane(w->mask, [&](unsigned lane) { last[w->index * lanes + lane] = made + 1; });
    return i + 1;
}

namespace {

constexpr std::uint64_t window = memory::device_memory::window_bytes;

// The word that a lane's access goes to.
check::release_graph::word word_at(const warp* w, std::uint64_t at, access_space space) {
    const std::uint64_t base = w->host->launch->memory->shared_window();
    if (space == access_space::generic && at - base < window) {
        at -= base;
        space = access_space::shared;
    }
    const bool by_rank = space == access_space::shared
                             ? at >= window
                             : space == access_space::generic && is_in_cluster_window(*w->host->launch, at);
    if (by_rank) {
        const std::uint64_t whole = space == access_space::shared ? at : shared_cluster_address(*w->host->launch, at);
        if (const auto found = find_distributed(*w->owner, whole)) {
            return {found->offset, found->owner->linear};
        }
    }
    return {at, space == access_space::shared ? w->owner->linear : check::release_graph::word::global};
}

// Those of these lanes whose access goes to this address.
lane_mask lanes_at(const std::uint64_t* at, lane_mask of, std::uint64_t address) {
    lane_mask same = 0;
    for (unsigned lane = 0; lane < lanes; ++lane) {
        same |= lane_mask{at[lane] == address} << lane;
    }
    return same & of;
}

bool are_at_one_word(const std::uint64_t* at, lane_mask of) {
    return (of & (of - 1)) == 0 || lanes_at(at, of, at[std::countr_zero(of)]) == of;
}

} // namespace

void note_release(const instruction* i, warp* w, const std::uint64_t* at, access_space space) {
    launch_state& l = *w->host->launch;
    if (!l.check_races) {
        return;
    }
    const access_site& site = *i->access;
    block& b = *w->owner;
    check::release_graph& graph = l.checks->graph;
    const check::block_view& v = *b.view;
    const std::uint64_t first = at[std::countr_zero(w->mask)];
    settled_word now{
        first, i, w->mask, graph.size(), b.checks->fences, v.base + v.global_offset, v.warps[w->index].base};
    settled_word& settled = b.checks->updated[w->index];
    // A store begins a history of its own, and what releases by itself has a time of its own.
    const bool may_settle = site.verb == access_verb::update && !site.releases && are_at_one_word(at, w->mask);
    if (may_settle && b.checks->record != nullptr && now == settled) {
        return;
    }
    const std::lock_guard lock(graph.mutex());
    auto& record = record_of(b);
    std::uint32_t made = 0;
    if (site.releases) {
        b.checks->clock.close(w->index);
        made = graph.add_release(record, b.checks->clock, w->index, site.within_block) + 1;
    }
    // Lanes that update one word with one release are one entry of its history.
    const bool together = made != 0 && site.verb != access_verb::store;
    for (lane_mask left = w->mask; left != 0;) {
        const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
        const lane_mask by = together ? lanes_at(at, left, at[lane]) : lane_mask{1} << lane;
        left &= ~by;
        const std::uint32_t release = made != 0 ? made : record.fence_of[w->index * lanes + lane];
        const check::release_graph::word to = word_at(w, at[lane], space);
        bool replaces = site.verb == access_verb::store;
        const auto carry = [&](std::uint32_t which, lane_mask of) {
            graph.attach(to, record, which, of, replaces);
            replaces = false;
        };
        if (release != 0) {
            carry(release - 1, by);
        }
        each_lane(by, [&](unsigned one) {
            if (const std::uint32_t inits = record.init_fence_of[w->index * lanes + one]; inits != 0) {
                carry(inits - 1, 1u << one);
            }
        });
        // fence.sc of others, which this thread knows of by a barrier or __syncwarp(): they come before the fence of who
        // reads what is written here. What the thread's own release has behind it needs no other.
        const check::release_graph::release own =
            release != 0 ? record.releases[release - 1] : check::release_graph::release{};
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
    }
    if (may_settle) {
        now.order = graph.size();
        settled = now;
    }
    // Before the access itself: who finds what it writes finds the graph's new size.
    std::atomic_thread_fence(std::memory_order_release);
}

const instruction* check_acquire(const instruction* i, std::byte* frame, warp* w) {
    launch_state& l = *w->host->launch;
    block& b = *w->owner;
    check::release_graph& graph = l.checks->graph;
    check::block_view& v = *b.view;
    lane_mask acquires = w->mask;
    if (i->d != nowhere) { // a look at an mbarrier acquires where the phase is over
        lane_mask over = 0;
        std::memcpy(&over, frame + i->d, sizeof over);
        acquires &= over;
    }
    if (l.check_races && l.checks->operations() != nullptr) {
        each_lane(acquires, [&](unsigned lane) { meet_signal(l, *b.checks, v.acquired_at[w->index][lane]); });
    }
    if (!l.check_races || graph.empty()) {
        return i + 1;
    }
    v.has_acquired = true;
    v.warps[w->index].touched = v.time;
    const std::uint64_t* const at = v.acquired_at[w->index];
    std::atomic_thread_fence(std::memory_order_acquire);
    settled_word now{
        .at = at[acquires == 0 ? 0 : std::countr_zero(acquires)], .by = i, .lanes = acquires, .order = graph.size()};
    const bool may_settle = are_at_one_word(at, acquires);
    if (may_settle && b.checks->record != nullptr && now == b.checks->looked_at[w->index]) {
        return i + 1;
    }
    v.warps[w->index].met = v.time;
    const std::lock_guard lock(graph.mutex());
    auto& record = record_of(b);
    now.order = graph.size();
    for (lane_mask left = acquires; left != 0;) { // lanes that have read one word together
        const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
        const lane_mask same = lanes_at(at, left, at[lane]);
        graph.acquire(word_at(w, at[lane], i->access->space), record, w->index, v.time + v.global_offset, same);
        left &= ~same;
    }
    if (may_settle && graph.size() == now.order) {
        b.checks->looked_at[w->index] = now;
    }
    return i + 1;
}

} // namespace softgpu::machine
