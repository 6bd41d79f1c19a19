// SPDX-License-Identifier: MIT
// Addresses of constants. PTX allows them to be offsets into a space of 64 KiB, which fit into 32 bits.
#pragma once

#include <cstdint>

#include "softgpu/machine/launch.hpp"

namespace softgpu::machine {

// The address in the constant variable whose address has these lower 32 bits; the bits themselves where there is none.
std::uint64_t whole_constant_address(const module::implementation& home, std::uint32_t bits);

} // namespace softgpu::machine
