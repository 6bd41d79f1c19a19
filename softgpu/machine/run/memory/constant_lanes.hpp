// SPDX-License-Identifier: MIT
// Which addresses are of constants, for isspacep.
#pragma once

#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

// The lanes of the mask whose generic address is of a __constant__ variable. The kernel's parameters are none.
[[nodiscard]] lane_mask constant_lanes(const launch_state& l, const std::uint64_t* addresses, lane_mask mask);

} // namespace softgpu::machine
