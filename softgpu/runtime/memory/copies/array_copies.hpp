// SPDX-License-Identifier: MIT
// How arrays take part in copies: as rows of bytes.
#pragma once

#include "softgpu/runtime/abi/copy.hpp"

namespace softgpu::runtime {

class context;

// Checks a copy and returns it as rows of bytes, without arrays. Throws invalid_value, invalid_pitch_value,
// invalid_memcpy_direction or invalid_resource_handle, as CUDA does.
[[nodiscard]] copy_3d require_copy(context& gpu, const copy_3d& what);

} // namespace softgpu::runtime
