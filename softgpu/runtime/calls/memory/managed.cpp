// SPDX-License-Identifier: MIT
// What is advised about managed memory. The calls that advise differ by version (calls/versions).
#include <span>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/memory/managed.hpp"

namespace softgpu::runtime {
namespace {

// In the older attributes: a device's number, -1 for the host, -2 for none.
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
        for (auto next = advice.accessed_by.begin(); int& place : out) {
            place = next == advice.accessed_by.end() ? no_device_number : *next++;
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

#pragma GCC visibility push(default)
extern "C" {

error cudaMemRangeGetAttribute(void* data, std::size_t data_bytes, range_attribute which, const void* pointer,
                               std::size_t bytes) {
    return call([&](context& gpu, locked&) {
        gpu.require_usable();
        give(data, data_bytes, which, advice_of(gpu, pointer, bytes));
    });
}

error cudaMemRangeGetAttributes(void** data, std::size_t* data_bytes, range_attribute* which, std::size_t count,
                                const void* pointer, std::size_t bytes) {
    return call([&](context& gpu, locked&) {
        require(data != nullptr && data_bytes != nullptr && which != nullptr && count != 0);
        gpu.require_usable();
        const managed_advice advice = advice_of(gpu, pointer, bytes);
        for (std::size_t i = 0; i < count; ++i) {
            give(data[i], data_bytes[i], which[i], advice);
        }
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
