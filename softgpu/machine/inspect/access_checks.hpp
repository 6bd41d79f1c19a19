// SPDX-License-Identifier: MIT
// Checks of an access to memory that the handlers in handlers/checks/ cannot settle by themselves.
#pragma once

#include <cstdint>

#include "softgpu/machine/code/access_site.hpp"
#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

// `at`: offsets in shared or local memory, or addresses of global memory, by lane.
void check_access(const instruction* i, std::byte* frame, warp* w, const std::uint64_t* at, lane_mask mask,
                  access_space space);

} // namespace softgpu::machine
