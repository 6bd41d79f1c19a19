// SPDX-License-Identifier: MIT
// How many blocks of a kernel fit on a multiprocessor of the card.
#pragma once

#include <cstdint>

#include "softgpu/machine/launch.hpp"
#include "softgpu/runtime/cards/cards.hpp"

namespace softgpu::runtime {

struct function;

// The most dynamic shared memory that a block may ask for, before cudaFuncSetAttribute.
[[nodiscard]] std::uint32_t standard_dynamic_shared(const card& device, const machine::kernel_facts& facts) noexcept;
// The same as it is now.
[[nodiscard]] std::uint32_t max_dynamic_shared(const card& device, const machine::kernel_facts& facts,
                                               const function& f) noexcept;

// Registers per thread: the estimate of the machine, within what __launch_bounds__ and the hardware leave.
[[nodiscard]] std::uint32_t registers_of(const card& device, const machine::kernel_facts& facts) noexcept;

// Blocks resident on one multiprocessor, by the rules of the CUDA occupancy calculator: warps, blocks, registers
// (allocated 256 to a warp, warps in fours) and shared memory (with what the system reserves). 0: none fits.
[[nodiscard]] std::uint32_t blocks_per_multiprocessor(const card& device, const machine::kernel_facts& facts,
                                                      std::uint64_t threads, std::uint64_t dynamic_shared) noexcept;

} // namespace softgpu::runtime
