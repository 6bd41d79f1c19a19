// SPDX-License-Identifier: MIT
// What the calls that free memory share.
#pragma once

#include "softgpu/memory/device_memory.hpp"
#include "softgpu/runtime/core/context.hpp"

namespace softgpu::runtime {

[[nodiscard]] bool is_from_malloc(const memory::allocation& a) noexcept;
// Throws invalid_value for what no call has allocated, or what has been freed.
void require_freeable(context& gpu, memory::address address);
// The same, and frees it.
void release(context& gpu, void* pointer);

// allocate(), and once more after all work where memory runs out while some is still to be freed in a stream's order.
template <class Allocate>
memory::address with_patience(context& gpu, locked& lock, Allocate&& allocate) {
    try {
        return allocate();
    } catch (const memory::out_of_memory&) {
        if (gpu.state().freeing.empty()) {
            throw;
        }
    }
    gpu.synchronize(lock);
    return allocate();
}

} // namespace softgpu::runtime
