// SPDX-License-Identifier: MIT
// The devices of the process: contexts, numbered from 0, under one lock, so that a call can use several of them. Streams,
// events and memory belong to one device each; the functions below find it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "softgpu/memory/device_memory.hpp"
#include "softgpu/runtime/core/context.hpp"

namespace softgpu::runtime {

class device_group {
public:
    // Creates settings.devices contexts. Throws failure.
    device_group(const settings& s, const context_hooks& hooks);

    [[nodiscard]] int count() const noexcept { return static_cast<int>(members_.size()); }
    // Throws invalid_device for a number that is none of a device.
    [[nodiscard]] context& at(int number) const;
    [[nodiscard]] std::span<const std::unique_ptr<context>> members() const noexcept { return members_; }
    // The memory of managed variables; nullptr if there is one device.
    [[nodiscard]] memory::device_memory* common_memory() const noexcept { return commons_.managed.get(); }
    // Applies another schedule to all devices, while idle. begin_checks: the checks begin anew as well, and allocated memory
    // counts as written.
    void change_settings(const settings& s, bool begin_checks);
    // The serial number of the allocation made last, on any device.
    [[nodiscard]] std::uint64_t last_allocation() const noexcept { return commons_.addresses->last_serial(); }

private:
    context_hooks hooks_;
    device_commons commons_;
    std::vector<std::unique_ptr<context>> members_;
};

// The device of a stream, an event, or an address of device, managed or pinned memory; device 0 for managed variables. `gpu`
// itself for default streams, and for what belongs to no device. To be called with the lock held.
context& find_home(context& gpu, const stream* s);
context& find_home(context& gpu, const event* e);
context& find_home(context& gpu, const void* address);
template <class Thing>
context& home_of(context& gpu, const Thing* of) {
    return gpu.is_alone() ? gpu : find_home(gpu, of);
}
inline context& home_of(context& gpu, memory::address at) { return home_of(gpu, reinterpret_cast<const void*>(at)); }
// The memory that holds the address, or gpu's.
memory::device_memory& find_memory(context& gpu, const void* address);
inline memory::device_memory& memory_of(context& gpu, const void* address) {
    return gpu.is_alone() ? gpu.memory() : find_memory(gpu, address);
}
inline memory::device_memory& memory_of(context& gpu, memory::address at) {
    return memory_of(gpu, reinterpret_cast<const void*>(at));
}

// For calls that CUDA calls potentially unsafe (core/streams/capture_rules.hpp), with the captures of all devices.
void require_safe(context& gpu);

} // namespace softgpu::runtime
