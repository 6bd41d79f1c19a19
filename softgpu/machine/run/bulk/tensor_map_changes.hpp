// SPDX-License-Identifier: MIT
// tensormap.replace and tensormap.cp_fenceproxy: kernels that change tensor maps.
#pragma once

#include <cstdint>

#include "softgpu/machine/code/form.hpp"
#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

// The field that a tensormap.replace changes, as d.more has it behind bulk_kind_shift; 0: there is none such.
[[nodiscard]] std::uint32_t tensor_map_field(const form& f);

// Handlers. Operands: code/bulk_operands.hpp: the map's address, the new value as bulk_from, the dimension as bulk_size.
// width[2]: bytes of the value. The address is generic with width[3] = 1, else of the form's space.
const instruction* replace_in_tensor_map(const instruction* i, std::byte* frame, warp* w);
// Copies a map from shared to global memory.
const instruction* publish_tensor_map(const instruction* i, std::byte* frame, warp* w);

} // namespace softgpu::machine
