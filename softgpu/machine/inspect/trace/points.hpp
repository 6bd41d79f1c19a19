// SPDX-License-Identifier: MIT
// What a launch tells its launch_trace. Code of a module that is traced has pseudo-instructions at the start of every
// basic block, around barriers and before accesses to global memory.
#pragma once

#include <span>

#include "softgpu/machine/decode/trace_points.hpp"

namespace softgpu::machine {

[[nodiscard]] trace_points make_trace_points(std::span<const observe::latency_table> tables, bool by_lanes);

} // namespace softgpu::machine
