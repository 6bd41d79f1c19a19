// SPDX-License-Identifier: MIT
// Memory pools of the stream-ordered allocator. A pool counts its allocations and what it would have reserved for them. It
// keeps no memory: that comes from the device and returns to it at once.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "softgpu/memory/device_memory.hpp"
#include "softgpu/runtime/core/device_part.hpp"
#include "softgpu/runtime/core/handle_set.hpp"

namespace softgpu::runtime {

struct memory_pool {
    std::uint64_t most_bytes = 0; // 0: all that the device has
    std::uint64_t used = 0;
    std::uint64_t used_high = 0;
    std::uint64_t reserved = 0; // in whole steps, at least what is used
    std::uint64_t reserved_high = 0;
    std::uint64_t release_threshold = 0;
    int reuse_follow_event_dependencies = 1;
    int reuse_allow_opportunistic = 1;
    int reuse_allow_internal_dependencies = 1;
    bool can_be_exported = false;
    bool imported = false;                         // its allocations are another process's
    bool destroyed = false;                        // and kept until its last allocation is freed
    std::vector<memory::device_memory*> open_to{}; // other devices whose kernels may use its allocations

    // Gives back what is reserved beyond `bytes` and unused.
    void trim(std::uint64_t bytes) noexcept;
    void count(std::uint64_t bytes) noexcept;    // an allocation
    void discount(std::uint64_t bytes) noexcept; // its end
};

class memory_pools final : public device_part {
public:
    explicit memory_pools(memory::device_memory& memory) : memory_(memory) {}
    ~memory_pools() override;
    memory_pools(const memory_pools&) = delete;
    memory_pools& operator=(const memory_pools&) = delete;

    [[nodiscard]] memory_pool& standard() noexcept { return standard_; }
    [[nodiscard]] memory_pool& current() noexcept { return *current_; }
    void choose(memory_pool& pool) noexcept { current_ = &pool; }
    // The pool that an allocation is of; nullptr: none.
    [[nodiscard]] memory_pool* owner_of(memory::address base) const;
    [[nodiscard]] bool contains(const memory_pool* pool) const;
    memory_pool& create(std::uint64_t most_bytes);
    void destroy(memory_pool& pool); // not the standard one

    // Throws memory::out_of_memory. bytes > 0.
    memory::address allocate(memory_pool& pool, std::uint64_t bytes);
    // Lets kernels of another device use the pool's allocations, or no longer.
    void open(memory_pool& pool, memory::device_memory& other);
    void close(memory_pool& pool, memory::device_memory& other);
    // Another device's memory ends.
    void close_all(memory::device_memory& other);
    // An allocation is freed: its pool, if it has one, no longer counts it.
    void forget(memory::address base);

private:
    struct share {
        memory_pool* pool = nullptr;
        std::uint64_t bytes = 0;
    };

    memory::device_memory& memory_;
    memory_pool standard_;
    memory_pool* current_ = &standard_;
    handle_set<memory_pool> created_;
    std::unordered_map<memory::address, share> shares_;
};

} // namespace softgpu::runtime
