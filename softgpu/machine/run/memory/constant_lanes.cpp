// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/memory/constant_lanes.hpp"

namespace softgpu::machine {

lane_mask constant_lanes(const launch_state& l, const std::uint64_t* addresses, lane_mask mask) {
    memory::allocation last; // lanes are likely to be in one
    lane_mask found = 0;
    each_lane(mask, [&](unsigned lane) {
        const std::uint64_t a = addresses[lane];
        if (!last.contains(a, 1)) {
            last = l.memory->find(a).value_or(memory::allocation{});
        }
        const bool constant = last.kind == memory::allocation_kind::constant && last.base != l.constant_base;
        found |= (constant && last.contains(a, 1) ? 1u : 0u) << lane;
    });
    return found;
}

} // namespace softgpu::machine
