// SPDX-License-Identifier: MIT
// What processes hand each other: handles of memory and of events, which CUDA declares as 64 opaque bytes, and the properties of
// memory without addresses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "softgpu/runtime/abi/memory.hpp"

namespace softgpu::runtime {

enum class shared_kind : std::uint32_t { memory = 1, event = 2, pool_memory = 3 };

// cudaIpcMemHandle_t, cudaIpcEventHandle_t, cudaMemPoolPtrExportData: a part of a file that a process has open.
struct [[gnu::packed]] shared_handle { // any place will do for it, as for CUDA's bytes
    char mark[8];
    shared_kind kind;
    std::int32_t process;
    std::int32_t descriptor;
    std::int32_t device;
    std::uint64_t file; // its number, because descriptors are used again
    std::uint64_t offset;
    std::uint64_t bytes;
    std::uint64_t reserved[2];
};
static_assert(sizeof(shared_handle) == 64);

inline constexpr int no_handle = 0; // CUmemAllocationHandleType
inline constexpr int file_descriptor_handle = 1;

// CUmemAllocationProp
struct physical_properties {
    pool_allocation type;
    int handles;
    memory_location location;
    void* win32_metadata;
    unsigned char compression;
    unsigned char direct_rdma;
    unsigned short usage;
    unsigned char reserved[4];
};

using physical_handle = unsigned long long; // CUmemGenericAllocationHandle

} // namespace softgpu::runtime
