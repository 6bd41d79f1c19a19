// SPDX-License-Identifier: MIT
// Fills parameters and special registers, which differ by launch, block or warp, into the places that the code reads.
#pragma once

#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

// A copy of the code's constants with the values of the launch, in `storage`, aligned to a cache line.
[[nodiscard]] std::byte* constants_of_launch(const program_code& code, const launch_state& launch,
                                             std::vector<std::byte>& storage);
void fill_block_values(const program_code& code, const launch_state& launch, const block& b, std::byte* constants);
// `frame` is that of a call by lanes of warp number `index`.
void fill_warp_values(const program_code& code, const launch_state& launch, std::uint32_t index, std::byte* frame);

// `bytes` of storage that start on a cache line.
[[nodiscard]] std::byte* aligned(std::vector<std::byte>& storage, std::size_t bytes);

} // namespace softgpu::machine
