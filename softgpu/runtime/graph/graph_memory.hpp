// SPDX-License-Identifier: MIT
// The memory of allocation nodes. Its address stays the same for as long as a graph has the node.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include "softgpu/memory/device_memory.hpp"
#include "softgpu/runtime/core/context.hpp"

namespace softgpu::runtime {

struct graph_allocation {
    memory::address base = 0;
    std::uint64_t bytes = 0;
    const graph* owner = nullptr;
    bool live = false;               // allocated and not freed, in the order of issue
    bool reserved = true;            // until cudaDeviceGraphMemTrim() finds it unused
    const graph* freed_by = nullptr; // the graph whose free node frees it, if any
    bool orphan = false;             // no graph has it any more: it is released when it is freed
};

struct graph_memory final : device_part {
    std::map<memory::address, std::shared_ptr<graph_allocation>> allocations;
    std::uint64_t used_high = 0; // bytes
    std::uint64_t reserved_high = 0;

    [[nodiscard]] std::uint64_t used() const;
    [[nodiscard]] std::uint64_t reserved() const;
    void trim();
    void add_unused(std::set<memory::address>& to) const override;
};

// Throws memory::out_of_memory.
std::shared_ptr<graph_allocation> allocate_for(context& gpu, const graph& owner, std::uint64_t bytes);
// In the order of issue, an allocation becomes live or is freed.
void set_live(context& gpu, graph_allocation& a, bool live);
// Frees it if it is graph memory; returns false for other memory. Throws invalid_value if it is not live, or if its own
// graph frees it.
bool free_graph_memory(context& gpu, memory::address base);
// Releases memory that no node refers to any more, after `last`.
void release_unreferenced(context& gpu, const operation_pointer& last);

} // namespace softgpu::runtime
