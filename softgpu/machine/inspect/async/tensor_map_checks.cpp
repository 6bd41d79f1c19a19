// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/async/tensor_map_checks.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "softgpu/machine/inspect/block_checks.hpp"
#include "softgpu/machine/inspect/report.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

// Maps in global memory that the launch has changed, by address.
struct changed_tensor_maps {
    struct change {
        std::uint64_t number = 0; // of the launch's changes, from 1
        std::uint64_t block = 0;
        bool is_released = false;
        std::uint32_t thread = 0;
        instruction_place place;
    };
    std::uint64_t changes = 0;
    std::unordered_map<std::uint64_t, change> by_address;
};

namespace {

constexpr const char* missing_fence = "missing fence.proxy.tensormap";

} // namespace

void note_map_change(const instruction* i, const warp* w, unsigned lane, std::uint64_t at, bool is_released) {
    launch_state& l = *w->host->launch;
    if (!l.check_races) {
        return;
    }
    const std::lock_guard lock(l.checks->graph.mutex());
    if (l.checks->changed_maps == nullptr) {
        l.checks->changed_maps = std::make_shared<changed_tensor_maps>();
    }
    changed_tensor_maps& maps = *l.checks->changed_maps;
    maps.by_address[at] = {++maps.changes, w->owner->linear, is_released, thread_of(w, lane), place_of(w, i)};
}

void note_map_fence(const instruction* i, std::byte* frame, const warp* w, bool acquires) {
    launch_state& l = *w->host->launch;
    const std::lock_guard lock(l.checks->graph.mutex());
    if (l.checks->changed_maps == nullptr) {
        return;
    }
    changed_tensor_maps& maps = *l.checks->changed_maps;
    if (!acquires) {
        for (auto& [at, changed] : maps.by_address) {
            changed.is_released = changed.is_released || changed.block == w->owner->linear;
        }
        return;
    }
    const std::byte* const addresses = lanes_at(frame, w, i->a);
    each_lane(w->mask, [&](unsigned lane) {
        std::uint64_t at = 0;
        std::memcpy(&at, addresses + std::size_t{lane} * i->width[1], i->width[1]);
        w->owner->checks->acquired_maps[at + static_cast<std::uint64_t>(i->immediate)] = maps.changes;
    });
}

void check_map_use(const instruction* i, const warp* w, unsigned lane, std::uint64_t at) {
    launch_state& l = *w->host->launch;
    if (!l.check_races) {
        return;
    }
    changed_tensor_maps::change changed;
    {
        const std::lock_guard lock(l.checks->graph.mutex());
        if (l.checks->changed_maps == nullptr || !l.checks->changed_maps->by_address.contains(at)) {
            return;
        }
        changed = l.checks->changed_maps->by_address[at];
    }
    const auto acquired = w->owner->checks->acquired_maps.find(at);
    const bool is_acquired = acquired != w->owner->checks->acquired_maps.end() && acquired->second >= changed.number;
    const instruction_place here = place_of(w, i);
    if ((is_acquired && changed.is_released) ||
        count_again(l, check::race, missing_fence, false, here, changed.place)) {
        return;
    }
    const char* const message =
        changed.is_released
            ? "a copy uses a tensor map that was changed in global memory, and no thread of its block has "
              "acquired it since (fence.proxy.tensormap::generic.acquire)"
            : "a copy uses a tensor map that was changed in global memory and not released since "
              "(fence.proxy.tensormap::generic.release, or tensormap.cp_fenceproxy)";
    const access_facts now{"copy by a tensor map", here, w->owner->linear, thread_of(w, lane), {}};
    const access_facts before{"change of the map", changed.place, changed.block, changed.thread, {}};
    report(l, {.check = check::race, .kind = missing_fence, .message = message, .at = place_in_global(l, at)}, now,
           &before);
}

} // namespace softgpu::machine
