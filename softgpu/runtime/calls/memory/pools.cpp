// SPDX-License-Identifier: MIT
// The stream-ordered allocator and its pools.
#include <algorithm>
#include <cstdint>

#include "softgpu/runtime/abi/memory.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/enqueue.hpp"
#include "softgpu/runtime/memory/pools.hpp"
#include "softgpu/runtime/memory/shared_memory.hpp"

namespace softgpu::runtime {
namespace {

// The device of a pool. Throws invalid_value for an unknown handle.
context& home_of_pool(context& gpu, const memory_pool* pool) {
    for (const auto& other : gpu.group().members()) {
        if (other->part<memory_pools>().contains(pool)) {
            return *other;
        }
    }
    fail(error::invalid_value);
}

memory_pool& checked(context& gpu, memory_pool* pool) {
    (void)home_of_pool(gpu, pool);
    return *pool;
}

void choose(context& gpu, memory_pool* pool) {
    require(&home_of_pool(gpu, pool) == &gpu);
    gpu.part<memory_pools>().choose(*pool);
}

context& device_at(context& gpu, const memory_location* at) {
    require(at != nullptr && at->type == location_type::device);
    return checked_device(gpu, at->id);
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaMallocAsync(void** pointer, std::size_t bytes, stream* on) {
    return call(on, [&](context& gpu, locked& lock) {
        require(pointer != nullptr);
        enqueue_allocation(gpu, lock, pointer, bytes, gpu, gpu.part<memory_pools>().current(), on);
    });
}

error cudaMallocAsync_ptsz(void** pointer, std::size_t bytes, stream* on) {
    return cudaMallocAsync(pointer, bytes, of_this_thread(on));
}

error cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, memory_pool* pool, stream* on) {
    return call(on, [&](context& gpu, locked& lock) {
        require(pointer != nullptr && !checked(gpu, pool).imported);
        enqueue_allocation(gpu, lock, pointer, bytes, home_of_pool(gpu, pool), *pool, on);
    });
}

error cudaMallocFromPoolAsync_ptsz(void** pointer, std::size_t bytes, memory_pool* pool, stream* on) {
    return cudaMallocFromPoolAsync(pointer, bytes, pool, of_this_thread(on));
}

error cudaFreeAsync(void* pointer, stream* on) {
    return call(on, [&](context& gpu, locked& lock) {
        gpu.require_usable();
        stream& in = gpu.checked(on);
        if (is_imported(gpu, reinterpret_cast<memory::address>(pointer), shared_kind::pool_memory)) {
            close_memory(gpu, lock, reinterpret_cast<memory::address>(pointer), shared_kind::pool_memory);
        } else if (pointer != nullptr) {
            enqueue_free(gpu, pointer, in);
        }
    });
}

error cudaFreeAsync_ptsz(void* pointer, stream* on) { return cudaFreeAsync(pointer, of_this_thread(on)); }

error cudaDeviceGetDefaultMemPool(memory_pool** pool, int device) {
    return call([&](context& gpu, locked&) {
        require(pool != nullptr);
        *pool = &checked_device(gpu, device).part<memory_pools>().standard();
    });
}

error cudaDeviceGetMemPool(memory_pool** pool, int device) {
    return call([&](context& gpu, locked&) {
        require(pool != nullptr);
        *pool = &checked_device(gpu, device).part<memory_pools>().current();
    });
}

error cudaDeviceSetMemPool(int device, memory_pool* pool) {
    return call([&](context& gpu, locked&) { choose(checked_device(gpu, device), pool); });
}

error cudaMemGetDefaultMemPool(memory_pool** pool, memory_location* at, pool_allocation kind) {
    return call([&](context& gpu, locked&) {
        require(pool != nullptr && kind == pool_allocation::pinned);
        *pool = &device_at(gpu, at).part<memory_pools>().standard();
    });
}

error cudaMemGetMemPool(memory_pool** pool, memory_location* at, pool_allocation kind) {
    return call([&](context& gpu, locked&) {
        require(pool != nullptr && kind == pool_allocation::pinned);
        *pool = &device_at(gpu, at).part<memory_pools>().current();
    });
}

error cudaMemSetMemPool(memory_location* at, pool_allocation kind, memory_pool* pool) {
    return call([&](context& gpu, locked&) {
        require(kind == pool_allocation::pinned);
        choose(device_at(gpu, at), pool);
    });
}

error cudaMemPoolCreate(memory_pool** pool, const pool_properties* properties) {
    return call([&](context& gpu, locked&) {
        require(pool != nullptr && properties != nullptr);
        gpu.require_usable();
        require(properties->allocation == pool_allocation::pinned &&
                properties->location.type == location_type::device && properties->location.id >= 0 &&
                properties->location.id < gpu.group().count());
        if (properties->handles != pool_handles::none && properties->handles != pool_handles::file_descriptor) {
            fail(error::not_supported, "memory pools are exported as file descriptors only");
        }
        context& home = checked_device(gpu, properties->location.id);
        *pool = &home.part<memory_pools>().create(properties->max_bytes);
        (*pool)->can_be_exported = properties->handles == pool_handles::file_descriptor;
    });
}

error cudaMemPoolDestroy(memory_pool* pool) {
    return call([&](context& gpu, locked&) {
        auto& pools = home_of_pool(gpu, pool).part<memory_pools>();
        require(pool != &pools.standard());
        gpu.require_usable();
        pools.destroy(*pool);
    });
}

// All memory that is freed goes back at once.
error cudaMemPoolTrimTo(memory_pool* pool, std::size_t bytes) {
    return call([&](context& gpu, locked&) { checked(gpu, pool).trim(bytes); });
}

error cudaMemPoolGetAttribute(memory_pool* pool, pool_attribute which, void* value) {
    return call([&](context& gpu, locked&) {
        require(value != nullptr);
        const memory_pool& p = checked(gpu, pool);
        const auto give_number = [&](std::uint64_t v) { *static_cast<std::uint64_t*>(value) = v; };
        const auto give_choice = [&](int v) { *static_cast<int*>(value) = v; };
        switch (which) {
        case pool_attribute::reuse_follow_event_dependencies: return give_choice(p.reuse_follow_event_dependencies);
        case pool_attribute::reuse_allow_opportunistic: return give_choice(p.reuse_allow_opportunistic);
        case pool_attribute::reuse_allow_internal_dependencies: return give_choice(p.reuse_allow_internal_dependencies);
        case pool_attribute::release_threshold: return give_number(p.release_threshold);
        case pool_attribute::reserved_current: return give_number(p.reserved);
        case pool_attribute::reserved_high: return give_number(p.reserved_high);
        case pool_attribute::used_current: return give_number(p.used);
        case pool_attribute::used_high: return give_number(p.used_high);
        }
        fail(error::invalid_value);
    });
}

error cudaMemPoolSetAttribute(memory_pool* pool, pool_attribute which, void* value) {
    return call([&](context& gpu, locked&) {
        require(value != nullptr);
        memory_pool& p = checked(gpu, pool);
        const auto number = [&] { return *static_cast<const std::uint64_t*>(value); };
        const auto choice = [&] { return *static_cast<const int*>(value) != 0 ? 1 : 0; };
        switch (which) {
        case pool_attribute::reuse_follow_event_dependencies: p.reuse_follow_event_dependencies = choice(); return;
        case pool_attribute::reuse_allow_opportunistic: p.reuse_allow_opportunistic = choice(); return;
        case pool_attribute::reuse_allow_internal_dependencies: p.reuse_allow_internal_dependencies = choice(); return;
        case pool_attribute::release_threshold: p.release_threshold = number(); return;
        case pool_attribute::reserved_high:
            require(number() == 0);
            p.reserved_high = p.reserved;
            return;
        case pool_attribute::used_high:
            require(number() == 0);
            p.used_high = p.used;
            return;
        case pool_attribute::reserved_current:
        case pool_attribute::used_current: break;
        }
        fail(error::invalid_value);
    });
}

error cudaMemPoolGetAccess(access_flags* flags, memory_pool* pool, memory_location* at) {
    return call([&](context& gpu, locked&) {
        require(flags != nullptr);
        const context& home = home_of_pool(gpu, pool);
        context& user = device_at(gpu, at);
        const bool open = &user == &home || std::ranges::find(pool->open_to, &user.memory()) != pool->open_to.end();
        *flags = open ? access_flags::read_write : access_flags::none;
    });
}

error cudaMemPoolSetAccess(memory_pool* pool, const memory_access* list, std::size_t count) {
    return call([&](context& gpu, locked&) {
        require(list != nullptr || count == 0);
        context& home = home_of_pool(gpu, pool);
        for (std::size_t i = 0; i < count; ++i) {
            context& user = device_at(gpu, &list[i].location);
            require(list[i].flags == access_flags::read_write ||
                    (list[i].flags == access_flags::none && &user != &home)); // a pool cannot be closed to its device
        }
        for (std::size_t i = 0; i < count; ++i) {
            context& user = device_at(gpu, &list[i].location);
            auto& pools = home.part<memory_pools>();
            if (&user == &home) {
                continue;
            }
            if (list[i].flags == access_flags::none) {
                pools.close(*pool, user.memory());
            } else {
                pools.open(*pool, user.memory());
            }
        }
    });
}

error cudaMemPoolExportToShareableHandle(void* out, memory_pool* pool, pool_handles as, unsigned flags) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr && flags == 0 && as == pool_handles::file_descriptor);
        const context& home = home_of_pool(gpu, pool);
        require(pool->can_be_exported);
        *static_cast<int*>(out) = export_pool(home.number());
    });
}

