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

// Where the windows of shared memory begin in generic addresses: the own block's, and those of the cluster's blocks.
struct shared_windows {
    std::uint64_t own = 0;
    std::uint64_t by_rank = 0;

    explicit shared_windows(const launch_state& l)
        : own(l.memory->shared_window()), by_rank(l.memory->cluster_window()) {}

    [[nodiscard]] bool is_by_rank(std::uint64_t generic) const {
        return generic - by_rank < memory::device_memory::cluster_window_bytes;
    }
    // Between generic addresses and those in .shared::cluster.
    [[nodiscard]] std::uint64_t to_shared(std::uint64_t generic) const {
        return is_by_rank(generic) ? generic - by_rank + memory::device_memory::window_bytes : generic - own;
    }
    [[nodiscard]] std::uint64_t to_generic(std::uint64_t at) const {
        const std::uint64_t ranked = at - memory::device_memory::window_bytes;
        return ranked < memory::device_memory::cluster_window_bytes ? ranked + by_rank : at + own;
    }
};

// Whether a generic address is in shared memory by rank.
inline bool is_in_cluster_window(const launch_state& l, std::uint64_t at) { return shared_windows(l).is_by_rank(at); }

// The address in .shared::cluster of a generic address of shared memory.
inline std::uint64_t shared_cluster_address(const launch_state& l, std::uint64_t generic) {
    return shared_windows(l).to_shared(generic);
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
