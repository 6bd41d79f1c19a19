// SPDX-License-Identifier: MIT
// Pinned and registered host memory.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <sys/mman.h>
#include <unistd.h>

#include "softgpu/runtime/abi/memory.hpp"
#include "softgpu/runtime/accounts/current_checks.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/core/streams/capture_rules.hpp"
#include "softgpu/runtime/memory/host_memory.hpp"

namespace softgpu::runtime {
namespace {

// Whether every page of the range is mapped.
bool is_mapped(std::uintptr_t begin, std::uint64_t bytes) {
    if (bytes > std::numeric_limits<std::uintptr_t>::max() - begin) {
        return false;
    }
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    unsigned char there[1024];
    for (std::uintptr_t at = begin / page * page; at < begin + bytes; at += sizeof(there) * page) {
        const std::uint64_t length = std::min<std::uint64_t>(begin + bytes - at, sizeof(there) * page);
        if (mincore(reinterpret_cast<void*>(at), length, there) != 0) {
            return false;
        }
    }
    return true;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
    return call([&](context& gpu, locked&) {
        require(pointer != nullptr);
        require((flags & ~(host_allocation_portable | host_allocation_mapped | host_allocation_write_combined)) == 0);
        gpu.require_usable();
        require_safe(gpu);
        *pointer = bytes == 0 ? nullptr : gpu.part<host_allocations>().allocate(bytes, flags);
    });
}

error cudaMallocHost(void** pointer, std::size_t bytes) {
    return call([&](context& gpu, locked&) {
        require(pointer != nullptr);
        gpu.require_usable();
        require_safe(gpu);
        *pointer = bytes == 0 ? nullptr : gpu.part<host_allocations>().allocate(bytes, 0);
    });
}

error cudaFreeHost(void* pointer) {
    return call([&](context& current, locked& lock) {
        context& gpu = home_of(current, pointer);
        require_safe(gpu);
        gpu.synchronize_all(lock);
        const bool valid = pointer == nullptr || gpu.part<host_allocations>().release(pointer);
        if (check::session* const s = valid ? nullptr : checking::current()) {
            s->host_finding("invalid free", "cudaFreeHost of what is no pinned memory, or no longer",
                            reinterpret_cast<memory::address>(pointer));
        }
        require(valid);
    });
}

error cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
    return call([&](context& current, locked&) {
        context& gpu = home_of(current, pointer);
        require(pointer != nullptr && bytes != 0);
        require((flags & ~(host_register_portable | host_register_mapped | host_register_io_memory |
                           host_register_read_only)) == 0);
        gpu.require_usable();
        require_safe(gpu);
        const auto known = gpu.part<host_allocations>().find(pointer);
        require(!gpu.memory().find(reinterpret_cast<memory::address>(pointer)) || (known && known->registered));
        require(is_mapped(reinterpret_cast<std::uintptr_t>(pointer), bytes));
        for (const auto& any : gpu.group().members()) {
            require(!any->part<host_allocations>().meets(pointer, bytes), error::host_memory_already_registered);
        }
        gpu.part<host_allocations>().register_range(pointer, bytes, flags);
    });
}

error cudaHostUnregister(void* pointer) {
    return call([&](context& current, locked& lock) {
        require(pointer != nullptr);
        context& gpu = home_of(current, pointer);
        require_safe(gpu);
        gpu.synchronize_all(lock);
        const auto range = gpu.part<host_allocations>().find(pointer);
        require(range.has_value(), error::host_memory_not_registered);
        require(range->registered && range->base == pointer);
        gpu.part<host_allocations>().unregister_range(pointer);
    });
}

error cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
    return call([&](context& gpu, locked&) {
        require(device != nullptr && flags == 0);
        gpu.require_usable();
        require(home_of(gpu, host).part<host_allocations>().find(host).has_value());
        *device = host;
    });
}

error cudaHostGetFlags(unsigned* flags, void* host) {
    return call([&](context& gpu, locked&) {
        require(flags != nullptr);
        gpu.require_usable();
        const auto range = home_of(gpu, host).part<host_allocations>().find(host);
        require(range.has_value());
        *flags = (range->flags & ~host_allocation_portable) | host_allocation_mapped;
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
