// SPDX-License-Identifier: MIT
// The work of a launch's operation.
#pragma once

#include <cstdint>

#include "softgpu/runtime/program/launch.hpp"

namespace softgpu::runtime {

// Runs a kernel that the host has launched, and all that is launched within it, now, on this thread. launch: its number in the
// order of launches.
void run_grid(context& gpu, const kernel_work& work, std::uint64_t launch);

} // namespace softgpu::runtime