error cudaMemPoolImportFromShareableHandle(memory_pool** pool, void* handle, pool_handles as, unsigned flags) {
    return call([&](context& gpu, locked&) {
        require(pool != nullptr && flags == 0 && as == pool_handles::file_descriptor);
        gpu.require_usable();
        const int device = device_of_pool(static_cast<int>(reinterpret_cast<std::intptr_t>(handle)));
        *pool = &checked_device(gpu, device).part<memory_pools>().create(0);
        (*pool)->imported = true;
    });
}

error cudaMemPoolExportPointer(shared_handle* out, void* pointer) {
    return call([&](context& gpu, locked& lock) {
        require(out != nullptr && pointer != nullptr);
        const auto at = reinterpret_cast<memory::address>(pointer);
        const memory_pool* const pool = home_of(gpu, at).part<memory_pools>().owner_of(at);
        require(pool != nullptr && pool->can_be_exported);
        *out = share_memory(gpu, lock, at, shared_kind::pool_memory);
    });
}

error cudaMemPoolImportPointer(void** out, memory_pool* pool, const shared_handle* from) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr && from != nullptr);
        context& home = home_of_pool(gpu, pool);
        require(pool->imported);
        *out = reinterpret_cast<void*>(open_memory(home, *from, shared_kind::pool_memory));
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
