// SPDX-License-Identifier: MIT
// The stream-ordered allocator and its pools.
#include "softgpu/runtime/memory/pools.hpp"

#include <algorithm>
#include <cstdint>

#include "softgpu/runtime/abi/memory.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/capture.hpp"
#include "softgpu/runtime/accounts/checking.hpp"
#include "softgpu/runtime/memory/allocations.hpp"

namespace softgpu::runtime {

bool memory_pools::contains(const memory_pool* pool) const {
    if (pool == &standard_) {
        return true;
    }
    const auto at = created_.find(pool);
    return at != created_.end() && !(*at)->destroyed;
}

memory_pool& memory_pools::create(std::uint64_t most_bytes) {
    auto made = std::make_unique<memory_pool>();
    made->most_bytes = most_bytes;
    return **created_.insert(std::move(made)).first;
}

void memory_pools::destroy(memory_pool& pool) {
    if (current_ == &pool) {
        current_ = &standard_;
    }
    pool.destroyed = true;
    if (pool.used == 0) {
        created_.erase(created_.find(&pool));
    }
}

memory::address memory_pools::allocate(memory_pool& pool, std::uint64_t bytes) {
    if (pool.most_bytes != 0 && bytes > pool.most_bytes - std::min(pool.used, pool.most_bytes)) {
        throw memory::out_of_memory("the pool is full");
    }
    const memory::address base = memory_.allocate(bytes, memory::allocation_kind::device);
    shares_[base] = {&pool, bytes};
    pool.used += bytes;
    pool.used_high = std::max(pool.used_high, pool.used);
    return base;
}

void memory_pools::forget(memory::address base) {
    const auto at = shares_.find(base);
    if (at == shares_.end()) {
        return;
    }
    memory_pool& pool = *at->second.pool;
    pool.used -= at->second.bytes;
    shares_.erase(at);
    if (pool.destroyed && pool.used == 0) {
        created_.erase(created_.find(&pool));
    }
}

namespace {

void require_device(int device) { require(device == 0, error::invalid_device); }

memory_pool& checked(context& gpu, memory_pool* pool) {
    require(gpu.state().pools.contains(pool));
    return *pool;
}

// The memory is there at once; only its use is bound to the stream's order.
void allocate(context& gpu, locked& lock, void** pointer, std::size_t bytes, memory_pool& pool, stream* on) {
    gpu.must_be_alive();
    stream& in = gpu.checked(on);
    if (is_capturing(in)) {
        require(bytes != 0);
        graph& into = *in.capturing->into;
        auto memory = allocate_for(gpu, into, bytes);
        *pointer = reinterpret_cast<void*>(memory->base);
        capture_node(gpu, in, node_type::allocate).work = memory_work{std::move(memory)};
        return;
    }
    *pointer = bytes == 0 ? nullptr : reinterpret_cast<void*>(with_patience(gpu, lock, [&] {
        require(gpu.state().pools.contains(&pool));
        return gpu.state().pools.allocate(pool, bytes);
    }));
    if (*pointer != nullptr && checking::watches_order()) {
        // For the checks, an operation of the stream that the memory belongs to from there on.
        gpu.issue(in, operation_kind::device, [&gpu, base = reinterpret_cast<memory::address>(*pointer)] {
            checking::allocated_in_order(gpu.memory(), base, "cudaMallocAsync");
        });
    }
}

void free_in_order(context& gpu, void* pointer, stream& on) {
    const auto address = reinterpret_cast<memory::address>(pointer);
    require_freeable(gpu, address);
    if (is_capturing(on)) {
        const auto& all = gpu.state().graphs.allocations;
        const auto at = all.find(address);
        require(at != all.end() && at->second->freed_by == nullptr);
        at->second->freed_by = on.capturing->into;
        capture_node(gpu, on, node_type::free).work = memory_work{at->second};
        return;
    }
    if (gpu.state().graphs.allocations.contains(address)) {
        gpu.issue(on, operation_kind::device, [&gpu, address] {
            checking::freed_in_order(gpu.memory(), address, "cudaFreeAsync");
        });
        (void)free_graph_memory(gpu, address);
        return;
    }
    gpu.state().freeing.insert(address);
    gpu.issue(on, operation_kind::device, [&gpu, pointer, address] {
        const locked lock(gpu.mutex());
        gpu.state().freeing.erase(address);
        checking::freed_in_order(gpu.memory(), address, "cudaFreeAsync");
        release(gpu, pointer);
    });
}

void require_place(const memory_location* at) {
    require(at != nullptr && at->type == location_type::device);
    require_device(at->id);
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaMallocAsync(void** pointer, std::size_t bytes, stream* on) {
    return call([&](context& gpu, locked& lock) {
        require(pointer != nullptr);
        allocate(gpu, lock, pointer, bytes, gpu.state().pools.current(), on);
    });
}

error cudaMallocAsync_ptsz(void** pointer, std::size_t bytes, stream* on) {
    return cudaMallocAsync(pointer, bytes, of_this_thread(on));
}

error cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, memory_pool* pool, stream* on) {
    return call([&](context& gpu, locked& lock) {
        require(pointer != nullptr);
        allocate(gpu, lock, pointer, bytes, checked(gpu, pool), on);
    });
}

error cudaMallocFromPoolAsync_ptsz(void** pointer, std::size_t bytes, memory_pool* pool, stream* on) {
    return cudaMallocFromPoolAsync(pointer, bytes, pool, of_this_thread(on));
}

error cudaFreeAsync(void* pointer, stream* on) {
    return call([&](context& gpu, locked&) {
        gpu.must_be_alive();
        stream& in = gpu.checked(on);
        if (pointer != nullptr) {
            free_in_order(gpu, pointer, in);
        }
    });
}

error cudaFreeAsync_ptsz(void* pointer, stream* on) { return cudaFreeAsync(pointer, of_this_thread(on)); }

error cudaDeviceGetDefaultMemPool(memory_pool** pool, int device) {
    return call([&](context& gpu, locked&) {
        require(pool != nullptr);
        require_device(device);
        *pool = &gpu.state().pools.standard();
    });
}

error cudaDeviceGetMemPool(memory_pool** pool, int device) {
    return call([&](context& gpu, locked&) {
        require(pool != nullptr);
        require_device(device);
        *pool = &gpu.state().pools.current();
    });
}

error cudaDeviceSetMemPool(int device, memory_pool* pool) {
    return call([&](context& gpu, locked&) {
        require_device(device);
        gpu.state().pools.choose(checked(gpu, pool));
    });
}

error cudaMemGetDefaultMemPool(memory_pool** pool, memory_location* at, pool_allocation kind) {
    return call([&](context& gpu, locked&) {
        require(pool != nullptr && kind == pool_allocation::pinned);
        require_place(at);
        *pool = &gpu.state().pools.standard();
    });
}

error cudaMemGetMemPool(memory_pool** pool, memory_location* at, pool_allocation kind) {
    return call([&](context& gpu, locked&) {
        require(pool != nullptr && kind == pool_allocation::pinned);
        require_place(at);
        *pool = &gpu.state().pools.current();
    });
}

error cudaMemSetMemPool(memory_location* at, pool_allocation kind, memory_pool* pool) {
    return call([&](context& gpu, locked&) {
        require(kind == pool_allocation::pinned);
        require_place(at);
        gpu.state().pools.choose(checked(gpu, pool));
    });
}

error cudaMemPoolCreate(memory_pool** pool, const pool_properties* properties) {
    return call([&](context& gpu, locked&) {
        require(pool != nullptr && properties != nullptr);
        gpu.must_be_alive();
        require(properties->allocation == pool_allocation::pinned &&
                properties->location.type == location_type::device && properties->location.id == 0);
        if (properties->handles != pool_handles::none) {
            fail(error::not_supported,
                 "a memory pool whose allocations can be shared between processes is not supported");
        }
        *pool = &gpu.state().pools.create(properties->max_bytes);
    });
}

error cudaMemPoolDestroy(memory_pool* pool) {
    return call([&](context& gpu, locked&) {
        checked(gpu, pool);
        require(pool != &gpu.state().pools.standard());
        gpu.must_be_alive();
        gpu.state().pools.destroy(*pool);
    });
}

// All memory that is freed goes back at once.
error cudaMemPoolTrimTo(memory_pool* pool, std::size_t) {
    return call([&](context& gpu, locked&) { checked(gpu, pool); });
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
        case pool_attribute::reserved_current:
        case pool_attribute::used_current: return give_number(p.used);
        case pool_attribute::reserved_high:
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
        checked(gpu, pool);
        require_place(at);
        *flags = access_flags::read_write;
    });
}

error cudaMemPoolSetAccess(memory_pool* pool, const memory_access* list, std::size_t count) {
    return call([&](context& gpu, locked&) {
        require(list != nullptr || count == 0);
        checked(gpu, pool);
        for (std::size_t i = 0; i < count; ++i) {
            require_place(&list[i].location);
            require(list[i].flags == access_flags::read_write); // a device's own pool cannot be closed to it
        }
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
