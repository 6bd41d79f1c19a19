// SPDX-License-Identifier: MIT
#include "softgpu/runtime/memory/host_memory.hpp"

#include <cstdint>
#include <iterator>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

namespace softgpu::runtime {
namespace {

// Zeroed pages, which take no memory until they are touched.
void* map_pages(std::uint64_t bytes) {
    const auto all =
        static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    void* const base =
        bytes > all ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) {
        throw std::bad_alloc();
    }
    return base;
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

bool host_allocations::meets(const void* base, std::uint64_t bytes) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(base);
    const auto after = ranges_.lower_bound(begin);
    const bool meets_next = after != ranges_.end() && after->first < begin + bytes;
    return meets_next || (after != ranges_.begin() && std::prev(after)->first + std::prev(after)->second.bytes > begin);
}

void host_allocations::register_range(void* base, std::uint64_t bytes, unsigned flags) {
    memory_.adopt(base, bytes, memory::allocation_kind::host_mapped);
    ranges_[reinterpret_cast<std::uintptr_t>(base)] = {
        .base = base, .bytes = bytes, .flags = flags, .registered = true};
}

bool host_allocations::unregister_range(void* base) {
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

} // namespace softgpu::runtime
