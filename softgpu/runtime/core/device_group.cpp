// SPDX-License-Identifier: MIT
#include "softgpu/runtime/core/device_group.hpp"

#include "softgpu/memory/peers.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/streams/capture_rules.hpp"

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

} // namespace

device_group::device_group(const settings& s, const context_hooks& hooks) : hooks_(hooks) {
    const std::uint64_t memory_bytes = s.device->memory_bytes;
    const auto devices = static_cast<unsigned>(s.devices);
    commons_.addresses = std::make_unique<memory::address_space>(memory::device_memory::reserved_for(memory_bytes),
                                                                 devices == 1 ? 1 : devices + 1);
    commons_.checks = hooks_.begin_checks(s, *commons_.addresses);
    if (devices > 1) {
        commons_.managed = std::make_unique<memory::device_memory>(memory_bytes, *commons_.addresses, devices);
        memory::peers::join_as_common(*commons_.managed);
        if (commons_.checks != nullptr) {
            commons_.checks->add(*commons_.managed);
        }
    }
    members_.reserve(devices);
    for (int number = 0; number < s.devices; ++number) {
        members_.push_back(std::make_unique<context>(s, hooks, *this, commons_, number));
    }
}

void device_group::change_settings(const settings& s, bool begin_checks) {
    for (const auto& c : members_) {
        c->change_settings(s);
    }
    if (!begin_checks) {
        return;
    }
    commons_.checks.reset(); // first, because there is one session at a time
    commons_.checks = hooks_.begin_checks(s, *commons_.addresses);
    if (commons_.checks == nullptr) {
        return;
    }
    for (const auto& c : members_) {
        commons_.checks->add(c->memory(), c->is_alone() ? -1 : c->number());
    }
    if (commons_.managed != nullptr) {
        commons_.checks->add(*commons_.managed);
    }
    commons_.checks->take_over();
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
    if (gpu.group().common_memory()->reserves(at)) {
        return gpu.group().at(0);
    }
    context& owner = first_home(gpu, [at](context& c) { return c.memory().reserves(at); });
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
    return common.reserves(reinterpret_cast<memory::address>(address)) ? common : find_home(gpu, address).memory();
}

} // namespace softgpu::runtime
