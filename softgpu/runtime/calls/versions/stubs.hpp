// SPDX-License-Identifier: MIT
// Calls that are not implemented.
#pragma once

#include "softgpu/runtime/abi/error.hpp"

namespace softgpu::runtime {

// Prints "softgpu: cudaFoo is not supported" on stderr and returns cudaErrorNotSupported.
error refuse(const char* name) noexcept;

} // namespace softgpu::runtime
