// SPDX-License-Identifier: MIT
// Asynchronous operations in bulk: begun here, carried out as late as PTX allows (state/pending_bulk.hpp). Under an
// adversarial schedule some are carried out at once.
#pragma once

#include "softgpu/machine/run/cluster/distributed.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

// Begins what brings bytes to shared memory of the cluster; the mbarrier is in the same block's. `i`, `lane`: who.
void begin_incoming(const instruction* i, warp* w, unsigned lane, block& target, incoming_copy what);
// What this mbarrier of the block counts happens, and it counts the bytes.
void finish_incoming(block& target, std::uint32_t barrier);

// Begins what takes bytes from the block's own shared memory.
void begin_outgoing(const instruction* i, warp* w, unsigned lane, outgoing_copy what);
// What these lanes have begun happens, but for the `keep` youngest groups of each.
void finish_outgoing(warp* w, lane_mask by, std::uint32_t keep);

// The lanes have ended: what they have begun happens, committed or not.
void leave_outgoing(warp* w, lane_mask gone);

// Handlers of cp.async.bulk.commit_group and wait_group; a: groups that may still be under way.
const instruction* commit_bulk_group(const instruction* i, std::byte* frame, warp* w);
const instruction* wait_bulk_group(const instruction* i, std::byte* frame, warp* w);

// The mbarrier of a lane's operation, in the shared memory of the same block as `target`. nothing: a fault was raised.
std::optional<std::uint32_t> locate_barrier(const instruction* i, warp* w, unsigned lane, std::uint64_t at,
                                            const block& target);

} // namespace softgpu::machine
