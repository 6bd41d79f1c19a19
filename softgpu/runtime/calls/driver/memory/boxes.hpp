// SPDX-License-Identifier: MIT
// The driver's descriptions of copies of boxes, as the runtime's and back.
#pragma once

#include "softgpu/runtime/abi/copy.hpp"
#include "softgpu/runtime/abi/driver.hpp"

namespace softgpu::runtime {

class context;

// Throw failure for what the runtime cannot describe.
[[nodiscard]] copy_3d copy_of(context& gpu, const driver_copy_2d& c);
[[nodiscard]] copy_3d copy_of(context& gpu, const driver_copy_3d& c);
[[nodiscard]] driver_copy_3d driver_copy_of(context& gpu, const copy_3d& c);

} // namespace softgpu::runtime
