// SPDX-License-Identifier: MIT
// The table of pinned and registered host memory, and the calls that fill it.
#include "softgpu/runtime/host_memory.hpp"

#include <cstdint>
#include <cstring>
#include <iterator>
#include <new>

#include "softgpu/runtime/abi/memory.hpp"
#include "softgpu/runtime/call.hpp"
#include "softgpu/runtime/capture.hpp"

namespace softgpu::runtime {
namespace {

constexpr std::align_val_t page{4096};

} // namespace

host_allocations::~host_allocations() {
    for (auto& [at, range] : ranges_) {
        memory_.disown(range.base);
        if (!range.registered) {
            ::operator delete(range.base, page);
        }
    }
}

void* host_allocations::allocate(std::uint64_t bytes, unsigned flags) {
    void* base = ::operator new(bytes, page);
    std::memset(base, 0, bytes);
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
    ::operator delete(base, page);
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
        require(pointer == nullptr || gpu.state().pinned.release(pointer));
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
