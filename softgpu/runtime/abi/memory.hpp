// SPDX-License-Identifier: MIT
// Pointers' attributes, managed memory and pools in the runtime's interface: CUDA's values and layouts under our names.
#pragma once

#include <cstddef>

namespace softgpu::runtime {

enum class memory_type : int { unregistered = 0, host = 1, device = 2, managed = 3 };

struct pointer_attributes {
    memory_type type;
    int device;
    void* device_pointer;
    void* host_pointer;
    long reserved[8];
};

inline constexpr int host_number = -1;      // cudaCpuDeviceId
inline constexpr int no_device_number = -2; // cudaInvalidDeviceId

inline constexpr unsigned host_allocation_portable = 1;
inline constexpr unsigned host_allocation_mapped = 2;
inline constexpr unsigned host_allocation_write_combined = 4;

inline constexpr unsigned host_register_portable = 1;
inline constexpr unsigned host_register_mapped = 2;
inline constexpr unsigned host_register_io_memory = 4;
inline constexpr unsigned host_register_read_only = 8;

inline constexpr unsigned attach_global = 1;
inline constexpr unsigned attach_host = 2;
inline constexpr unsigned attach_single = 4;

enum class memory_advice : int {
    set_read_mostly = 1,
    unset_read_mostly = 2,
    set_preferred_location = 3,
    unset_preferred_location = 4,
    set_accessed_by = 5,
    unset_accessed_by = 6,
};

enum class range_attribute : int {
    read_mostly = 1,
    preferred_location = 2,
    accessed_by = 3,
    last_prefetch_location = 4,
    preferred_location_type = 5,
    preferred_location_id = 6,
    last_prefetch_location_type = 7,
    last_prefetch_location_id = 8,
};

enum class location_type : int { none = 0, device = 1, host = 2, host_numa = 3, host_numa_current = 4 };

struct memory_location {
    location_type type;
    int id;
};

enum class access_flags : int { none = 0, read = 1, read_write = 3 };

struct memory_access {
    memory_location location;
    access_flags flags;
};

enum class pool_attribute : int {
    reuse_follow_event_dependencies = 1,
    reuse_allow_opportunistic = 2,
    reuse_allow_internal_dependencies = 3,
    release_threshold = 4,
    reserved_current = 5,
    reserved_high = 6,
    used_current = 7,
    used_high = 8,
};

enum class pool_allocation : int { invalid = 0, pinned = 1, managed = 2 };
enum class pool_handles : int { none = 0, file_descriptor = 1 };

struct pool_properties {
    pool_allocation allocation;
    pool_handles handles;
    memory_location location;
    void* win32_security_attributes;
    std::size_t max_bytes; // 0: no limit
    unsigned short usage;
    unsigned char reserved[54];
};

} // namespace softgpu::runtime
