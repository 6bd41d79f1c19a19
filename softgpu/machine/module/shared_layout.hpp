// SPDX-License-Identifier: MIT
// The layout of a block's shared memory: static variables, dynamic memory, and, for kernels that read the registers of it,
// the system's reserved part, which a GPU has first and this machine last.
#pragma once

#include <algorithm>
#include <cstdint>

#include "softgpu/machine/module/kernel.hpp"
#include "softgpu/memory/alignment.hpp"

namespace softgpu::machine {

// Cooperative groups have their 288 bytes behind this part of the reserved memory.
inline constexpr std::uint32_t reserved_for_system = 128;

struct shared_layout {
    std::uint32_t own = 0;         // bytes of the program, from 0 on
    std::uint32_t given = 0;       // the same, rounded up to the card's allocation unit
    std::uint32_t reserved = 0;    // bytes of the system, in every block
    std::uint32_t reserved_at = 0; // where they would begin
    std::uint32_t end = 0;         // of the bytes that the kernel may access
};

inline shared_layout shared_layout_of(const kernel& k, const launch_request& request) {
    // Since compute capability 8.0 a block may have 99 KiB and more; the units are smaller, and 1 KiB is reserved.
    constexpr std::uint32_t most_before = 96 * 1024;
    const bool newer = request.shared_limit > most_before;
    shared_layout l;
    l.own = request.dynamic_shared_bytes == 0
                ? k.shared_bytes
                : round_up(k.shared_bytes, std::max(16u, k.shared_alignment)) + request.dynamic_shared_bytes;
    l.given = round_up(l.own, newer ? 128u : 256u);
    l.reserved = newer ? 1024u : 0u;
    l.reserved_at = l.given;
    l.end = k.uses_reserved_shared ? l.reserved_at + l.reserved : l.own;
    return l;
}

} // namespace softgpu::machine
