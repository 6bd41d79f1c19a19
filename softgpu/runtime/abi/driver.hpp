// SPDX-License-Identifier: MIT
// The driver's interface: CUDA's values and layouts under our names. Streams, events, arrays, pools and graphs are the
// runtime's objects. A device pointer (CUdeviceptr) is an address.
#pragma once

#include <cstddef>
#include <cstdint>

#include "softgpu/runtime/abi/error.hpp"
#include "softgpu/runtime/abi/launch.hpp"

namespace softgpu::runtime {

struct array;

// CUresult. Codes from 100 on, and 0 to 4, mean the same as the runtime's.
enum class result : int {
    success = 0,
    invalid_value = 1,
    not_initialized = 3,
    invalid_context = 201,
    invalid_handle = 400,
    not_found = 500,
    not_supported = 801,
    unknown = 999,
};

using device_address = std::uint64_t;

struct universal_id {
    char bytes[16];
};

// CUlaunchConfig
struct driver_launch {
    dimensions grid;
    dimensions block;
    unsigned dynamic_shared_bytes;
    runtime::stream* stream;
    launch_attribute* attributes;
    unsigned attribute_count;
};

// The list `extra` of cuLaunchKernel: arguments as one block of bytes.
inline constexpr std::uintptr_t launch_list_end = 0;
inline constexpr std::uintptr_t launch_list_buffer = 1;
inline constexpr std::uintptr_t launch_list_bytes = 2;

enum class driver_memory_type : int { host = 1, device = 2, array = 3, unified = 4 };

// CUDA_MEMCPY2D
struct driver_copy_2d {
    std::size_t source_x; // bytes
    std::size_t source_y;
    driver_memory_type source_type;
    const void* source_host;
    device_address source_device;
    array* source_array;
    std::size_t source_pitch;
    std::size_t destination_x;
    std::size_t destination_y;
    driver_memory_type destination_type;
    void* destination_host;
    device_address destination_device;
    array* destination_array;
    std::size_t destination_pitch;
    std::size_t width; // bytes
    std::size_t height;
};

// CUDA_MEMCPY3D
struct driver_copy_3d {
    std::size_t source_x; // bytes
    std::size_t source_y;
    std::size_t source_z;
    std::size_t source_level;
    driver_memory_type source_type;
    const void* source_host;
    device_address source_device;
    array* source_array;
    void* reserved_0;
    std::size_t source_pitch;
    std::size_t source_height;
    std::size_t destination_x;
    std::size_t destination_y;
    std::size_t destination_z;
    std::size_t destination_level;
    driver_memory_type destination_type;
    void* destination_host;
    device_address destination_device;
    array* destination_array;
    void* reserved_1;
    std::size_t destination_pitch;
    std::size_t destination_height;
    std::size_t width; // bytes
    std::size_t height;
    std::size_t depth;
};

enum class driver_pointer_attribute : int {
    context = 1,
    memory_type = 2,
    device_pointer = 3,
    host_pointer = 4,
    synchronous_operations = 6,
    buffer_id = 7,
    is_managed = 8,
    device_ordinal = 9,
    can_be_shared = 10, // by cuIpcGetMemHandle
    range_start = 11,
    range_bytes = 12,
    mapped = 13,
    handle_types = 14,
    direct_rdma = 15,
    access = 16,
    pool = 17,
    mapping_bytes = 18,
    mapping_start = 19,
    block_id = 20,
    decompresses = 21,
};

enum class driver_function_attribute : int {
    max_threads_per_block = 0,
    shared_bytes = 1,
    constant_bytes = 2,
    local_bytes = 3,
    registers = 4,
    ptx_version = 5,
    binary_version = 6,
    cache_mode = 7,
    max_dynamic_shared_bytes = 8,
    preferred_shared_carveout = 9,
    cluster_dimensions_must_be_set = 10,
    required_cluster_width = 11,
    required_cluster_height = 12,
    required_cluster_depth = 13,
    non_portable_cluster_size_allowed = 14,
    cluster_scheduling_policy = 15,
};

// CUjit_option, of which these are read.
enum class jit_option : int {
    max_registers = 0,
    info_log = 3,
    info_log_bytes = 4,
    error_log = 5,
    error_log_bytes = 6,
};

} // namespace softgpu::runtime
