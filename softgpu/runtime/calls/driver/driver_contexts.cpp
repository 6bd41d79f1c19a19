// SPDX-License-Identifier: MIT
#include "softgpu/runtime/calls/driver/driver_contexts.hpp"

#include <algorithm>
#include <atomic>

#include "softgpu/runtime/calls/current_context.hpp"
#include "softgpu/runtime/core/failure.hpp"

namespace softgpu::runtime {
namespace {

std::atomic<bool> initialized{false};

} // namespace

driver_contexts::driver_contexts() {
    const int count = existing_devices()->count(); // not all_devices(), which throws in a forked child
    for (int device = 0; device < count; ++device) {
        driver_context& made = primary.emplace_back();
        made.id = ++last_id;
        made.device = device;
        made.primary = true;
    }
}

driver_context& primary_of(int device) {
    (void)all_devices().at(device);
    return all_contexts().primary[static_cast<std::size_t>(device)];
}

void follow_context_stack() {
    const std::vector<driver_context*>& stack = context_stack();
    follow_context(stack.empty() ? device_of_runtime().number : stack.back()->device);
}

driver_contexts& all_contexts() {
    static driver_contexts& only = *new driver_contexts; // never destroyed: static destructors make calls too
    return only;
}

std::vector<driver_context*>& context_stack() {
    thread_local std::vector<driver_context*> of_this_thread;
    thread_local unsigned choices = 0; // of the runtime that the stack has
    if (const runtime_choice& last = device_of_runtime(); last.times != choices) {
        choices = last.times;
        if (!of_this_thread.empty()) {
            of_this_thread.pop_back();
        }
        of_this_thread.push_back(&all_contexts().primary[static_cast<std::size_t>(last.number)]);
    }
    return of_this_thread;
}

driver_context& checked(driver_context* c) {
    driver_contexts& contexts = all_contexts();
    const std::lock_guard lock(contexts.access);
    const bool primary = std::ranges::any_of(contexts.primary, [c](const driver_context& p) { return &p == c; });
    require(primary || contexts.created.contains(c), error::device_uninitialized);
    return *c;
}

void set_initialized() noexcept { initialized = true; }

void require_initialized() {
    if (!initialized.load(std::memory_order_relaxed)) {
        require(existing_context() != nullptr, error::initialization_error); // a call of the runtime makes one
    }
    (void)all_devices();
}

driver_context* current_driver_context() noexcept {
    if (const std::vector<driver_context*>& stack = context_stack(); !stack.empty()) {
        return stack.back();
    }
    const context* const gpu = existing_context();
    return gpu != nullptr && gpu->is_used_by_runtime()
               ? &all_contexts().primary[static_cast<std::size_t>(gpu->number())]
               : nullptr;
}

void require_current_context() {
    const driver_context* const current = current_driver_context();
    require(current != nullptr, error::device_uninitialized);
    require(!current->destroyed.load(std::memory_order_relaxed), error::context_is_destroyed);
}

} // namespace softgpu::runtime
