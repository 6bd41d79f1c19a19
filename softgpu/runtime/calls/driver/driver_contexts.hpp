// SPDX-License-Identifier: MIT
// The driver's contexts. Those of a device are views of it: they share its memory, its streams and its code.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "softgpu/runtime/core/handle_set.hpp"

namespace softgpu::runtime {

// The object behind CUcontext.
struct driver_context {
    unsigned flags = 0;
    std::uint64_t id = 0;
    int device = 0;
    bool primary = false;
    unsigned retained = 0; // references to a primary context
    std::atomic<bool> destroyed{false};
};

// The contexts of the process.
struct driver_contexts {
    driver_contexts();

    std::mutex access;
    std::deque<driver_context> primary; // by device
    std::uint64_t last_id = 0;
    handle_set<driver_context> created;
    std::vector<std::unique_ptr<driver_context>> destroyed; // kept, because other threads' stacks may have them
};
// After the first call of the process.
driver_contexts& all_contexts();
// The calling thread's contexts; the current one is last. cudaSetDevice has put its device's primary context in the place of
// the current one.
std::vector<driver_context*>& context_stack();
// The primary context of a device. Throws invalid_device.
driver_context& primary_of(int device);
// Makes the current context's device the thread's current device; without a context the one that cudaSetDevice has chosen.
void follow_context_stack();
// Throws device_uninitialized (CUDA_ERROR_INVALID_CONTEXT) for an unknown handle.
driver_context& checked(driver_context* c);

// cuInit has been called.
void set_initialized() noexcept;
// Throws initialization_error before cuInit, unless the program has called the runtime, which initializes the driver too, and
// in a forked child.
void require_initialized();
// The calling thread's current context, which another thread may have destroyed; nullptr: none. A thread without one has its
// device's primary context once the program has called the runtime.
[[nodiscard]] driver_context* current_driver_context() noexcept;
// Throws device_uninitialized if the thread has none, context_is_destroyed if it is destroyed.
void require_current_context();

} // namespace softgpu::runtime
