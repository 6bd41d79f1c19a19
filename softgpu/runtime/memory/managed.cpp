// SPDX-License-Identifier: MIT
#include "softgpu/runtime/memory/managed.hpp"

#include "softgpu/runtime/core/device_group.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/streams/capture_rules.hpp"

namespace softgpu::runtime {
namespace {

void require_location(context& gpu, const memory_location& at) {
    switch (at.type) {
    case location_type::device: (void)gpu.group().at(at.id); return;
    case location_type::host:
    case location_type::host_numa:
    case location_type::host_numa_current: return;
    case location_type::none: break;
    }
    fail(error::invalid_value);
}

} // namespace

managed_advice& advice_of(context& gpu, const void* pointer, std::size_t bytes) {
    require(bytes != 0);
    const auto address = reinterpret_cast<memory::address>(pointer);
    context& home = home_of(gpu, address);
    const auto found = memory_of(gpu, address).find(address, bytes);
    require(found.has_value() && found->kind == memory::allocation_kind::managed);
    return home.part<managed_ranges>().advice[found->base];
}

void prefetch(context& gpu, const void* pointer, std::size_t bytes, memory_location to, unsigned flags, stream* on) {
    require(flags == 0);
    require_location(gpu, to);
    gpu.require_usable();
    require_not_capturing(gpu.streams(), gpu.checked(on));
    advice_of(gpu, pointer, bytes).last_prefetch = to;
}

void discard(context& gpu, const void* pointer, std::size_t bytes, stream* on) {
    gpu.require_usable();
    require_not_capturing(gpu.streams(), gpu.checked(on));
    (void)advice_of(gpu, pointer, bytes);
}

void advise(context& gpu, const void* pointer, std::size_t bytes, memory_advice what, memory_location at) {
    gpu.require_usable();
    managed_advice& advice = advice_of(gpu, pointer, bytes);
    switch (what) {
    case memory_advice::set_read_mostly:
    case memory_advice::unset_read_mostly: advice.read_mostly = what == memory_advice::set_read_mostly; return;
    case memory_advice::set_preferred_location:
        require_location(gpu, at);
        advice.preferred = at;
        return;
    case memory_advice::unset_preferred_location: advice.preferred = {location_type::none, no_device_number}; return;
    case memory_advice::set_accessed_by:
    case memory_advice::unset_accessed_by:
        require_location(gpu, at);
        if (at.type == location_type::device && what == memory_advice::set_accessed_by) {
            advice.accessed_by.insert(at.id);
        } else if (at.type == location_type::device) {
            advice.accessed_by.erase(at.id);
        }
        return;
    }
    fail(error::invalid_value);
}

} // namespace softgpu::runtime
