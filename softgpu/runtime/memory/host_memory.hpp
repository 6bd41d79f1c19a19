// SPDX-License-Identifier: MIT
// The host memory that kernels may use: allocated by the runtime (pinned) or by the program (registered).
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "softgpu/memory/device_memory.hpp"
#include "softgpu/runtime/core/device_part.hpp"

namespace softgpu::runtime {

struct host_range {
    void* base = nullptr;
    std::uint64_t bytes = 0;
    unsigned flags = 0;
    bool registered = false; // allocated by the program
};

class host_allocations final : public device_part {
public:
    explicit host_allocations(memory::device_memory& memory) : memory_(memory) {}
    ~host_allocations() override;
    host_allocations(const host_allocations&) = delete;
    host_allocations& operator=(const host_allocations&) = delete;

    // Zeroed, aligned to a page. Throws std::bad_alloc. bytes > 0.
    void* allocate(std::uint64_t bytes, unsigned flags);
    // Returns false if no memory of allocate() begins here.
    bool release(void* base);
    // Whether part of the range is in the table.
    [[nodiscard]] bool meets(const void* base, std::uint64_t bytes) const;
    // For a range that is not.
    void register_range(void* base, std::uint64_t bytes, unsigned flags);
    // Returns false if no range of register_range() begins here.
    bool unregister_range(void* base);

    [[nodiscard]] std::optional<host_range> find(const void* at) const;

private:
    memory::device_memory& memory_;
    std::map<std::uintptr_t, host_range> ranges_; // by base
};

} // namespace softgpu::runtime
