// SPDX-License-Identifier: MIT
// Hints about managed memory. Host and device share one memory here, so that hints are only remembered.
#include "softgpu/runtime/memory/managed.hpp"

#include <span>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/capture.hpp"

namespace softgpu::runtime {
namespace {

void require_location(const memory_location& at) {
    switch (at.type) {
    case location_type::device: require(at.id == 0, error::invalid_device); return;
    case location_type::host:
    case location_type::host_numa:
    case location_type::host_numa_current: return;
    case location_type::none: break;
    }
    fail(error::invalid_value);
}

managed_advice& advice_of(context& gpu, const void* pointer, std::size_t bytes) {
    require(bytes != 0);
    const auto address = reinterpret_cast<memory::address>(pointer);
    const auto found = gpu.memory().find(address, bytes);
    require(found.has_value() && found->kind == memory::allocation_kind::managed);
    return gpu.state().managed[found->base];
}

// As the older attributes have it: a device's number, -1 for the host, -2 for none.
int number_of(const memory_location& at) {
    return at.type == location_type::none ? no_device_number : at.type == location_type::device ? at.id : host_number;
}

void give(void* data, std::size_t data_bytes, range_attribute which, const managed_advice& advice) {
    require(data != nullptr && data_bytes >= sizeof(int) && data_bytes % sizeof(int) == 0);
    const std::span<int> out(static_cast<int*>(data), data_bytes / sizeof(int));
    require(which == range_attribute::accessed_by || out.size() == 1);
    switch (which) {
    case range_attribute::read_mostly: out[0] = advice.read_mostly ? 1 : 0; return;
    case range_attribute::preferred_location: out[0] = number_of(advice.preferred); return;
    case range_attribute::accessed_by:
        for (int& place : out) {
            place = no_device_number;
        }
        if (advice.accessed_by_device) {
            out[0] = 0;
        }
        return;
    case range_attribute::last_prefetch_location: out[0] = number_of(advice.last_prefetch); return;
    case range_attribute::preferred_location_type: out[0] = static_cast<int>(advice.preferred.type); return;
    case range_attribute::preferred_location_id: out[0] = advice.preferred.id; return;
    case range_attribute::last_prefetch_location_type: out[0] = static_cast<int>(advice.last_prefetch.type); return;
    case range_attribute::last_prefetch_location_id: out[0] = advice.last_prefetch.id; return;
    }
    fail(error::invalid_value);
}

} // namespace

void prefetch(const void* pointer, std::size_t bytes, memory_location to, unsigned flags, stream* on) {
    context& gpu = context::current();
    const locked lock(gpu.mutex());
    require(flags == 0);
    require_location(to);
    gpu.must_be_alive();
    require_not_capturing(gpu, gpu.checked(on));
    advice_of(gpu, pointer, bytes).last_prefetch = to;
}

void discard(const void* pointer, std::size_t bytes, stream* on) {
    context& gpu = context::current();
    const locked lock(gpu.mutex());
    gpu.must_be_alive();
    require_not_capturing(gpu, gpu.checked(on));
    (void)advice_of(gpu, pointer, bytes);
}

void advise(const void* pointer, std::size_t bytes, memory_advice what, memory_location at) {
    context& gpu = context::current();
    const locked lock(gpu.mutex());
    gpu.must_be_alive();
    managed_advice& advice = advice_of(gpu, pointer, bytes);
    switch (what) {
    case memory_advice::set_read_mostly:
    case memory_advice::unset_read_mostly: advice.read_mostly = what == memory_advice::set_read_mostly; return;
    case memory_advice::set_preferred_location:
        require_location(at);
        advice.preferred = at;
        return;
    case memory_advice::unset_preferred_location: advice.preferred = {location_type::none, no_device_number}; return;
    case memory_advice::set_accessed_by:
    case memory_advice::unset_accessed_by:
        require_location(at);
        if (at.type == location_type::device) {
            advice.accessed_by_device = what == memory_advice::set_accessed_by;
        }
        return;
    }
    fail(error::invalid_value);
}

#pragma GCC visibility push(default)
extern "C" {

error cudaMemRangeGetAttribute(void* data, std::size_t data_bytes, range_attribute which, const void* pointer,
                               std::size_t bytes) {
    return call([&](context& gpu, locked&) {
        gpu.must_be_alive();
        give(data, data_bytes, which, advice_of(gpu, pointer, bytes));
    });
}

error cudaMemRangeGetAttributes(void** data, std::size_t* data_bytes, range_attribute* which, std::size_t count,
                                const void* pointer, std::size_t bytes) {
    return call([&](context& gpu, locked&) {
        require(data != nullptr && data_bytes != nullptr && which != nullptr && count != 0);
        gpu.must_be_alive();
        const managed_advice& advice = advice_of(gpu, pointer, bytes);
        for (std::size_t i = 0; i < count; ++i) {
            give(data[i], data_bytes[i], which[i], advice);
        }
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
