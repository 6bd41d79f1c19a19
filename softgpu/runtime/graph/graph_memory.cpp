// SPDX-License-Identifier: MIT
#include "softgpu/runtime/graph/graph_memory.hpp"

#include <algorithm>

#include "softgpu/runtime/core/failure.hpp"

namespace softgpu::runtime {

std::uint64_t graph_memory::used() const {
    std::uint64_t bytes = 0;
    for (const auto& [base, a] : allocations) {
        bytes += a->live ? a->bytes : 0;
    }
    return bytes;
}

std::uint64_t graph_memory::reserved() const {
    std::uint64_t bytes = 0;
    for (const auto& [base, a] : allocations) {
        bytes += a->reserved ? a->bytes : 0;
    }
    return bytes;
}

void graph_memory::trim() {
    for (const auto& [base, a] : allocations) {
        a->reserved = a->live;
    }
}

void graph_memory::add_unused(std::set<memory::address>& to) const {
    for (const auto& [base, a] : allocations) {
        if (!a->live) {
            to.insert(base);
        }
    }
}

std::shared_ptr<graph_allocation> allocate_for(context& gpu, const graph& owner, std::uint64_t bytes) {
    auto& state = gpu.part<graph_memory>();
    auto made = std::make_shared<graph_allocation>();
    made->base = gpu.memory().allocate(bytes, memory::allocation_kind::device);
    made->bytes = bytes;
    made->owner = &owner;
    state.allocations[made->base] = made;
    state.reserved_high = std::max(state.reserved_high, state.reserved());
    return made;
}

void set_live(context& gpu, graph_allocation& a, bool live) {
    auto& state = gpu.part<graph_memory>();
    a.live = live;
    a.reserved = a.reserved || live;
    state.used_high = std::max(state.used_high, state.used());
    state.reserved_high = std::max(state.reserved_high, state.reserved());
}

bool free_graph_memory(context& gpu, memory::address base) {
    auto& all = gpu.part<graph_memory>().allocations;
    const auto at = all.find(base);
    if (at == all.end()) {
        return false;
    }
    require(at->second->live && at->second->freed_by != at->second->owner);
    at->second->live = false;
    if (at->second->orphan) {
        // Everything issued so far may still use it.
        at->second->orphan = false;
        const operation_pointer end = gpu.mark(gpu.streams().legacy());
        release_unreferenced(gpu, end);
    }
    return true;
}

void release_unreferenced(context& gpu, const operation_pointer& last) {
    auto& all = gpu.part<graph_memory>().allocations;
    for (auto at = all.begin(); at != all.end();) {
        graph_allocation& a = *at->second;
        if (at->second.use_count() > 1) {
            ++at;
        } else if (a.live) {
            a.orphan = true;
            ++at;
        } else {
            gpu.issue_after(
                {&last, 1}, operation_kind::host,
                [&gpu, base = a.base] {
                    const locked lock(gpu.mutex());
                    gpu.memory().release(base);
                },
                least_priority, 0);
            at = all.erase(at);
        }
    }
}

} // namespace softgpu::runtime
