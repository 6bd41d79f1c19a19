// SPDX-License-Identifier: MIT
// The driver's contexts. All are views of the one device: they share its memory, its streams and its code.
#pragma once

#include <cstdint>

namespace softgpu::runtime {

// The object behind CUcontext.
struct driver_context {
    unsigned flags = 0;
    std::uint64_t id = 0;
    bool primary = false;
};

// Throws initialization_error before cuInit, unless the program has called the runtime, which initializes the driver too.
void require_initialized();
// The calling thread's current context; nullptr: none. A thread without one has the primary context once the program has
// called the runtime.
[[nodiscard]] driver_context* current_driver_context() noexcept;
// Throws device_uninitialized (CUDA_ERROR_INVALID_CONTEXT) if the thread has none.
void require_current_context();

} // namespace softgpu::runtime
