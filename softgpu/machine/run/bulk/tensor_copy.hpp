// SPDX-License-Identifier: MIT
// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and tensormap.replace. Operands: code/bulk_operands.hpp, with the tensor
// map's address in the place of the address in global memory.
#pragma once

#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

// Handlers. `more`: code/tensor_kinds.hpp.
const instruction* start_tensor_load(const instruction* i, std::byte* frame, warp* w);
const instruction* start_tensor_store(const instruction* i, std::byte* frame, warp* w);

} // namespace softgpu::machine
