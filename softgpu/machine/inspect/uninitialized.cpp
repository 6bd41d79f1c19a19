// SPDX-License-Identifier: MIT
#include "softgpu/machine/inspect/uninitialized.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/inspect/block_checks.hpp"
#include "softgpu/machine/inspect/report.hpp"

namespace softgpu::machine {

namespace {

std::vector<uninitialized_value>& values_of(warp* w) { return w->owner->checks->uninitialized[w->index]; }

void forget_empty(std::vector<uninitialized_value>& all) {
    std::erase_if(all, [](const uninitialized_value& v) { return v.held_by == 0; });
}

lane_mask held(const std::vector<uninitialized_value>& all, const std::byte* frame, std::uint32_t reg) {
    for (const uninitialized_value& v : all) {
        if (v.frame == frame && v.reg == reg) {
            return v.held_by;
        }
    }
    return 0;
}

// `lanes` of the register hold what `like` holds; others keep what they have.
void hold(std::vector<uninitialized_value>& all, std::uint32_t reg, lane_mask by, uninitialized_value like) {
    if (by == 0) {
        return;
    }
    for (uninitialized_value& v : all) {
        if (v.frame == like.frame && v.reg == reg) {
            v.held_by |= by;
            return;
        }
    }
    like.reg = reg;
    like.held_by = by;
    all.push_back(like);
}

lane_mask mask_at(const warp* w, std::byte* frame, place p) {
    lane_mask m = 0;
    std::memcpy(&m, lanes_at(frame, w, p), sizeof(m));
    return m;
}

} // namespace

const instruction* follow_values(const instruction* i, std::byte* frame, warp* w) {
    auto& all = values_of(w);
    if (all.empty()) {
        return i + 1;
    }
    const register_flow& flow = frame_of(frame)->code->flows[static_cast<std::size_t>(i->immediate)];
    const auto of = [&](std::size_t k) { return held(all, frame, flow.from[k]) & w->mask; };
    lane_mask result = 0;
    for (std::size_t k = 0; k < flow.from.size(); ++k) {
        result |= of(k);
    }
    uninitialized_value like;
    for (const uninitialized_value& v : all) {
        if (v.frame == frame && (v.held_by & result) != 0 &&
            std::find(flow.from.begin(), flow.from.end(), v.reg) != flow.from.end()) {
            like = v;
            break;
        }
    }
    switch (flow.how) {
    case value_flow::use:
        for (uninitialized_value& v : all) {
            if (v.frame != frame || std::find(flow.from.begin(), flow.from.end(), v.reg) == flow.from.end()) {
                continue;
            }
            for (lane_mask m = v.held_by & w->mask; m != 0; m &= m - 1) {
                report_uninitialized(*v.read_by, w, static_cast<unsigned>(std::countr_zero(m)), access_space::shared,
                                     v.at);
            }
            v.held_by &= ~w->mask;
        }
        result = 0;
        break;
    case value_flow::choice: {
        const lane_mask first = mask_at(w, frame, flow.condition);
        result = of(2) | (of(0) & first) | (of(1) & ~first);
        break;
    }
    case value_flow::conjunction:
    case value_flow::disjunction: {
        const lane_mask settles = flow.how == value_flow::conjunction ? 0 : all_lanes;
        result &= ~((~mask_at(w, frame, flow.condition) ^ settles) & ~of(0));
        result &= ~((~mask_at(w, frame, flow.second) ^ settles) & ~of(1));
        break;
    }
    case value_flow::copy:
    case value_flow::other: break;
    }
    for (uninitialized_value& v : all) {
        if (v.frame == frame && std::find(flow.to.begin(), flow.to.end(), v.reg) != flow.to.end()) {
            v.held_by &= ~w->mask;
        }
    }
    for (const std::uint32_t reg : flow.to) {
        hold(all, reg, result, like);
    }
    forget_empty(all);
    return i + 1;
}

void hold_uninitialized(const access_site& site, warp* w, unsigned lane, unsigned element, std::uint64_t at) {
    const ptx::operand& to = site.function->instructions[site.source].operands.at(0);
    const ptx::operand& one = to.elements.empty() ? to : to.elements.at(element);
    if (one.kind == ptx::operand_kind::reg) {
        hold(values_of(w), one.reg, lane_mask{1} << lane, {w->frame, one.reg, 0, &site, at});
    }
}

void report_uninitialized(const access_site& site, warp* w, unsigned lane, access_space space, std::uint64_t at) {
    launch_state& l = *w->host->launch;
    const char* const kind = "read of unwritten memory";
    if (count_again(l, check::init, kind, false, {site.function, site.source}, {})) {
        return;
    }
    const char* const name = space == access_space::global   ? "global"
                             : space == access_space::shared ? "shared"
                                                             : "local";
    report(l,
           {.check = check::init,
            .kind = kind,
            .message = std::string("nobody has written these bytes of ") + name + " memory",
            .at = space == access_space::global   ? place_in_global(l, at)
                  : space == access_space::shared ? place_in_shared(l, at)
                                                  : address_facts{"local memory + " + std::to_string(at), {}}},
           access_by_site(site, w, lane));
}

} // namespace softgpu::machine
