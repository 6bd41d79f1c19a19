// SPDX-License-Identifier: MIT
#include "softgpu/runtime/core/device_group.hpp"

#include <utility>

#include "softgpu/memory/peers.hpp"
#include "softgpu/runtime/core/capture_rules.hpp"
#include "softgpu/runtime/core/failure.hpp"

namespace softgpu::runtime {
namespace {

// The first device for which is_home(context&) holds, gpu before the others; gpu if it holds for none.
template <class Is_home>
context& first_home(context& gpu, Is_home&& is_home) {
    if (is_home(gpu)) {
        return gpu;
    }
    for (const auto& other : gpu.group().members()) {
        if (is_home(*other)) {
            return *other;
        }
    }
    return gpu;
}

bool is_in(const memory::device_memory& memory, memory::address at) {
    return at >= memory.shared_window() && at - memory.shared_window() < memory.reserved_bytes();
}

} // namespace

device_group::device_group(const settings& s, const context_hooks& hooks) {
    if (s.devices > 1) {
        common_memory_ = std::make_unique<memory::device_memory>(s.device->memory_bytes);
        memory::peers::join_as_common(*common_memory_);
    }
    members_.reserve(static_cast<std::size_t>(s.devices));
    for (int number = 0; number < s.devices; ++number) {
        members_.push_back(std::make_unique<context>(s, hooks, *this, commons_, number));
    }
}

context& device_group::at(int number) const {
    require(number >= 0 && number < count(), error::invalid_device);
    return *members_[static_cast<std::size_t>(number)];
}

context& find_home(context& gpu, const stream* s) {
    return is_default(s) ? gpu : first_home(gpu, [s](context& c) { return c.streams().contains(s); });
}

context& find_home(context& gpu, const event* e) {
    return first_home(gpu, [e](context& c) { return c.state().events.contains(e); });
}

context& find_home(context& gpu, const void* address) {
    const auto at = reinterpret_cast<memory::address>(address);
    if (is_in(*gpu.group().common_memory(), at)) {
        return gpu.group().at(0);
    }
    context& owner = first_home(gpu, [at](context& c) { return is_in(c.memory(), at); });
    if (&owner != &gpu) {
        return owner;
    }
    return first_home(gpu, [at](context& c) { return c.memory().find(at).has_value(); });
}

void require_safe(context& gpu) {
    for (const auto& c : gpu.group().members()) {
        require_safe(c->streams());
    }
}

memory::device_memory& find_memory(context& gpu, const void* address) {
    memory::device_memory& common = *gpu.group().common_memory();
    return is_in(common, reinterpret_cast<memory::address>(address)) ? common : find_home(gpu, address).memory();
}

} // namespace softgpu::runtime
