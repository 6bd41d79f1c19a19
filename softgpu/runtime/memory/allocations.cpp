// SPDX-License-Identifier: MIT
// Device memory: allocating, freeing, and what is known about a pointer.
#include <limits>

#include "softgpu/runtime/abi/copy.hpp"
#include "softgpu/runtime/abi/memory.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/capture.hpp"
#include "softgpu/runtime/accounts/checking.hpp"
#include "softgpu/runtime/memory/allocations.hpp"

namespace softgpu::runtime {
namespace {

constexpr std::size_t pitch_alignment = 512;

std::size_t multiply(std::size_t a, std::size_t b) {
    require(b == 0 || a <= std::numeric_limits<std::size_t>::max() / b, error::memory_allocation);
    return a * b;
}

std::size_t pitch_for(std::size_t width) {
    require(width <= std::numeric_limits<std::size_t>::max() - pitch_alignment, error::memory_allocation);
    return (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
}

void* allocate(context& gpu, locked& lock, std::size_t bytes, memory::allocation_kind kind) {
    require_safe(gpu);
    return bytes == 0 ? nullptr : reinterpret_cast<void*>(with_patience(gpu, lock, [&] {
        return gpu.memory().allocate(bytes, kind);
    }));
}

} // namespace

bool is_from_malloc(const memory::allocation& a) noexcept {
    return a.kind == memory::allocation_kind::device || a.kind == memory::allocation_kind::managed;
}

void require_freeable(context& gpu, memory::address address) {
    const auto found = gpu.memory().find(address);
    const bool twice = gpu.state().freeing.contains(address);
    const bool sound = found.has_value() && found->base == address && is_from_malloc(*found) && !twice;
    if (check::session* const s = sound ? nullptr : checking::current()) {
        const auto gone = gpu.memory().find_released(address);
        const bool again = twice || (gone && gone->base == address);
        s->host_finding(again ? "double free" : "invalid free",
                        again ? "this was freed before" : "nothing was allocated at exactly this address", address);
    }
    require(sound);
}

void release(context& gpu, void* pointer) {
    const auto address = reinterpret_cast<memory::address>(pointer);
    require_freeable(gpu, address);
    if (free_graph_memory(gpu, address)) {
        return;
    }
    gpu.state().pools.forget(address);
    gpu.state().managed.erase(address);
    gpu.memory().release(address);
}

#pragma GCC visibility push(default)
extern "C" {

error cudaMalloc(void** pointer, std::size_t bytes) {
    return call([&](context& gpu, locked& lock) {
        require(pointer != nullptr);
        gpu.must_be_alive();
        *pointer = allocate(gpu, lock, bytes, memory::allocation_kind::device);
    });
}

error cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
    return call([&](context& gpu, locked& lock) {
        require(pointer != nullptr && (flags == attach_global || flags == attach_host));
        gpu.must_be_alive();
        *pointer = allocate(gpu, lock, bytes, memory::allocation_kind::managed);
    });
}

error cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
    return call([&](context& gpu, locked& lock) {
        require(pointer != nullptr && pitch != nullptr);
        gpu.must_be_alive();
        *pitch = pitch_for(width);
        *pointer = allocate(gpu, lock, multiply(*pitch, height), memory::allocation_kind::device);
    });
}

error cudaMalloc3D(pitched_pointer* pointer, extent size) {
    return call([&](context& gpu, locked& lock) {
        require(pointer != nullptr);
        gpu.must_be_alive();
        const std::size_t pitch = pitch_for(size.width);
        const std::size_t bytes = multiply(multiply(pitch, size.height), size.depth);
        *pointer = {allocate(gpu, lock, bytes, memory::allocation_kind::device), pitch, size.width, size.height};
    });
}

error cudaFree(void* pointer) {
    return call([&](context& gpu, locked& lock) {
        require_safe(gpu);
        gpu.synchronize(lock);
        if (pointer != nullptr) {
            release(gpu, pointer);
        }
    });
}

error cudaMemGetInfo(std::size_t* available, std::size_t* total) {
    return call([&](context& gpu, locked&) {
        gpu.must_be_alive();
        if (available != nullptr) {
            *available = gpu.memory().available();
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
        // Field by field: CUDA 12's structure ends before the reserved words.
        attributes->type = memory_type::unregistered;
        attributes->device = no_device_number;
        attributes->device_pointer = nullptr;
        attributes->host_pointer = same;
        const auto found = gpu.memory().find(reinterpret_cast<memory::address>(pointer));
        if (!found) {
            return;
        }
        attributes->device = 0;
        attributes->device_pointer = same;
        switch (found->kind) {
        case memory::allocation_kind::host_mapped: attributes->type = memory_type::host; break;
        case memory::allocation_kind::managed: attributes->type = memory_type::managed; break;
        case memory::allocation_kind::device:
        case memory::allocation_kind::variable:
        case memory::allocation_kind::constant:
        case memory::allocation_kind::heap:
        case memory::allocation_kind::array:
        case memory::allocation_kind::texture:
            attributes->type = memory_type::device;
            attributes->host_pointer = nullptr;
            break;
        }
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
