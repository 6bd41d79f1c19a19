// SPDX-License-Identifier: MIT
// What a call does that is not there.
#pragma once

#include "softgpu/runtime/abi/error.hpp"

namespace softgpu::runtime {

// Says "softgpu: cudaFoo is not supported" on stderr and returns cudaErrorNotSupported.
error refuse(const char* name) noexcept;

} // namespace softgpu::runtime
