// SPDX-License-Identifier: MIT
// The driver's contexts. All are views of the one device: they share its memory, its streams and its code.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "softgpu/runtime/core/handle_set.hpp"

namespace softgpu::runtime {

// The object behind CUcontext.
struct driver_context {
    unsigned flags = 0;
    std::uint64_t id = 0;
    bool primary = false;
};

// The contexts of the process.
struct driver_contexts {
    std::mutex access;
    driver_context primary{.flags = 0, .id = 1, .primary = true};
    unsigned retained = 0; // references to the primary context
    std::uint64_t last_id = 1;
    handle_set<driver_context> created;
};
driver_contexts& all_contexts();
// The calling thread's contexts; the current one is last.
std::vector<driver_context*>& context_stack();
// Throws device_uninitialized (CUDA_ERROR_INVALID_CONTEXT) for an unknown handle.
driver_context& checked(driver_context* c);

// cuInit has been called.
void set_initialized() noexcept;
// Throws initialization_error before cuInit, unless the program has called the runtime, which initializes the driver too.
void require_initialized();
// The calling thread's current context; nullptr: none. A thread without one has the primary context once the program has
// called the runtime.
[[nodiscard]] driver_context* current_driver_context() noexcept;
// Throws device_uninitialized if the thread has none.
void require_current_context();

} // namespace softgpu::runtime
