// SPDX-License-Identifier: MIT
// What the compiler says of loads by .pragma "used_bytes_mask 241": bit n stands for byte n of what a lane loads, and bytes
// whose bits are 0 are used by nothing. The compiler makes wide loads of several narrow ones so, even where the last bytes
// are behind the end of the data. Source: PTX ISA 9.0, chapter 12, "Pragma Strings".
#pragma once

#include <cstdint>
#include <unordered_map>

#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// The masks, by index into function::instructions, of the loads that have one.
[[nodiscard]] std::unordered_map<std::uint32_t, std::uint32_t> used_bytes_of(const ptx::function& f);

} // namespace softgpu::machine
