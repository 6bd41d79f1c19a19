// SPDX-License-Identifier: MIT
#include "softgpu/runtime/memory/pools.hpp"

#include <algorithm>

#include "softgpu/memory/alignment.hpp"

namespace softgpu::runtime {
namespace {

constexpr std::uint64_t reserved_step = memory::device_memory::mapping_granularity;

} // namespace

void memory_pool::trim(std::uint64_t bytes) noexcept {
    reserved = std::max(round_up(used, reserved_step), std::min(reserved, bytes));
}

void memory_pool::count(std::uint64_t bytes) noexcept {
    used += bytes;
    used_high = std::max(used_high, used);
    reserved = std::max(reserved, round_up(used, reserved_step));
    reserved_high = std::max(reserved_high, reserved);
}

void memory_pool::discount(std::uint64_t bytes) noexcept {
    used -= bytes;
    trim(release_threshold);
}

memory_pools::~memory_pools() {
    for (const auto& [base, part] : shares_) {
        for (memory::device_memory* const other : part.pool->open_to) {
            other->disown(reinterpret_cast<void*>(base));
        }
    }
}

bool memory_pools::contains(const memory_pool* pool) const {
    if (pool == &standard_) {
        return true;
    }
    const auto at = created_.find(pool);
    return at != created_.end() && !(*at)->destroyed;
}

memory_pool* memory_pools::owner_of(memory::address base) const {
    const auto at = shares_.find(base);
    return at == shares_.end() ? nullptr : at->second.pool;
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
    // Pages of a pool that can be exported are shared from the start: they cannot be moved while a kernel may use them.
    const memory::address base = pool.can_be_exported ? memory_.allocate_shared(bytes, memory::allocation_kind::device)
                                                      : memory_.allocate(bytes, memory::allocation_kind::device);
    shares_[base] = {&pool, bytes};
    pool.count(bytes);
    for (memory::device_memory* const other : pool.open_to) {
        other->adopt(reinterpret_cast<void*>(base), bytes, memory::allocation_kind::device);
    }
    return base;
}

void memory_pools::open(memory_pool& pool, memory::device_memory& other) {
    if (std::ranges::find(pool.open_to, &other) != pool.open_to.end()) {
        return;
    }
    pool.open_to.push_back(&other);
    for (const auto& [base, part] : shares_) {
        if (part.pool == &pool) {
            other.adopt(reinterpret_cast<void*>(base), part.bytes, memory::allocation_kind::device);
        }
    }
}

void memory_pools::close(memory_pool& pool, memory::device_memory& other) {
    if (std::erase(pool.open_to, &other) == 0) {
        return;
    }
    for (const auto& [base, part] : shares_) {
        if (part.pool == &pool) {
            other.disown(reinterpret_cast<void*>(base));
        }
    }
}

void memory_pools::close_all(memory::device_memory& other) {
    close(standard_, other);
    for (const auto& pool : created_) {
        close(*pool, other);
    }
}

void memory_pools::forget(memory::address base) {
    const auto at = shares_.find(base);
    if (at == shares_.end()) {
        return;
    }
    memory_pool& pool = *at->second.pool;
    for (memory::device_memory* const other : pool.open_to) {
        other->disown(reinterpret_cast<void*>(base));
    }
    pool.discount(at->second.bytes);
    shares_.erase(at);
    if (pool.destroyed && pool.used == 0) {
        created_.erase(created_.find(&pool));
    }
}

} // namespace softgpu::runtime
