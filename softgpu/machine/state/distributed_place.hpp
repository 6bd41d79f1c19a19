// SPDX-License-Identifier: MIT
// What an address of distributed shared memory names: one in .shared::cluster (state/cluster.hpp), or a generic one in the
// windows by rank.
#pragma once

#include <cstdint>
#include <optional>

#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

struct distributed_place {
    block* owner = nullptr;
    std::uint64_t offset = 0;
};

// Whether a generic address is in shared memory by rank.
inline bool is_in_cluster_window(const launch_state& l, std::uint64_t at) {
    return at - l.memory->cluster_window() < memory::device_memory::cluster_window_bytes;
}

// The address in .shared::cluster of a generic address of shared memory.
inline std::uint64_t shared_cluster_address(const launch_state& l, std::uint64_t generic) {
    return is_in_cluster_window(l, generic) ? generic - l.memory->cluster_window() + memory::device_memory::window_bytes
                                            : generic - l.memory->shared_window();
}

// What an address in .shared::cluster names; its offset may be out of bounds. nothing: no block of the cluster.
inline std::optional<distributed_place> find_distributed(const block& from, std::uint64_t at) {
    const std::uint64_t rank = at >> cluster_rank_shift;
    if (rank == 0) {
        return distributed_place{const_cast<block*>(&from), at};
    }
    if (rank > from.group->members.size()) {
        return std::nullopt;
    }
    return distributed_place{from.group->members[rank - 1], at & cluster_offset_bits};
}

} // namespace softgpu::machine
