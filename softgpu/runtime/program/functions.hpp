// SPDX-License-Identifier: MIT
// Kernels as the calls name them.
#pragma once

#include "softgpu/runtime/program/registry.hpp"

namespace softgpu::runtime {

// By the host's stub or by handle. Throws invalid_device_function for a null pointer and, as a GPU does,
// invalid_resource_handle for any other address that is no kernel.
function& function_of(const void* kernel);

} // namespace softgpu::runtime
