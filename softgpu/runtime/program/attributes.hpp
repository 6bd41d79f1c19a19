// SPDX-License-Identifier: MIT
// Attributes of kernels on a device.
#pragma once

#include "softgpu/runtime/abi/launch.hpp"

namespace softgpu::runtime {

class context;

// Loads the kernel. Throws failure.
[[nodiscard]] function_attributes attributes_of(context& gpu, function& f);

} // namespace softgpu::runtime
