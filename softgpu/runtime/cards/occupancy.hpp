// SPDX-License-Identifier: MIT
// How many blocks of a kernel fit on a multiprocessor of the card.
#pragma once

#include <cstdint>

#include "softgpu/machine/launch.hpp"
#include "softgpu/runtime/cards/cards.hpp"

namespace softgpu::runtime {

// Bytes of dynamic shared memory that a block may have. `attribute`: what cudaFuncSetAttribute has set, -1 for nothing.
[[nodiscard]] std::uint32_t max_dynamic_shared(const card& device, const machine::kernel_facts& facts,
                                               int attribute) noexcept;

// Registers per thread: the machine's estimate, limited by __launch_bounds__ and the hardware.
[[nodiscard]] std::uint32_t registers_of(const card& device, const machine::kernel_facts& facts) noexcept;

// Blocks resident on one multiprocessor, by the rules of the CUDA occupancy calculator. The limits are warps, blocks,
// registers (allocated in units of 256 per warp, for four warps at a time) and shared memory (with the bytes that the system
// reserves). 0: no block fits.
[[nodiscard]] std::uint32_t blocks_per_multiprocessor(const card& device, const machine::kernel_facts& facts,
                                                      std::uint64_t threads, std::uint64_t dynamic_shared) noexcept;

} // namespace softgpu::runtime
