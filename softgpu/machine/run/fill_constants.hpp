// SPDX-License-Identifier: MIT
// Fills what differs from launch to launch, block to block and warp to warp into the places that a body reads it from.
#pragma once

#include "softgpu/machine/code/program_code.hpp"

namespace softgpu::machine {

// A copy of the code's constants with the values of the launch in it, in `storage`, on a cache line.
[[nodiscard]] std::byte* constants_of_launch(const program_code& code, const launch_state& launch,
                                             std::vector<std::byte>& storage);
void fill_block_values(const program_code& code, const launch_state& launch, const block& b, std::byte* constants);
// `frame` is that of a call by lanes of warp number `index`.
void fill_warp_values(const program_code& code, const launch_state& launch, std::uint32_t index, std::byte* frame);

// `bytes` of storage that start on a cache line.
[[nodiscard]] std::byte* aligned(std::vector<std::byte>& storage, std::size_t bytes);

} // namespace softgpu::machine
