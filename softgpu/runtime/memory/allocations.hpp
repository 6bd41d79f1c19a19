// SPDX-License-Identifier: MIT
// What the calls that allocate and free device memory share.
#pragma once

#include <unordered_set>

#include "softgpu/memory/device_memory.hpp"
#include "softgpu/runtime/core/context.hpp"

namespace softgpu::runtime {

// Allocations that cudaFreeAsync will free when their streams get there.
struct pending_frees final : device_part {
    std::unordered_set<memory::address> addresses;
};

// Whether the program has allocated it as device or managed memory.
[[nodiscard]] bool is_from_malloc(const memory::allocation& a) noexcept;
// Throws invalid_value unless an allocation of the program begins at this address and is not freed.
void require_freeable(context& gpu, memory::address address);
// Frees an allocation that has passed require_freeable(). Graphs' memory is freed by free_graph_memory() instead.
void release(context& gpu, memory::address address);

// allocate(). If memory runs out while frees are pending, waits for all work and tries once more.
template <class Allocate>
memory::address allocate_after_pending_frees(context& gpu, locked& lock, Allocate&& allocate) {
    try {
        return allocate();
    } catch (const memory::out_of_memory&) {
        if (gpu.part<pending_frees>().addresses.empty()) {
            throw;
        }
    }
    gpu.synchronize(lock);
    return allocate();
}

} // namespace softgpu::runtime
