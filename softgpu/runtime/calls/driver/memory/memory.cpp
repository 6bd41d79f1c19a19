// SPDX-License-Identifier: MIT
// Memory: allocations, pools, and what is known about a pointer.
#include <cstdint>
#include <cstring>
#include <optional>

#include "softgpu/memory/peers.hpp"
#include "softgpu/runtime/calls/driver/driver_call.hpp"
#include "softgpu/runtime/calls/driver/runtime_calls.hpp"
#include "softgpu/runtime/memory/host_memory.hpp"
#include "softgpu/runtime/memory/managed.hpp"
#include "softgpu/runtime/memory/pools.hpp"
#include "softgpu/runtime/memory/virtual_memory.hpp"

namespace softgpu::runtime {
namespace {

memory_location location_of(int device) {
    return device == host_number ? memory_location{location_type::host, 0}
                                 : memory_location{location_type::device, device};
}

// Runs allocate(void**). The driver refuses what the runtime does not: 0 bytes.
template <class Allocate>
result allocate(device_address* at, std::size_t bytes, Allocate&& run) {
    return with_context([&] {
        require(at != nullptr && bytes != 0);
        void* pointer = nullptr;
        const error e = run(&pointer);
        *at = reinterpret_cast<device_address>(pointer);
        return e;
    });
}

access_flags access_of(const std::optional<memory::allocation>& found) {
    return !found || found->rights == memory::access_rights::none ? access_flags::none
           : found->rights == memory::access_rights::read         ? access_flags::read
                                                                  : access_flags::read_write;
}

// Handles that can be made of the allocation: 0 or file_descriptor_handle.
int handle_types_at(context& home, const memory::allocation& found, device_address at) {
    if (const auto mapped = physical_at(home, at)) {
        return mapped->properties.handles;
    }
    const memory_pool* const pool = home.part<memory_pools>().owner_of(found.base);
    return pool != nullptr && pool->can_be_exported ? file_descriptor_handle : no_handle;
}

// Bytes of an attribute's value.
std::size_t width_of(driver_pointer_attribute which) {
    switch (which) {
    case driver_pointer_attribute::memory_type:
    case driver_pointer_attribute::synchronous_operations:
    case driver_pointer_attribute::is_managed:
    case driver_pointer_attribute::device_ordinal:
    case driver_pointer_attribute::can_be_shared:
    case driver_pointer_attribute::mapped:
    case driver_pointer_attribute::direct_rdma:
    case driver_pointer_attribute::access:
    case driver_pointer_attribute::decompresses: return 4;
    default: return 8;
    }
}

void give_attribute(context& gpu, void* out, driver_pointer_attribute which, device_address at) {
    require(out != nullptr);
    context& home = home_of(gpu, at);
    const auto found = memory_of(gpu, at).find(at);
    require(found.has_value());
    const bool on_host = found->kind == memory::allocation_kind::host_mapped;
    const bool managed = found->kind == memory::allocation_kind::managed;
    switch (which) {
    case driver_pointer_attribute::context:
        *static_cast<driver_context**>(out) = &home == &gpu ? current_driver_context() : &primary_of(home.number());
        return;
    case driver_pointer_attribute::memory_type:
        *static_cast<driver_memory_type*>(out) = on_host ? driver_memory_type::host : driver_memory_type::device;
        return;
    case driver_pointer_attribute::device_pointer: *static_cast<device_address*>(out) = at; return;
    case driver_pointer_attribute::host_pointer:
        require(on_host || managed);
        *static_cast<void**>(out) = pointer_to(at);
        return;
    case driver_pointer_attribute::synchronous_operations: *static_cast<unsigned*>(out) = 0; return;
    case driver_pointer_attribute::buffer_id: *static_cast<std::uint64_t*>(out) = found->serial; return;
    case driver_pointer_attribute::is_managed: *static_cast<unsigned*>(out) = managed ? 1 : 0; return;
    case driver_pointer_attribute::device_ordinal: {
        const auto mapped = physical_at(home, at);
        *static_cast<int*>(out) = mapped != nullptr ? mapped->properties.location.id : home.number();
        return;
    }
    case driver_pointer_attribute::can_be_shared:
        *static_cast<unsigned*>(out) = found->kind == memory::allocation_kind::device ? 1 : 0;
        return;
    case driver_pointer_attribute::range_start:
    case driver_pointer_attribute::mapping_start: *static_cast<device_address*>(out) = found->base; return;
    case driver_pointer_attribute::range_bytes:
    case driver_pointer_attribute::mapping_bytes: *static_cast<std::size_t*>(out) = found->bytes; return;
    case driver_pointer_attribute::mapped: *static_cast<unsigned*>(out) = 1; return;
    case driver_pointer_attribute::handle_types:
        *static_cast<std::uint64_t*>(out) = static_cast<std::uint64_t>(handle_types_at(home, *found, at));
        return;
    case driver_pointer_attribute::direct_rdma:
    case driver_pointer_attribute::decompresses: *static_cast<unsigned*>(out) = 0; return;
    case driver_pointer_attribute::access:
        *static_cast<access_flags*>(out) = access_of(memory::peers::find_reachable(gpu.memory(), at));
        return;
    case driver_pointer_attribute::pool:
        *static_cast<memory_pool**>(out) = home.part<memory_pools>().owner_of(found->base);
        return;
    case driver_pointer_attribute::block_id: *static_cast<std::uint64_t*>(out) = found->serial; return;
    }
    fail(error::not_supported);
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

result cuMemGetInfo_v2(std::size_t* available, std::size_t* total) { return forward(cudaMemGetInfo, available, total); }

result cuMemAlloc_v2(device_address* at, std::size_t bytes) {
    return allocate(at, bytes, [&](void** pointer) { return cudaMalloc(pointer, bytes); });
}

result cuMemAllocPitch_v2(device_address* at, std::size_t* pitch, std::size_t width, std::size_t height,
                          unsigned element_bytes) {
    if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16) {
        return result::invalid_value;
    }
    return allocate(at, width != 0 ? height : 0,
                    [&](void** pointer) { return cudaMallocPitch(pointer, pitch, width, height); });
}

result cuMemAllocManaged(device_address* at, std::size_t bytes, unsigned flags) {
    return allocate(at, bytes, [&](void** pointer) { return cudaMallocManaged(pointer, bytes, flags); });
}

result cuMemFree_v2(device_address at) { return forward(cudaFree, pointer_to(at)); }

result cuMemAllocHost_v2(void** pointer, std::size_t bytes) { return forward(cudaMallocHost, pointer, bytes); }

result cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
    return forward(cudaHostAlloc, pointer, bytes, flags);
}

result cuMemFreeHost(void* pointer) { return forward(cudaFreeHost, pointer); }

result cuMemHostRegister_v2(void* pointer, std::size_t bytes, unsigned flags) {
    return forward(cudaHostRegister, pointer, bytes, flags);
}

result cuMemHostUnregister(void* pointer) { return forward(cudaHostUnregister, pointer); }

result cuMemHostGetDevicePointer_v2(device_address* at, void* host, unsigned flags) {
    return with_context([&] {
        require(at != nullptr);
        void* pointer = nullptr;
        const error e = cudaHostGetDevicePointer(&pointer, host, flags);
        *at = reinterpret_cast<device_address>(pointer);
        return e;
    });
}

result cuMemHostGetFlags(unsigned* flags, void* host) { return forward(cudaHostGetFlags, flags, host); }

result cuMemAllocAsync(device_address* at, std::size_t bytes, stream* on) {
    return allocate(at, bytes, [&](void** pointer) { return cudaMallocAsync(pointer, bytes, on); });
}

result cuMemAllocAsync_ptsz(device_address* at, std::size_t bytes, stream* on) {
    return cuMemAllocAsync(at, bytes, of_this_thread(on));
}

result cuMemAllocFromPoolAsync(device_address* at, std::size_t bytes, memory_pool* pool, stream* on) {
    return allocate(at, bytes, [&](void** pointer) { return cudaMallocFromPoolAsync(pointer, bytes, pool, on); });
}

result cuMemAllocFromPoolAsync_ptsz(device_address* at, std::size_t bytes, memory_pool* pool, stream* on) {
    return cuMemAllocFromPoolAsync(at, bytes, pool, of_this_thread(on));
}

result cuMemFreeAsync(device_address at, stream* on) { return forward(cudaFreeAsync, pointer_to(at), on); }

result cuMemFreeAsync_ptsz(device_address at, stream* on) { return cuMemFreeAsync(at, of_this_thread(on)); }

result cuMemPoolCreate(memory_pool** pool, const pool_properties* p) {
    return forward_anywhere(cudaMemPoolCreate, pool, p);
}

result cuMemPoolDestroy(memory_pool* pool) { return forward_anywhere(cudaMemPoolDestroy, pool); }

result cuMemPoolTrimTo(memory_pool* pool, std::size_t bytes) {
    return forward_anywhere(cudaMemPoolTrimTo, pool, bytes);
}

result cuMemPoolGetAttribute(memory_pool* pool, pool_attribute which, void* value) {
    return forward_anywhere(cudaMemPoolGetAttribute, pool, which, value);
}

result cuMemPoolSetAttribute(memory_pool* pool, pool_attribute which, void* value) {
    return forward_anywhere(cudaMemPoolSetAttribute, pool, which, value);
}

result cuMemPoolGetAccess(access_flags* flags, memory_pool* pool, memory_location* at) {
    return forward_anywhere(cudaMemPoolGetAccess, flags, pool, at);
}

result cuMemPoolSetAccess(memory_pool* pool, const memory_access* list, std::size_t count) {
    return forward_anywhere(cudaMemPoolSetAccess, pool, list, count);
}

result cuMemPrefetchAsync(device_address at, std::size_t bytes, int device, stream* on) {
    return on_device(on,
                     [&](context& gpu, locked&) { prefetch(gpu, pointer_to(at), bytes, location_of(device), 0, on); });
}

result cuMemPrefetchAsync_v2(device_address at, std::size_t bytes, memory_location to, unsigned flags, stream* on) {
    return on_device(on, [&](context& gpu, locked&) { prefetch(gpu, pointer_to(at), bytes, to, flags, on); });
}

result cuMemAdvise(device_address at, std::size_t bytes, memory_advice what, int device) {
    return on_device([&](context& gpu, locked&) { advise(gpu, pointer_to(at), bytes, what, location_of(device)); });
}

result cuMemAdvise_v2(device_address at, std::size_t bytes, memory_advice what, memory_location to) {
    return on_device([&](context& gpu, locked&) { advise(gpu, pointer_to(at), bytes, what, to); });
}

result cuMemRangeGetAttribute(void* data, std::size_t data_bytes, range_attribute which, device_address at,
                              std::size_t bytes) {
    return forward(cudaMemRangeGetAttribute, data, data_bytes, which, pointer_to(at), bytes);
}

result cuMemRangeGetAttributes(void** data, std::size_t* data_bytes, range_attribute* which, std::size_t count,
                               device_address at, std::size_t bytes) {
    return forward(cudaMemRangeGetAttributes, data, data_bytes, which, count, pointer_to(at), bytes);
}

result cuMemGetAddressRange_v2(device_address* base, std::size_t* bytes, device_address at) {
    return on_device([&](context& gpu, locked&) {
        const auto found = memory_of(gpu, at).find(at);
        require(found.has_value(), error::symbol_not_found); // CUDA_ERROR_NOT_FOUND, as the driver
        if (base != nullptr) {
            *base = found->base;
        }
        if (bytes != nullptr) {
            *bytes = found->bytes;
        }
    });
}

result cuPointerGetAttribute(void* out, driver_pointer_attribute which, device_address at) {
    return on_device([&](context& gpu, locked&) { give_attribute(gpu, out, which, at); });
}

// For memory that CUDA does not know the values are 0.
result cuPointerGetAttributes(unsigned count, const driver_pointer_attribute* which, void** out, device_address at) {
    return on_device([&](context& gpu, locked&) {
        require(count != 0 && which != nullptr && out != nullptr);
        const bool known = memory_of(gpu, at).find(at).has_value();
        for (unsigned i = 0; i < count; ++i) {
            if (which[i] == driver_pointer_attribute::device_ordinal && !known) {
                *static_cast<int*>(out[i]) = no_device_number;
            } else if (!known) {
                std::memset(out[i], 0, width_of(which[i]));
            } else if (which[i] == driver_pointer_attribute::host_pointer) {
                const auto kind = memory_of(gpu, at).find(at)->kind;
                const bool reachable =
                    kind == memory::allocation_kind::host_mapped || kind == memory::allocation_kind::managed;
                *static_cast<void**>(out[i]) = reachable ? pointer_to(at) : nullptr;
            } else {
                give_attribute(gpu, out[i], which[i], at);
            }
        }
    });
}

result cuMemPrefetchBatchAsync(void** at, std::size_t* sizes, std::size_t count, memory_location* locations,
                               std::size_t* location_indices, std::size_t location_count, unsigned long long flags,
                               stream* on) {
    return forward(cudaMemPrefetchBatchAsync, at, sizes, count, locations, location_indices, location_count, flags, on);
}

result cuMemDiscardBatchAsync(void** at, std::size_t* sizes, std::size_t count, unsigned long long flags, stream* on) {
    return forward(cudaMemDiscardBatchAsync, at, sizes, count, flags, on);
}

result cuMemDiscardAndPrefetchBatchAsync(void** at, std::size_t* sizes, std::size_t count, memory_location* locations,
                                         std::size_t* location_indices, std::size_t location_count,
                                         unsigned long long flags, stream* on) {
    return forward(cudaMemDiscardAndPrefetchBatchAsync, at, sizes, count, locations, location_indices, location_count,
                   flags, on);
}

// CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: copies here are synchronous where they have to be.
result cuPointerSetAttribute(const void* value, driver_pointer_attribute which, device_address at) {
    return on_device([&](context& gpu, locked&) {
        require(value != nullptr && which == driver_pointer_attribute::synchronous_operations);
        require(memory_of(gpu, at).find(at).has_value());
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
