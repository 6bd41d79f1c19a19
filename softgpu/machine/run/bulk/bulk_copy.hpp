// SPDX-License-Identifier: MIT
// cp.async.bulk, cp.reduce.async.bulk, st.async, red.async and st.bulk. Operands: code/bulk_operands.hpp. d.more has the number of the
// reduction (reduction.hpp) behind bulk_kind_shift; 0: a copy.
#pragma once

#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

// Handlers. From global memory to shared memory of the cluster's blocks.
const instruction* start_bulk_load(const instruction* i, std::byte* frame, warp* w);
// From the block's own shared memory to that of a block of the cluster.
const instruction* start_cluster_copy(const instruction* i, std::byte* frame, warp* w);
// From the block's own shared memory to global memory.
const instruction* start_bulk_store(const instruction* i, std::byte* frame, warp* w);
// Values of registers to shared memory of a block of the cluster: st.async and red.async.
const instruction* start_async_store(const instruction* i, std::byte* frame, warp* w);
// st.bulk: zeros to the block's own shared memory, at once.
const instruction* store_zeros(const instruction* i, std::byte* frame, warp* w);

} // namespace softgpu::machine
