// SPDX-License-Identifier: MIT
// cudaMalloc and cudaFree, and what is known about a pointer.
#include <limits>
#include <optional>

#include "softgpu/memory/alignment.hpp"
#include "softgpu/memory/peers.hpp"
#include "softgpu/runtime/abi/copy.hpp"
#include "softgpu/runtime/abi/memory.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/core/streams/capture_rules.hpp"
#include "softgpu/runtime/graph/graph_memory.hpp"
#include "softgpu/runtime/memory/allocations.hpp"
#include "softgpu/runtime/memory/shared_memory.hpp"
#include "softgpu/runtime/memory/virtual_memory.hpp"

namespace softgpu::runtime {
namespace {

constexpr std::size_t pitch_alignment = 512;

std::size_t multiply(std::size_t a, std::size_t b) {
    require(b == 0 || a <= std::numeric_limits<std::size_t>::max() / b, error::memory_allocation);
    return a * b;
}

std::size_t pitch_for(std::size_t width) {
    require(width <= std::numeric_limits<std::size_t>::max() - pitch_alignment, error::memory_allocation);
    return round_up(width, pitch_alignment);
}

void* allocate(context& gpu, locked& lock, std::size_t bytes, memory::allocation_kind kind) {
    require_safe(gpu);
    return bytes == 0 ? nullptr : reinterpret_cast<void*>(allocate_after_pending_frees(gpu, lock, [&] {
        return gpu.memory().allocate(bytes, kind);
    }));
}

// Whether other devices may use it as well.
bool is_for_all(context& gpu, const void* pointer) {
    const auto found =
        gpu.is_alone() ? std::nullopt : memory_of(gpu, pointer).find(reinterpret_cast<memory::address>(pointer));
    return found && found->kind == memory::allocation_kind::managed;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaMalloc(void** pointer, std::size_t bytes) {
    return call([&](context& gpu, locked& lock) {
        require(pointer != nullptr);
        gpu.require_usable();
        *pointer = allocate(gpu, lock, bytes, memory::allocation_kind::device);
    });
}

error cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
    return call([&](context& gpu, locked& lock) {
        require(pointer != nullptr && (flags == attach_global || flags == attach_host));
        gpu.require_usable();
        *pointer = allocate(gpu, lock, bytes, memory::allocation_kind::managed);
    });
}

error cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
    return call([&](context& gpu, locked& lock) {
        require(pointer != nullptr && pitch != nullptr);
        gpu.require_usable();
        *pitch = pitch_for(width);
        *pointer = allocate(gpu, lock, multiply(*pitch, height), memory::allocation_kind::device);
    });
}

error cudaMalloc3D(pitched_pointer* pointer, extent size) {
    return call([&](context& gpu, locked& lock) {
        require(pointer != nullptr);
        gpu.require_usable();
        const std::size_t pitch = pitch_for(size.width);
        const std::size_t bytes = multiply(multiply(pitch, size.height), size.depth);
        *pointer = {allocate(gpu, lock, bytes, memory::allocation_kind::device), pitch, size.width, size.height};
    });
}

error cudaFree(void* pointer) {
    return call([&](context& gpu, locked& lock) {
        if (is_imported(gpu, reinterpret_cast<memory::address>(pointer), shared_kind::pool_memory)) {
            close_memory(gpu, lock, reinterpret_cast<memory::address>(pointer), shared_kind::pool_memory);
            return;
        }
        context& home = home_of(gpu, pointer);
        require_safe(home);
        is_for_all(gpu, pointer) ? home.synchronize_all(lock) : home.synchronize(lock);
        if (pointer != nullptr) {
            const auto address = reinterpret_cast<memory::address>(pointer);
            require_freeable(home, address);
            if (!free_graph_memory(home, address)) {
                release(home, address);
            }
        }
    });
}

error cudaMemGetInfo(std::size_t* available, std::size_t* total) {
    return call([&](context& gpu, locked&) {
        gpu.require_usable();
        if (available != nullptr) {
            *available = gpu.memory().unused();
        }
        if (total != nullptr) {
            *total = gpu.memory().capacity();
        }
    });
}

error cudaPointerGetAttributes(pointer_attributes* attributes, const void* pointer) {
    return call([&](context& gpu, locked&) {
        require(attributes != nullptr);
        void* const same = const_cast<void*>(pointer);
        // Field by field, because CUDA 12's structure ends before the reserved words.
        attributes->type = memory_type::unregistered;
        attributes->device = no_device_number;
        attributes->device_pointer = nullptr;
        attributes->host_pointer = same;
        context& home = home_of(gpu, pointer);
        const auto found = memory_of(gpu, pointer).find(reinterpret_cast<memory::address>(pointer));
        if (!found) {
            return;
        }
        const auto mapped = physical_at(home, found->base);
        attributes->device = mapped != nullptr ? mapped->properties.location.id : home.number();
        attributes->device_pointer = memory::peers::find_reachable(gpu.memory(), found->base)
                                         ? same
                                         : nullptr; // of a device without peer access
        switch (found->kind) {
        case memory::allocation_kind::host_mapped: attributes->type = memory_type::host; break;
        case memory::allocation_kind::managed: attributes->type = memory_type::managed; break;
        case memory::allocation_kind::device:
        case memory::allocation_kind::variable:
        case memory::allocation_kind::constant:
        case memory::allocation_kind::heap:
        case memory::allocation_kind::array:
        case memory::allocation_kind::texture:
        case memory::allocation_kind::mapped:
            attributes->type = memory_type::device;
            attributes->host_pointer = nullptr;
            break;
        }
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
