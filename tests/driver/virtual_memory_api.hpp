// SPDX-License-Identifier: MIT
// The driver's calls for virtual memory and for memory of other processes.
#pragma once

#include "softgpu/runtime/abi/shared.hpp"
#include "tests/driver/driver_api.hpp"

namespace softgpu::runtime {

extern "C" {

result cuMemGetInfo_v2(std::size_t* available, std::size_t* total);
result cuMemAddressFree(device_address at, std::size_t bytes);
result cuMemCreate(physical_handle* handle, std::size_t bytes, const physical_properties* p, unsigned long long flags);
result cuMemRelease(physical_handle handle);
result cuMemMap(device_address at, std::size_t bytes, std::size_t offset, physical_handle handle,
                unsigned long long flags);
result cuMemUnmap(device_address at, std::size_t bytes);
result cuMemSetAccess(device_address at, std::size_t bytes, const memory_access* list, std::size_t count);
result cuMemGetAccess(unsigned long long* flags, const memory_location* by, device_address at);
result cuMemGetAllocationGranularity(std::size_t* bytes, const physical_properties* p, int option);
result cuMemGetAllocationPropertiesFromHandle(physical_properties* p, physical_handle handle);
result cuMemRetainAllocationHandle(physical_handle* handle, void* at);
result cuMemExportToShareableHandle(void* out, physical_handle handle, int as, unsigned long long flags);
result cuMemImportFromShareableHandle(physical_handle* handle, void* from, int as);
result cuIpcGetMemHandle(shared_handle* out, device_address at);
result cuIpcOpenMemHandle_v2(device_address* at, shared_handle handle, unsigned flags);
result cuIpcCloseMemHandle(device_address at);
result cuIpcGetEventHandle(shared_handle* out, event* e);
result cuIpcOpenEventHandle(event** out, shared_handle handle);
result cuStreamWaitEvent(stream* s, event* e, unsigned flags);
result cuEventQuery(event* e);
result cuMemAllocFromPoolAsync(device_address* at, std::size_t bytes, memory_pool* pool, stream* on);
result cuMemPoolCreate(memory_pool** pool, const pool_properties* p);
result cuMemPoolExportToShareableHandle(void* out, memory_pool* pool, pool_handles as, unsigned long long flags);
result cuMemPoolImportFromShareableHandle(memory_pool** pool, void* handle, pool_handles as, unsigned long long flags);
result cuMemPoolExportPointer(shared_handle* out, device_address at);
result cuMemPoolImportPointer(device_address* at, memory_pool* pool, const shared_handle* from);

} // extern "C"

// A pool of device 0 whose allocations have such handles.
inline memory_pool* pool_of(pool_handles handles) {
    pool_properties p{};
    p.allocation = pool_allocation::pinned;
    p.handles = handles;
    p.location = {location_type::device, 0};
    memory_pool* pool = nullptr;
    (void)cuMemPoolCreate(&pool, &p); // nullptr: it failed
    return pool;
}

} // namespace softgpu::runtime
