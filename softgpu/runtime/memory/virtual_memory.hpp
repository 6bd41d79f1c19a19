// SPDX-License-Identifier: MIT
// Virtual memory management: memory without addresses (physical memory), addresses without memory, and the mappings that bring
// them together. The devices' lock guards all of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "softgpu/runtime/abi/shared.hpp"
#include "softgpu/runtime/core/context.hpp"

namespace softgpu::runtime {

struct physical_memory {
    ~physical_memory();

    physical_handle handle = 0;
    std::shared_ptr<const memory::shared_file> file;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    physical_properties properties{};
    bool fresh = true; // nothing can have been written
    // Of the device that it is on; nullptr: another process's.
    std::shared_ptr<memory::device_memory::physical_account> account{};
};

struct virtual_memory final : device_part {
    struct counted {
        std::shared_ptr<physical_memory> what;
        unsigned references = 1;
    };
    struct mapping {
        std::shared_ptr<physical_memory> what;
        std::uint64_t bytes = 0;
    };

    std::map<physical_handle, counted> handles;          // of memory on this device
    std::map<memory::address, mapping> mappings;         // at addresses of this device
    std::shared_ptr<const memory::shared_file> common{}; // what cannot be exported is a part of it
    std::uint64_t common_used = 0;
};

// All throw failure, with the errors of the driver's calls: invalid_value for what is not whole multiples of the granularity.

memory::address reserve_addresses(context& gpu, std::uint64_t bytes, std::uint64_t alignment, memory::address wish);
void free_addresses(context& gpu, memory::address at, std::uint64_t bytes);

// Throws not_supported for other memory than a device's, and for other exports than file descriptors.
void require_properties(context& gpu, const physical_properties& p);
physical_handle create_physical(context& gpu, std::uint64_t bytes, const physical_properties& p);
void release_physical(context& gpu, physical_handle h);
// The handle of the memory that is mapped at an address, with one more reference.
physical_handle retain_physical(context& gpu, memory::address at);
[[nodiscard]] const physical_memory& physical_of(context& gpu, physical_handle h);
// What is mapped at an address of this device, which may be on another one; nullptr: nothing, or memory of another kind.
[[nodiscard]] std::shared_ptr<const physical_memory> physical_at(context& home, memory::address at);
// A file descriptor, which the caller closes; and back, in any process. The caller keeps the descriptor.
int export_physical(context& gpu, physical_handle h);
physical_handle import_physical(context& gpu, int descriptor);

void map_physical(context& gpu, memory::address at, std::uint64_t bytes, std::uint64_t offset, physical_handle h);
// Waits for all work.
void unmap_physical(context& gpu, locked& lock, memory::address at, std::uint64_t bytes);
void set_access(context& gpu, memory::address at, std::uint64_t bytes, const memory_access* list, std::size_t count);
access_flags access_at(context& gpu, const memory_location& by, memory::address at);

} // namespace softgpu::runtime
