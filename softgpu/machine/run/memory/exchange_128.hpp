// SPDX-License-Identifier: MIT
// 128-bit atomic exchange and compare-and-swap (atom.b128), for all threads of the host.
#pragma once

#include "softgpu/machine/code/instruction.hpp"

namespace softgpu::machine {

// Stores `fresh` in the 16 bytes at `at`; with `compare` only where they are `expected`. Returns the old value.
uint128 exchange_128(void* at, uint128 fresh, bool compare, uint128 expected) noexcept;

} // namespace softgpu::machine
