// SPDX-License-Identifier: MIT
// Functions that nvcc leaves to the driver: printf, failed assertions, the heap, copies, and
// the device runtime.
#pragma once

#include <string_view>

#include "softgpu/machine/code/function_entry.hpp"

namespace softgpu::machine {

// nullptr where there is none of this name.
[[nodiscard]] builtin find_builtin(std::string_view name);

} // namespace softgpu::machine
