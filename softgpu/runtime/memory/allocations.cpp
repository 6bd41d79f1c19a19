// SPDX-License-Identifier: MIT
#include "softgpu/runtime/memory/allocations.hpp"

#include "softgpu/runtime/accounts/current_checks.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/memory/managed.hpp"
#include "softgpu/runtime/memory/pools.hpp"

namespace softgpu::runtime {

bool is_from_malloc(const memory::allocation& a) noexcept {
    return a.kind == memory::allocation_kind::device || a.kind == memory::allocation_kind::managed;
}

void require_freeable(context& gpu, memory::address address) {
    const auto found = gpu.memory().find(address);
    const bool twice = gpu.part<pending_frees>().by_address.contains(address);
    const bool valid = found.has_value() && found->base == address && is_from_malloc(*found) && !twice;
    if (check::session* const s = valid ? nullptr : checking::current()) {
        const auto gone = gpu.memory().find_released(address);
        const bool again = twice || (gone && gone->base == address);
        const bool other = found.has_value() && found->base == address;
        s->host_finding(again ? "double free" : "invalid free",
                        again   ? "this was freed before"
                        : other ? "this is no memory that cudaFree frees"
                                : "nothing was allocated at exactly this address",
                        address);
    }
    require(valid);
}

void release(context& gpu, memory::address address) {
    gpu.part<memory_pools>().forget(address);
    gpu.part<managed_ranges>().advice.erase(address);
    gpu.memory().release(address);
}

} // namespace softgpu::runtime
