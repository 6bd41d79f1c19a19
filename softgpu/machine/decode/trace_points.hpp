// SPDX-License-Identifier: MIT
// What the decoder needs to put the pseudo-instructions of a trace into code (softgpu/machine/inspect/trace/points.cpp).
#pragma once

#include <cstdint>
#include <vector>

#include "softgpu/machine/code/instruction.hpp"
#include "softgpu/observe/instruction_mix.hpp"

namespace softgpu::machine {

// `more` of before_poll and before_release: what the address says.
enum : std::uint32_t { access_generic, access_of_shared, access_past_shared };

// Beside touch << 8 in `more` of before_access.
inline constexpr std::uint32_t access_takes_work = 1u << 16;

struct trace_points {
    std::vector<observe::latency_table> tables;
    handler begin_piece = nullptr; // `more`: the piece's number; `immediate`: 1 behind a barrier of the block
    handler before_barrier = nullptr;
    handler before_access =
        nullptr; // `a`, `width` and `immediate` as the access has them; `more`: bytes, and touch << 8
    handler before_lanes = nullptr;   // in its place for loads and stores, where lanes are asked for; else nullptr
    handler before_shared = nullptr;  // the same, in shared memory
    handler before_local = nullptr;   // as before_access, in local memory
    handler before_meeting = nullptr; // `a`, `width`, `immediate` and bytes likewise, and meeting << 8
    handler before_poll =
        nullptr; // a read of a loop that only waits: `a`, `width`, `immediate` likewise; `more`: access_...
    handler after_poll = nullptr;     // behind it
    handler before_release = nullptr; // as before_poll: a write of memory that a loop may wait for
    handler after_release = nullptr;  // `more`: bytes of a word; and 1 << 8 of an atomic
    handler before_texture = nullptr; // a fetch: `places` and, in `d`, `more` as it has them
    handler before_fragment =
        nullptr; // wmma.load and wmma.store: `a`, `b`, `width` and `immediate` as it has them; `d`: the
                 // fragment's plan; `more`: touch << 8
    handler before_loads = nullptr;  // in front of begin_piece, of a block that loads through L1
    handler after_acquire = nullptr; // behind a load, an atomic or a fence that acquires, of the device or the system
    handler before_copy = nullptr;   // cp.async: `places` and, in `d`, `more` as the copy has them; `more` likewise
};

} // namespace softgpu::machine
