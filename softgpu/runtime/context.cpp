// SPDX-License-Identifier: MIT
// How the context comes to be, how it fails, and how it is reset.
#include "softgpu/runtime/context.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "softgpu/runtime/call.hpp"
#include "softgpu/runtime/registry.hpp"

namespace softgpu::runtime {
namespace {

std::atomic<context*> the_context{nullptr};

std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view() : std::string_view(value);
}

const card* read_card() {
    const std::string_view asked = environment("SOFTGPU_DEVICE");
    if (asked.empty()) {
        return &all_cards().front();
    }
    const card* found = find_card(asked);
    if (found == nullptr) {
        std::string names;
        for (const card& c : all_cards()) {
            names += names.empty() ? "" : ", ";
            names += c.key;
        }
        fail(error::invalid_device, "SOFTGPU_DEVICE=" + std::string(asked) + " names no card; there are " + names);
    }
    return found;
}

unsigned read_workers() {
    const std::string_view asked = environment("SOFTGPU_WORKERS");
    unsigned workers = 0;
    if (!asked.empty()) {
        const auto [end, wrong] = std::from_chars(asked.data(), asked.data() + asked.size(), workers);
        if (wrong != std::errc{} || end != asked.data() + asked.size() || workers > 4096) {
            fail(error::initialization_error,
                 "SOFTGPU_WORKERS=" + std::string(asked) + " is no number of threads from 0 (all) to 4096");
        }
    }
    return workers;
}

} // namespace

settings read_settings() {
    settings s;
    s.device = read_card();
    s.workers = read_workers();
    s.count = environment("SOFTGPU_COUNT") != "0";
    s.counters_path = environment("SOFTGPU_COUNTERS");
    return s;
}

context& context::current() {
    if (context* made = the_context.load(std::memory_order_acquire)) {
        return *made;
    }
    static std::mutex& making = *new std::mutex;
    const std::lock_guard lock(making);
    if (the_context.load(std::memory_order_relaxed) == nullptr) {
        the_context.store(new context(read_settings()), std::memory_order_release);
    }
    return *the_context.load(std::memory_order_relaxed);
}

context* context::existing() noexcept { return the_context.load(std::memory_order_acquire); }

context::context(settings s)
    : settings_(std::move(s)), state_(std::make_unique<device_state>(settings_.device->memory_bytes)) {}

void context::must_be_alive() const {
    if (fault_is_known_) {
        fail(fault_);
    }
}

void context::synchronize() {
    {
        const std::lock_guard turn(queue_);
        fault_is_known_ = poisoned();
    }
    must_be_alive();
}

void context::poison(error e) noexcept {
    error none = error::success;
    fault_.compare_exchange_strong(none, e);
}

void context::reset() {
    const std::lock_guard turn(queue_);
    registry::instance().unload();
    state_.reset();
    state_ = std::make_unique<device_state>(settings_.device->memory_bytes);
    fault_ = error::success;
    fault_is_known_ = false;
    registry::instance().reload_managed(*this);
}

stream* context::checked(stream* s) const {
    require(is_default(s) || state_->streams.find(s) != state_->streams.end(), error::invalid_resource_handle);
    return s;
}

event& context::checked(event* e) const {
    require(state_->events.find(e) != state_->events.end(), error::invalid_resource_handle);
    return *e;
}

} // namespace softgpu::runtime
