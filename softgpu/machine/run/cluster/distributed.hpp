// SPDX-License-Identifier: MIT
// Distributed shared memory: the addresses of .shared::cluster (state/cluster.hpp), and the generic ones of the windows by
// rank.
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
std::uint64_t shared_cluster_address(const launch_state& l, std::uint64_t generic);

// What an address in .shared::cluster names; its offset may be out of bounds. nothing: no block of the cluster.
std::optional<distributed_place> find_distributed(const block& from, std::uint64_t at);
// The same for an access of a lane. nothing: a fault was raised.
std::optional<distributed_place> locate_distributed(const instruction* i, warp* w, unsigned lane, std::uint64_t at,
                                                    std::uint64_t bytes, std::uint64_t alignment, const char* verb);
// The same for the lanes of a mask. `generic`: the addresses are. `each`: where the lanes' bytes are. Counts what is not
// the own block's. false: a fault was raised.
bool locate_distributed(const instruction* i, warp* w, lane_mask mask, const std::uint64_t* at, bool generic,
                        unsigned bytes, const char* verb, std::byte** each);

// Handlers of what converts addresses: mapa in .shared::cluster and generic, getctarank, cvta. width: as decoded.
template <bool Generic>
const instruction* map_address(const instruction* i, std::byte* frame, warp* w);
template <bool Generic>
const instruction* rank_of_address(const instruction* i, std::byte* frame, warp* w);
const instruction* cluster_to_generic(const instruction* i, std::byte* frame, warp* w);
const instruction* generic_to_cluster(const instruction* i, std::byte* frame, warp* w);

} // namespace softgpu::machine
