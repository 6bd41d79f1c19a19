// SPDX-License-Identifier: MIT
#include "softgpu/runtime/calls/driver/driver_contexts.hpp"

#include <atomic>

#include "softgpu/runtime/calls/current_context.hpp"
#include "softgpu/runtime/core/failure.hpp"

namespace softgpu::runtime {
namespace {

std::atomic<bool> initialized{false};

} // namespace

driver_contexts& all_contexts() {
    static driver_contexts& only = *new driver_contexts; // never destroyed: static destructors make calls too
    return only;
}

std::vector<driver_context*>& context_stack() {
    thread_local std::vector<driver_context*> of_this_thread;
    return of_this_thread;
}

driver_context& checked(driver_context* c) {
    driver_contexts& contexts = all_contexts();
    const std::lock_guard lock(contexts.access);
    require(c == &contexts.primary || contexts.created.contains(c), error::device_uninitialized);
    return *c;
}

void set_initialized() noexcept { initialized = true; }

void require_initialized() {
    if (initialized.load(std::memory_order_relaxed)) {
        return;
    }
    const context* const gpu = existing_context();
    require(gpu != nullptr && gpu->is_used_by_runtime(), error::initialization_error);
}

driver_context* current_driver_context() noexcept {
    if (!context_stack().empty()) {
        return context_stack().back();
    }
    const context* const gpu = existing_context();
    return gpu != nullptr && gpu->is_used_by_runtime() ? &all_contexts().primary : nullptr;
}

void require_current_context() {
    const driver_context* const current = current_driver_context();
    require(current != nullptr, error::device_uninitialized);
}

} // namespace softgpu::runtime
