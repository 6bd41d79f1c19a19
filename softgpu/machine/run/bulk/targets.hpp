// SPDX-License-Identifier: MIT
// The blocks that a lane's operation brings bytes to.
#pragma once

#include "softgpu/machine/run/bulk/bulk_lanes.hpp"
#include "softgpu/machine/run/bulk/pending.hpp"
#include "softgpu/machine/run/fault.hpp"

namespace softgpu::machine {

// body(block, copy) for the block that the lane's address names or, of a multicast, for the blocks of its mask, at the same
// offsets. The copy lacks only how it writes. false: a fault was raised.
template <class Body>
bool each_target(const instruction* i, warp* w, unsigned lane, const bulk_lane& operands, std::uint32_t bytes,
                 std::uint64_t alignment, Body&& body) {
    const auto to = locate_distributed(i, w, lane, operands.to(), bytes, alignment, "write");
    if (!to) {
        return false;
    }
    const auto barrier = locate_barrier(i, w, lane, operands.barrier(), *to->owner);
    if (!barrier) {
        return false;
    }
    incoming_copy c;
    c.to = static_cast<std::uint32_t>(to->offset);
    c.bytes = bytes;
    c.counted = bytes;
    c.barrier = *barrier;
    if (!operands.has(bulk_mask)) {
        body(*to->owner, std::move(c));
        return true;
    }
    const auto mask = static_cast<std::uint32_t>(operands.value(bulk_mask, 2));
    const auto& members = w->owner->group->members;
    if (mask >> members.size() != 0) {
        raise(w, i, fault_kind::trap, "multicast to a rank that the cluster does not have", 1u << lane);
        return false;
    }
    for (std::uint32_t rank = 0; rank < members.size(); ++rank) {
        if ((mask >> rank & 1u) == 0) {
            continue;
        }
        if (!locate_distributed(i, w, lane, cluster_address(to->offset, rank), bytes, alignment, "write")) {
            return false;
        }
        body(*members[rank], c);
    }
    return true;
}

} // namespace softgpu::machine
