// SPDX-License-Identifier: MIT
// Warp-wide instructions: a split waits until all live lanes of the member mask have come to the same instruction.
#pragma once

#include "softgpu/machine/handlers/lanes.hpp"
#include "softgpu/machine/run/warp/divergence.hpp"
#include "softgpu/machine/run/warp/warp_sync.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// Lanes that name these members.
SOFTGPU_INLINE lane_mask naming(lane_mask members, const std::uint32_t* named) {
    return test_lanes([members](std::uint32_t m) { return m == members; }, named);
}

// Runs body(lanes) once all live lanes of the members are here that the split's lanes name; then everybody goes on. Lanes
// of one instruction may name different members, each group waits for its own: body() may get several that are complete.
template <class Body>
SOFTGPU_INLINE const instruction* together(const instruction* i, std::byte* frame, warp* w, place named_at,
                                           Body&& body) {
    const auto* const named = read<std::uint32_t>(w, named_at);
    lane_mask members = named[std::countr_zero(w->mask)];
    if ((named_at & in_constants) == 0 && (w->mask & ~naming(members, named)) != 0) [[unlikely]] {
        members = members_of_first(w, named, i);
    }
    if (((members & w->live) & ~w->mask) == 0) [[likely]] {
        body(w->mask);
        return go_on(i + 1, frame, w);
    }
    const instruction* next = nullptr;
    const lane_mask gathered = gather_lanes(w, members, i, true, &next);
    if (gathered == 0) {
        return next;
    }
    const lane_mask mine = w->mask;
    borrow_registers(w, i, gathered);
    w->mask = gathered;
    body(gathered);
    w->mask = mine;
    hand_back_registers(w, i, gathered);
    release_lanes(w, gathered & ~mine, i + 1);
    merge_lanes(w, i + 1);
    return i + 1;
}

} // namespace softgpu::machine::SOFTGPU_TARGET
