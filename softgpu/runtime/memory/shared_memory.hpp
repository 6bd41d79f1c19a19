// SPDX-License-Identifier: MIT
// Memory of one process in another one (cudaIpcGetMemHandle): the pages of an allocation move into a file, which the other
// process maps.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "softgpu/runtime/abi/shared.hpp"
#include "softgpu/runtime/core/context.hpp"

namespace softgpu::runtime {

// A handle of a part of an open file of this process.
shared_handle handle_of(shared_kind kind, int device, const memory::shared_file& file, std::uint64_t offset,
                        std::uint64_t bytes);
// Opens a handle's file. Throws invalid_value for no handle of this kind, device_uninitialized for one of this process, as CUDA
// does, and invalid_resource_handle if its process or its file is gone.
memory::shared_file open_handle(const shared_handle& h, shared_kind kind);

struct imported_memory final : device_part {
    struct import {
        memory::address range = 0; // reserved addresses
        std::uint64_t range_bytes = 0;
        unsigned opened = 0;
        shared_kind kind{};
    };
    std::map<std::pair<std::uint64_t, std::uint64_t>, memory::address> by_place; // file and offset
    std::map<memory::address, import> all;
};

// The allocation that holds the address, which the program has allocated and not mapped. Waits for all work of the process,
// unless its pages are shared already.
// Throws invalid_value for any other address.
shared_handle share_memory(context& gpu, locked& lock, memory::address at, shared_kind kind);
// The address of the allocation's first byte. Memory that is open already has its address again.
memory::address open_memory(context& gpu, const shared_handle& h, shared_kind kind);
// Waits for all work of the process. Throws invalid_value for an address that open_memory() has not given.
void close_memory(context& gpu, locked& lock, memory::address at, shared_kind kind);
[[nodiscard]] bool is_imported(context& gpu, memory::address at, shared_kind kind);

// A memory pool as a file descriptor, which the caller closes, and the device of one. Throw invalid_value for another file.
int export_pool(int device);
int device_of_pool(int descriptor);

} // namespace softgpu::runtime
