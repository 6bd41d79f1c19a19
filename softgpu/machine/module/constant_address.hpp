// SPDX-License-Identifier: MIT
// Addresses of constants as PTX allows them to be: offsets into a space of 64 KiB, which fit into 32 bits.
#pragma once

#include <cstdint>

namespace softgpu::machine {

struct launch_state;

// The address in the constant variable whose address has these lower 32 bits; the bits themselves where there is none.
std::uint64_t whole_constant_address(const launch_state& l, std::uint32_t bits);

} // namespace softgpu::machine
