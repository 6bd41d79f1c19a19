// SPDX-License-Identifier: MIT
// Looks at what ldmatrix, stmatrix, wmma.load and wmma.store are about to access. The bytes at an
// address count as accessed by the lane that gives it.
#include "softgpu/machine/code/matrix/matrix_shape.hpp"
#include "softgpu/machine/handlers/checks/inspect_lanes.hpp"
#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/matrix/fragment_addresses.hpp"
#include "softgpu/machine/inspect/block_checks.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

constexpr unsigned rows_a_matrix = 8;

template <access_verb Verb>
void inspect_one(const instruction* i, std::byte* frame, warp* w, std::uint64_t* at, lane_mask mask) {
    const access_space space = i->access->space;
    const std::uint64_t base = space == access_space::generic ? w->host->launch->memory->shared_window() : 0;
    const bool in_shared =
        space == access_space::shared ||
        (space == access_space::generic && at[first_lane(mask)] - base < memory::device_memory::window_bytes);
    if (!in_shared) {
        inspect_global<Verb>(i, frame, w, at, mask);
        return;
    }
    for (unsigned l = 0; l < lanes; ++l) {
        at[l] -= base;
    }
    if (Verb == access_verb::store) {
        w->owner->view->shared_stored = w->owner->view->time;
    }
    inspect_shared<Verb>(i, frame, w, at, mask);
}

// The lanes have waited for each other, as at a shuffle: the last to come finds the others parked at the instruction.
const instruction* meet_warp(const instruction* i, const warp* w) {
    lane_mask here = w->mask;
    for (std::uint32_t k = 0; k < w->parked; ++k) {
        const split& s = w->splits[k];
        if (s.why == waiting::others && s.members == all_lanes && s.pc == i + 1) {
            here |= s.mask;
        }
    }
    if ((w->live & ~here) == 0) {
        w->owner->checks->clock.synchronize_warp(w->index, here, true);
    }
    return i + 1;
}

template <access_verb Verb>
const instruction* inspect_rows(const instruction* i, std::byte* frame, warp* w) {
    alignas(64) std::uint64_t at[lanes];
    addresses(at, i, w);
    const lane_mask mask = w->mask & lanes_from(0, rows_a_matrix * i->more);
    if (mask != 0) {
        inspect_one<Verb>(i, frame, w, at, mask);
    }
    return meet_warp(i, w);
}

template <access_verb Verb>
const instruction* inspect_fragment(const instruction* i, std::byte* frame, warp* w) {
    const fragment_plan& p = fragment_plan_at(i->more);
    fragment_base base;
    find_fragment(base, i, w, p);
    for (unsigned r = 0; r < p.used; ++r) {
        for (unsigned part = 0; part < (p.contiguous ? 1 : p.parts); ++part) {
            alignas(64) std::uint64_t at[lanes];
            fragment_addresses(at, base, p, r, part);
            inspect_one<Verb>(i, frame, w, at, w->mask);
        }
    }
    return meet_warp(i, w);
}

} // namespace

handler choose_matrix_check(const form& f) {
    switch (f.op) {
    case opcode::ldmatrix: return inspect_rows<access_verb::load>;
    case opcode::stmatrix: return inspect_rows<access_verb::store>;
    case opcode::wmma:
        return f.has(suffix::load)    ? inspect_fragment<access_verb::load>
               : f.has(suffix::store) ? inspect_fragment<access_verb::store>
                                      : nullptr;
    default: return nullptr;
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
