// SPDX-License-Identifier: MIT
// The functions that a kernel may call, found before it runs: their shared variables, and how much of a thread's stack they
// take where that can be known.
#pragma once

#include <cstdint>

#include "softgpu/machine/module/loaded_module.hpp"

namespace softgpu::machine {

// What a call takes of a thread's stack besides the function's own local memory.
inline constexpr std::uint32_t call_overhead = 32;
// The least stack of a kernel whose functions call themselves or are called by address.
inline constexpr std::uint32_t least_stack = 64 * 1024;

// The function as the kernel calls it; parses its body at first use. Throws ptx::error.
callee& callee_of(kernel& k, const function_entry& f);

// Visits all that the kernel may call. Places their shared variables behind the `shared` bytes that are taken, and sets
// kernel::stack_bytes and needs_stack, and what the kernel's facts say is unresolved.
void find_callees(module::implementation& home, kernel& k, std::uint64_t& shared);

} // namespace softgpu::machine
