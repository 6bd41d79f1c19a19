// SPDX-License-Identifier: MIT
// What the calls that free memory share.
#pragma once

#include "softgpu/memory/device_memory.hpp"

namespace softgpu::runtime {

class context;

[[nodiscard]] bool is_from_malloc(const memory::allocation& a) noexcept;
// Throws invalid_value for what no call has allocated, or what has been freed.
void release(context& gpu, void* pointer);

} // namespace softgpu::runtime
