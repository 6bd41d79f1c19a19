// SPDX-License-Identifier: MIT
// Races on distributed shared memory. A block's shared memory has stamps of its own threads' accesses; those of other blocks
// of the cluster are kept beside them, in the times of global memory.
#pragma once

#include <cstdint>

#include "softgpu/machine/code/access_site.hpp"
#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

// A lane accesses site.bytes bytes at an offset of another block's shared memory.
void check_distributed(const access_site& site, warp* w, block& target, unsigned lane, std::uint64_t offset);
// Lanes access their own block's shared memory, which other blocks have accessed.
void meet_distributed(const instruction* i, warp* w, const std::uint64_t* at, lane_mask mask);
// The block has ended: other blocks' accesses must come before.
void check_end_of_block(block& b);

// Splits the lanes of an access to shared memory. Addresses of the own block become offsets (where `generic`, generic
// addresses); accesses of other blocks' shared memory are checked here, and their lanes returned.
lane_mask inspect_distributed(const instruction* i, warp* w, std::uint64_t* at, bool generic);

} // namespace softgpu::machine
