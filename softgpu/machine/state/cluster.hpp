// SPDX-License-Identifier: MIT
// A cluster: blocks that run on one worker and access each other's shared memory. A launch without clusters has clusters of
// one block.
//
// An address in .shared::cluster is (rank + 1) << 24 | offset, and an offset alone in the thread's own block. So addresses of
// .shared are addresses of .shared::cluster.
#pragma once

#include <cstdint>
#include <vector>

#include "softgpu/memory/device_memory.hpp"

namespace softgpu::machine {

struct block;

struct cluster {
    std::vector<block*> members; // by rank
    std::uint32_t blocks_live = 0;
    std::uint32_t threads_live = 0;
    std::uint32_t arrived = 0; // at the barrier, of these
    std::uint32_t phase = 0;   // of the barrier
};

inline constexpr unsigned cluster_rank_shift = 24;
inline constexpr std::uint64_t cluster_offset_bits = (1ull << cluster_rank_shift) - 1;
static_assert(1ull << cluster_rank_shift == memory::device_memory::window_bytes);

// Ranks that no cluster has give an address that is at fault when it is used.
constexpr std::uint64_t cluster_address(std::uint64_t offset, std::uint32_t rank) noexcept {
    constexpr std::uint32_t none = memory::device_memory::most_cluster_blocks;
    return (std::uint64_t{rank < none ? rank : none} + 1) << cluster_rank_shift | (offset & cluster_offset_bits);
}

} // namespace softgpu::machine
