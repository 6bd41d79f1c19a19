// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/cluster/cluster_barrier.hpp"

#include <bit>

#include "softgpu/machine/inspect/races/cluster_order.hpp"
#include "softgpu/machine/run/fault.hpp"
#include "softgpu/machine/run/schedule/deadlock.hpp"
#include "softgpu/machine/run/warp/divergence.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

namespace {

void complete_phase(cluster& c) {
    if (c.arrived != 0 && c.arrived >= c.threads_live) {
        c.arrived = 0;
        ++c.phase;
    }
}

// Of these lanes, those whose phase of the barrier is not over.
lane_mask not_over(const warp* w, lane_mask of) {
    lane_mask result = 0;
    each_lane(of & w->at_cluster,
              [&](unsigned l) { result |= (w->cluster_phase[l] == w->owner->group->phase ? 1u : 0u) << l; });
    return result;
}

} // namespace

const instruction* arrive_at_cluster(const instruction* i, std::byte* /*frame*/, warp* w) {
    cluster& c = *w->owner->group;
    if ((w->at_cluster & w->mask) != 0) {
        return raise(w, i, fault_kind::trap, "barrier.cluster.arrive twice without barrier.cluster.wait between",
                     w->at_cluster & w->mask);
    }
    w->counts->cluster_barriers += w->host->count ? 1 : 0;
    if (w->owner->view != nullptr) {
        note_cluster_arrival(w, i->more == cluster_is_relaxed);
    }
    w->at_cluster |= w->mask;
    each_lane(w->mask, [&](unsigned l) { w->cluster_phase[l] = c.phase; });
    c.arrived += static_cast<std::uint32_t>(std::popcount(w->mask));
    complete_phase(c);
    return i + 1;
}

const instruction* wait_for_cluster(const instruction* i, std::byte* /*frame*/, warp* w) {
    if ((w->mask & ~w->at_cluster) != 0) {
        return raise(w, i, fault_kind::trap, "barrier.cluster.wait without barrier.cluster.arrive before it",
                     w->mask & ~w->at_cluster);
    }
    if (not_over(w, w->mask) != 0) {
        wait_quietly(w, i);
        return give_way(w, i);
    }
    w->quiet = 0;
    if (w->owner->view != nullptr) {
        note_cluster_wait(w);
    }
    w->at_cluster &= ~w->mask;
    return i + 1;
}

void leave_cluster(const warp* w, lane_mask gone) {
    cluster& c = *w->owner->group;
    c.arrived -= static_cast<std::uint32_t>(std::popcount(not_over(w, gone)));
    c.threads_live -= static_cast<std::uint32_t>(std::popcount(gone));
    complete_phase(c);
}

} // namespace softgpu::machine
