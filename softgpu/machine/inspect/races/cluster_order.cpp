// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/races/cluster_order.hpp"

#include <bit>
#include <mutex>

#include "softgpu/check/launch_checks.hpp"
#include "softgpu/machine/inspect/block_checks.hpp"
#include "softgpu/machine/inspect/races/release_checks.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

namespace {

// What stands for a phase of the barrier among the words that threads synchronise on.
check::release_graph::word phase_of(const warp* w, std::uint32_t phase) {
    return {phase, 1ull << 63 | w->owner->group->members.front()->linear};
}

} // namespace

void note_cluster_arrival(const warp* w, bool relaxed) {
    const launch_state& l = *w->host->launch;
    if (!l.check_races) {
        return;
    }
    block& b = *w->owner;
    check::release_graph& graph = l.checks->graph;
    const std::lock_guard lock(graph.mutex());
    auto& record = record_of(b);
    if (relaxed) {
        each_lane(w->mask, [&](unsigned lane) {
            for (const std::uint32_t fence :
                 {record.fence_of[w->index * lanes + lane], record.init_fence_of[w->index * lanes + lane]}) {
                if (fence != 0) {
                    graph.attach(phase_of(w, b.group->phase), record, fence - 1, 1u << lane, false);
                }
            }
        });
        return;
    }
    b.checks->clock.close(w->index);
    const std::uint32_t made = graph.add_release(record, b.checks->clock, w->index, false);
    graph.attach(phase_of(w, b.group->phase), record, made, w->mask, false);
}

void note_cluster_wait(const warp* w) {
    const launch_state& l = *w->host->launch;
    if (!l.check_races) {
        return;
    }
    block& b = *w->owner;
    check::block_view& v = *b.view;
    check::release_graph& graph = l.checks->graph;
    const std::lock_guard lock(graph.mutex());
    auto& record = record_of(b);
    v.warps[w->index].touched = v.time;
    const auto first = static_cast<unsigned>(std::countr_zero(w->mask));
    graph.acquire(phase_of(w, w->cluster_phase[first]), record, w->index, v.time + v.global_offset, w->mask);
    b.checks->clock.synchronize_warp(w->index, w->mask, w->mask == w->live);
}

} // namespace softgpu::machine
