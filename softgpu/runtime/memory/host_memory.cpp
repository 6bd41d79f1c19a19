// SPDX-License-Identifier: MIT
// The table of pinned and registered host memory, and the calls that fill it.
#include "softgpu/runtime/memory/host_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

#include "softgpu/runtime/abi/memory.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/capture.hpp"
#include "softgpu/runtime/accounts/checking.hpp"

namespace softgpu::runtime {
namespace {

// Whole pages of zeros, which take no memory until they are touched.
void* map_pages(std::uint64_t bytes) {
    const auto all = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    void* const base = bytes > all ? MAP_FAILED
                                   : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) {
        throw std::bad_alloc();
    }
    return base;
}

// Whether each page of the range belongs to the program.
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

host_allocations::~host_allocations() {
    for (auto& [at, range] : ranges_) {
        memory_.disown(range.base);
        if (!range.registered) {
            munmap(range.base, range.bytes);
        }
    }
}

void* host_allocations::allocate(std::uint64_t bytes, unsigned flags) {
    void* base = map_pages(bytes);
    memory_.adopt(base, bytes, memory::allocation_kind::host_mapped);
    ranges_[reinterpret_cast<std::uintptr_t>(base)] = {.base = base, .bytes = bytes, .flags = flags};
    return base;
}

bool host_allocations::release(void* base) {
    const auto at = ranges_.find(reinterpret_cast<std::uintptr_t>(base));
    if (at == ranges_.end() || at->second.registered) {
        return false;
    }
    memory_.disown(base);
    munmap(base, at->second.bytes);
    ranges_.erase(at);
    return true;
}

bool host_allocations::enroll(void* base, std::uint64_t bytes, unsigned flags) {
    const auto begin = reinterpret_cast<std::uintptr_t>(base);
    const auto after = ranges_.lower_bound(begin);
    const bool meets_next = after != ranges_.end() && after->first < begin + bytes;
    const bool meets_previous =
        after != ranges_.begin() && std::prev(after)->first + std::prev(after)->second.bytes > begin;
    if (meets_next || meets_previous) {
        return false;
    }
    memory_.adopt(base, bytes, memory::allocation_kind::host_mapped);
    ranges_[begin] = {.base = base, .bytes = bytes, .flags = flags, .registered = true};
    return true;
}

bool host_allocations::withdraw(void* base) {
    const auto at = ranges_.find(reinterpret_cast<std::uintptr_t>(base));
    if (at == ranges_.end() || !at->second.registered) {
        return false;
    }
    memory_.disown(base);
    ranges_.erase(at);
    return true;
}

std::optional<host_range> host_allocations::find(const void* pointer) const {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    auto at = ranges_.upper_bound(address);
    if (at == ranges_.begin()) {
        return std::nullopt;
    }
    --at;
    return address - at->first < at->second.bytes ? std::optional(at->second) : std::nullopt;
}

#pragma GCC visibility push(default)
extern "C" {

error cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
    return call([&](context& gpu, locked&) {
        require(pointer != nullptr);
        require((flags & ~(host_allocation_portable | host_allocation_mapped | host_allocation_write_combined)) == 0);
        gpu.must_be_alive();
        require_safe(gpu);
        *pointer = bytes == 0 ? nullptr : gpu.state().pinned.allocate(bytes, flags);
    });
}

error cudaMallocHost(void** pointer, std::size_t bytes) {
    return call([&](context& gpu, locked&) {
        require(pointer != nullptr);
        gpu.must_be_alive();
        require_safe(gpu);
        *pointer = bytes == 0 ? nullptr : gpu.state().pinned.allocate(bytes, 0);
    });
}

error cudaFreeHost(void* pointer) {
    return call([&](context& gpu, locked& lock) {
        require_safe(gpu);
        gpu.synchronize(lock);
        const bool sound = pointer == nullptr || gpu.state().pinned.release(pointer);
        if (check::session* const s = sound ? nullptr : checking::current()) {
            s->host_finding("invalid free", "cudaFreeHost of what is no pinned memory, or no longer",
                            reinterpret_cast<memory::address>(pointer));
        }
        require(sound);
    });
}

error cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
    return call([&](context& gpu, locked&) {
        require(pointer != nullptr && bytes != 0);
        require((flags & ~(host_register_portable | host_register_mapped | host_register_io_memory |
                           host_register_read_only)) == 0);
        gpu.must_be_alive();
        require_safe(gpu);
        const auto known = gpu.state().pinned.find(pointer);
        require(!gpu.memory().find(reinterpret_cast<memory::address>(pointer)) || (known && known->registered));
        require(is_mapped(reinterpret_cast<std::uintptr_t>(pointer), bytes));
        require(gpu.state().pinned.enroll(pointer, bytes, flags), error::host_memory_already_registered);
    });
}

error cudaHostUnregister(void* pointer) {
    return call([&](context& gpu, locked& lock) {
        require(pointer != nullptr);
        require_safe(gpu);
        gpu.synchronize(lock);
        const auto range = gpu.state().pinned.find(pointer);
        require(range.has_value(), error::host_memory_not_registered);
        require(range->registered && range->base == pointer);
        gpu.state().pinned.withdraw(pointer);
    });
}

error cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
    return call([&](context& gpu, locked&) {
        require(device != nullptr && flags == 0);
        gpu.must_be_alive();
        require(gpu.state().pinned.find(host).has_value());
        *device = host;
    });
}

error cudaHostGetFlags(unsigned* flags, void* host) {
    return call([&](context& gpu, locked&) {
        require(flags != nullptr);
        gpu.must_be_alive();
        const auto range = gpu.state().pinned.find(host);
        require(range.has_value());
        *flags = (range->flags & ~host_allocation_portable) | host_allocation_mapped;
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
