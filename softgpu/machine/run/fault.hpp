// SPDX-License-Identifier: MIT
// Faults. A fault ends the launch; its message is one line that names kernel, block, thread and the nearest allocation.
#pragma once

#include <cstdint>
#include <string>

#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

// Each of these ends the launch and returns nullptr, for a handler to return.

// `by`: the lanes at fault; the first is named.
const instruction* raise(warp* w, const instruction* i, fault_kind kind, const char* what, lane_mask by);
// `what` stands behind the kernel, the block and the thread.
const instruction* raise_text(warp* w, const instruction* i, fault_kind kind, const std::string& what, unsigned lane);
// `message` is the whole message.
const instruction* raise_verbatim(warp* w, fault_kind kind, std::string message);
// Of an access: names address, size, space, and the nearest allocation.
const instruction* raise_access(warp* w, const instruction* i, const char* verb, const char* space, std::uint64_t at,
                                std::uint32_t bytes, bool misaligned, unsigned lane);

// Whether [at, at + bytes) is in one allocation that the kernel may read or write so, by the table of allocations; remembers
// the allocation.
bool look_up_allocation(worker* host, std::uint64_t at, std::uint64_t bytes, bool writes);

// Whether those bytes of a load at `at` that the compiler says are used are in one allocation. false where it says nothing.
bool uses_allocated_bytes(const warp* w, const instruction* i, std::uint64_t at);

} // namespace softgpu::machine
