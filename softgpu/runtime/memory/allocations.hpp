// SPDX-License-Identifier: MIT
// What the calls that allocate and free device memory share.
#pragma once

#include <unordered_map>
#include <vector>

#include "softgpu/memory/device_memory.hpp"
#include "softgpu/runtime/core/context.hpp"
#include "softgpu/runtime/core/operation.hpp"

namespace softgpu::runtime {

// Allocations that cudaFreeAsync will free when their streams, which may be of other devices, get there.
struct pending_frees final : device_part {
    std::unordered_map<memory::address, operation_pointer> by_address;
};

// Whether the program has allocated it as device or managed memory.
[[nodiscard]] bool is_from_malloc(const memory::allocation& a) noexcept;
// Throws invalid_value unless an allocation of the program begins at this address and is not freed.
void require_freeable(context& gpu, memory::address address);
// Frees an allocation that has passed require_freeable(). Graphs' memory is freed by free_graph_memory() instead.
void release(context& gpu, memory::address address);

// allocate(). If memory runs out while frees are pending, waits for them and tries once more.
template <class Allocate>
memory::address allocate_after_pending_frees(context& gpu, locked& lock, Allocate&& allocate) {
    std::vector<operation_pointer> frees;
    try {
        return allocate();
    } catch (const memory::out_of_memory&) {
        for (const auto& [address, free] : gpu.part<pending_frees>().by_address) {
            frees.push_back(free);
        }
        if (frees.empty()) {
            throw;
        }
    }
    for (const operation_pointer& free : frees) {
        gpu.wait(lock, free);
    }
    return allocate();
}

} // namespace softgpu::runtime
