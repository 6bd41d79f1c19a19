// SPDX-License-Identifier: MIT
// Host memory that kernels may use: allocated for the program (pinned) or the program's own (registered).
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "softgpu/memory/device_memory.hpp"

namespace softgpu::runtime {

struct host_range {
    void* base = nullptr;
    std::uint64_t bytes = 0;
    unsigned flags = 0;
    bool registered = false; // the program's own memory
};

class host_allocations {
public:
    explicit host_allocations(memory::device_memory& memory) : memory_(memory) {}
    ~host_allocations();
    host_allocations(const host_allocations&) = delete;
    host_allocations& operator=(const host_allocations&) = delete;

    // Zeroed, aligned to a page. Throws std::bad_alloc. bytes > 0.
    void* allocate(std::uint64_t bytes, unsigned flags);
    // false: nothing that allocate() gave begins here.
    bool release(void* base);
    // false: part of it is in the table already.
    bool enroll(void* base, std::uint64_t bytes, unsigned flags);
    // false: nothing that enroll() took begins here.
    bool withdraw(void* base);

    [[nodiscard]] std::optional<host_range> find(const void* at) const;

private:
    memory::device_memory& memory_;
    std::map<std::uintptr_t, host_range> ranges_; // by base
};

} // namespace softgpu::runtime
