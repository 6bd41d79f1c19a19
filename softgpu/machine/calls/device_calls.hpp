// SPDX-License-Identifier: MIT
// Calls of the device runtime: functions that nvcc links from libcudadevrt.
#pragma once

#include <string_view>

#include "softgpu/machine/code/function_entry.hpp"

namespace softgpu::machine {

[[nodiscard]] bool is_of_device_runtime(std::string_view function) noexcept;
bool call_device_runtime(const instruction* i, warp* w, const call_site& site);

} // namespace softgpu::machine
