// SPDX-License-Identifier: MIT
// Virtual memory management, memory and events of other processes, and the export of pools.
#include "softgpu/runtime/memory/virtual_memory.hpp"

#include "softgpu/runtime/calls/driver/driver_call.hpp"
#include "softgpu/runtime/calls/driver/runtime_calls.hpp"

namespace softgpu::runtime {
namespace {

// For calls that need no current context.
template <class Body>
result anywhere(Body&& body) noexcept {
    return without_context([&] { return call(std::forward<Body>(body)); });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

result cuMemAddressReserve(device_address* at, std::size_t bytes, std::size_t alignment, device_address wish,
                           unsigned long long flags) {
    return anywhere([&](context& gpu, locked&) {
        require(at != nullptr && flags == 0);
        *at = reserve_addresses(gpu, bytes, alignment, wish);
    });
}

result cuMemAddressFree(device_address at, std::size_t bytes) {
    return anywhere([&](context& gpu, locked&) { free_addresses(gpu, at, bytes); });
}

result cuMemCreate(physical_handle* handle, std::size_t bytes, const physical_properties* p, unsigned long long flags) {
    return anywhere([&](context& gpu, locked&) {
        require(handle != nullptr && p != nullptr && flags == 0);
        gpu.require_usable();
        *handle = create_physical(gpu, bytes, *p);
    });
}

result cuMemRelease(physical_handle handle) {
    return anywhere([&](context& gpu, locked&) { release_physical(gpu, handle); });
}

result cuMemMap(device_address at, std::size_t bytes, std::size_t offset, physical_handle handle,
                unsigned long long flags) {
    return anywhere([&](context& gpu, locked&) {
        require(flags == 0);
        map_physical(gpu, at, bytes, offset, handle);
    });
}

result cuMemUnmap(device_address at, std::size_t bytes) {
    return anywhere([&](context& gpu, locked& lock) { unmap_physical(gpu, lock, at, bytes); });
}

result cuMemSetAccess(device_address at, std::size_t bytes, const memory_access* list, std::size_t count) {
    return anywhere([&](context& gpu, locked&) { set_access(gpu, at, bytes, list, count); });
}

result cuMemGetAccess(unsigned long long* flags, const memory_location* by, device_address at) {
    return anywhere([&](context& gpu, locked&) {
        require(flags != nullptr && by != nullptr);
        *flags = static_cast<unsigned long long>(access_at(gpu, *by, at));
    });
}

result cuMemGetAllocationGranularity(std::size_t* bytes, const physical_properties* p, int option) {
    return anywhere([&](context& gpu, locked&) {
        require(bytes != nullptr && p != nullptr && (option == 0 || option == 1));
        require_properties(gpu, *p);
        *bytes = memory::device_memory::mapping_granularity;
    });
}

result cuMemGetAllocationPropertiesFromHandle(physical_properties* p, physical_handle handle) {
    return anywhere([&](context& gpu, locked&) {
        require(p != nullptr);
        *p = physical_of(gpu, handle).properties;
    });
}

result cuMemRetainAllocationHandle(physical_handle* handle, void* at) {
    return anywhere([&](context& gpu, locked&) {
        require(handle != nullptr);
        *handle = retain_physical(gpu, reinterpret_cast<memory::address>(at));
    });
}

result cuMemExportToShareableHandle(void* out, physical_handle handle, int as, unsigned long long flags) {
    return anywhere([&](context& gpu, locked&) {
        require(out != nullptr && as == file_descriptor_handle && flags == 0);
        *static_cast<int*>(out) = export_physical(gpu, handle);
    });
}

result cuMemImportFromShareableHandle(physical_handle* handle, void* from, int as) {
    return anywhere([&](context& gpu, locked&) {
        require(handle != nullptr && as == file_descriptor_handle);
        *handle = import_physical(gpu, static_cast<int>(reinterpret_cast<std::intptr_t>(from)));
    });
}

result cuIpcGetMemHandle(shared_handle* out, device_address at) {
    return forward(cudaIpcGetMemHandle, out, pointer_to(at));
}

result cuIpcOpenMemHandle_v2(device_address* at, shared_handle handle, unsigned flags) {
    return with_context([&] {
        require(at != nullptr);
        void* pointer = nullptr;
        const error e = cudaIpcOpenMemHandle(&pointer, handle, flags);
        *at = reinterpret_cast<device_address>(pointer);
        return e;
    });
}

result cuIpcCloseMemHandle(device_address at) { return forward(cudaIpcCloseMemHandle, pointer_to(at)); }

result cuIpcGetEventHandle(shared_handle* out, event* e) {
    if (out != nullptr) { // zeros where there is none, unlike the runtime's (seen on an H100)
        *out = {};
    }
    return forward(cudaIpcGetEventHandle, out, e);
}

result cuIpcOpenEventHandle(event** out, shared_handle handle) { return forward(cudaIpcOpenEventHandle, out, handle); }

result cuMemPoolExportToShareableHandle(void* out, memory_pool* pool, pool_handles as, unsigned long long flags) {
    return forward_anywhere(cudaMemPoolExportToShareableHandle, out, pool, as, static_cast<unsigned>(flags != 0));
}

result cuMemPoolImportFromShareableHandle(memory_pool** pool, void* handle, pool_handles as, unsigned long long flags) {
    return forward_anywhere(cudaMemPoolImportFromShareableHandle, pool, handle, as, static_cast<unsigned>(flags != 0));
}

result cuMemPoolExportPointer(shared_handle* out, device_address at) {
    return forward_anywhere(cudaMemPoolExportPointer, out, pointer_to(at));
}

result cuMemPoolImportPointer(device_address* at, memory_pool* pool, const shared_handle* from) {
    return without_context([&] {
        require(at != nullptr);
        void* pointer = nullptr;
        const error e = cudaMemPoolImportPointer(&pointer, pool, from);
        *at = reinterpret_cast<device_address>(pointer);
        return e;
    });
}

result cuMemGetDefaultMemPool(memory_pool** pool, memory_location* at, pool_allocation kind) {
    return forward_anywhere(cudaMemGetDefaultMemPool, pool, at, kind);
}

result cuMemGetMemPool(memory_pool** pool, memory_location* at, pool_allocation kind) {
    return forward_anywhere(cudaMemGetMemPool, pool, at, kind);
}

result cuMemSetMemPool(memory_location* at, pool_allocation kind, memory_pool* pool) {
    return forward_anywhere(cudaMemSetMemPool, at, kind, pool);
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
