// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/warp/warpgroup.hpp"

#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/run/fault.hpp"
#include "softgpu/machine/run/warp/divergence.hpp"

namespace softgpu::machine {

namespace {

bool waits_at(const split& s, const instruction* at) {
    return s.why == waiting::others && s.members == all_lanes && s.pc == at;
}

lane_mask waiting_at(const warp& w, const instruction* at) {
    lane_mask there = 0;
    for (std::uint32_t k = 0; k < w.parked; ++k) {
        there |= waits_at(w.splits[k], at) ? w.splits[k].mask : 0;
    }
    return there;
}

bool is_product(const split& s) {
    const ptx::instruction& i = frame_of(s.frame)->code->source->instructions[s.pc->source];
    return i.op == ptx::opcode::wgmma && i.has(ptx::suffix::mma_async);
}

// A lane of it waits at a product that is another instruction.
bool waits_elsewhere(const warp& w, const instruction* at) {
    for (std::uint32_t k = 0; k < w.parked; ++k) {
        const split& s = w.splits[k];
        if (s.why == waiting::others && s.pc != at && is_product(s)) {
            return true;
        }
    }
    return false;
}

void load_one_at(warp* w, const instruction* at) {
    for (std::uint32_t k = 0; k < w->parked; ++k) {
        if (waits_at(w->splits[k], at)) {
            w->splits[k].why = waiting::no;
            break;
        }
    }
    next_split(w);
}

} // namespace

std::array<warp*, warpgroup_warps> warpgroup_of(const warp* w) {
    std::array<warp*, warpgroup_warps> all{};
    for (unsigned k = 0; k < warpgroup_warps; ++k) {
        all[k] = &w->owner->members[w->index / warpgroup_warps * warpgroup_warps + k];
    }
    return all;
}

bool gather_warpgroup(warp* w, const instruction* at, const instruction** next) {
    if ((w->index | (warpgroup_warps - 1)) >= w->owner->warps) {
        *next = raise(w, at, fault_kind::trap, "wgmma in a warp that is not of a whole warpgroup of four", w->mask);
        return false;
    }
    bool all = (w->live & ~(w->mask | waiting_at(*w, at))) == 0;
    for (const warp* const m : warpgroup_of(w)) {
        if (m == w) {
            continue;
        }
        if (m->live == 0) {
            *next = raise(w, at, fault_kind::trap, "wgmma after a warp of the warpgroup has ended", w->mask);
            return false;
        }
        if (waits_elsewhere(*m, at)) {
            *next =
                raise(w, at, fault_kind::trap, "the warps of a warpgroup are at different wgmma.mma_async", w->mask);
            return false;
        }
        all = all && !m->running && (m->live & ~waiting_at(*m, at)) == 0;
    }
    if (!all) {
        *next = wait_for_others(w, all_lanes, at);
        return false;
    }
    for (warp* const m : warpgroup_of(w)) {
        if (m != w) {
            load_one_at(m, at);
        }
    }
    return true;
}

} // namespace softgpu::machine
