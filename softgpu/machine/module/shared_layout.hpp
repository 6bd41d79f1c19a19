// SPDX-License-Identifier: MIT
// What stands where in a block's shared memory: the program's static variables, its dynamic memory, and, for kernels that
// name the registers of it, what the system has reserved; on a GPU that comes first, here last.
#pragma once

#include <algorithm>
#include <cstdint>

#include "softgpu/machine/module/module.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

// Cooperative groups find their 288 bytes behind this part of what is reserved.
inline constexpr std::uint32_t reserved_for_system = 128;

struct shared_layout {
    std::uint32_t own = 0;         // bytes of the program, from 0 on
    std::uint32_t given = 0;       // the same in the card's units
    std::uint32_t reserved = 0;    // bytes of the system, in every block
    std::uint32_t reserved_at = 0; // where they would begin
    std::uint32_t end = 0;         // of what the kernel may touch
};

inline shared_layout shared_layout_of(const kernel& k, const launch_request& request) {
    const auto up = [](std::uint32_t value, std::uint32_t to) { return (value + to - 1) / to * to; };
    // Since compute capability 8.0 a block may have 99 KiB and more; the units are smaller, and 1 KiB is reserved.
    constexpr std::uint32_t most_before = 96 * 1024;
    const bool newer = request.shared_limit > most_before;
    shared_layout l;
    l.own = request.dynamic_shared_bytes == 0
                ? k.shared_bytes
                : up(k.shared_bytes, std::max(16u, k.shared_alignment)) + request.dynamic_shared_bytes;
    l.given = up(l.own, newer ? 128u : 256u);
    l.reserved = newer ? 1024u : 0u;
    l.reserved_at = l.given;
    l.end = k.uses_reserved_shared ? l.reserved_at + l.reserved : l.own;
    return l;
}

} // namespace softgpu::machine
