// SPDX-License-Identifier: MIT
// Instructions of all lanes of a warp (.sync.aligned), which name lists of registers.
#pragma once

#include "softgpu/machine/handlers/lanes.hpp"
#include "softgpu/machine/run/fault.hpp"
#include "softgpu/machine/run/warp/divergence.hpp"
#include "softgpu/machine/run/warp/warp_sync.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// The slow way of whole_warp(): some live lanes are elsewhere.
template <class Body>
__attribute__((noinline)) const instruction* gather_and_run(const instruction* i, warp* w, Body&& body) {
    const instruction* next = nullptr;
    const lane_mask gathered = gather_lanes(w, all_lanes, i, true, &next);
    if (gathered == 0) {
        return next;
    }
    const lane_mask mine = w->mask;
    borrow_registers(w, i, gathered);
    borrow_list(w, i, gathered);
    w->mask = gathered;
    const bool fine = body();
    w->mask = mine;
    if (!fine) {
        return nullptr;
    }
    hand_back_list(w, i, gathered);
    release_lanes(w, gathered & ~mine, i + 1);
    merge_lanes(w, i + 1);
    return i + 1;
}

// Runs body() once all live lanes are here; it returns whether no fault was raised.
template <class Body>
SOFTGPU_INLINE const instruction* whole_warp(const instruction* i, std::byte* frame, warp* w, Body&& body) {
    if ((w->live & ~w->mask) != 0) [[unlikely]] {
        return gather_and_run(i, w, body);
    }
    return body() ? go_on(i + 1, frame, w) : nullptr;
}

} // namespace softgpu::machine::SOFTGPU_TARGET
