// SPDX-License-Identifier: MIT
// tensormap.replace and tensormap.cp_fenceproxy: kernels that change tensor maps.
#pragma once

#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

// Handlers. `more`: code/tensor_kinds.hpp. Operands: code/bulk_operands.hpp: the map's address, the new value as bulk_from, the dimension as bulk_size.
// width[2]: bytes of the value. The address is generic with width[3] = 1, else of the form's space.
const instruction* replace_in_tensor_map(const instruction* i, std::byte* frame, warp* w);
// Copies a map from shared to global memory.
const instruction* publish_tensor_map(const instruction* i, std::byte* frame, warp* w);

} // namespace softgpu::machine
