// SPDX-License-Identifier: MIT
// printf of a kernel. Source: CUDA C++ Programming Guide, "Formatted Output".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "softgpu/machine/calls/lane_memory.hpp"

namespace softgpu::machine {

// Formats the arguments at `arguments`, each aligned to its size, and appends the text to `out`. Returns the number of
// arguments; -1 where there is no format; nothing: a fault was raised.
[[nodiscard]] std::optional<int> print_of_lane(lane_memory& memory, std::uint64_t format, std::uint64_t arguments,
                                               std::string& out);

} // namespace softgpu::machine
