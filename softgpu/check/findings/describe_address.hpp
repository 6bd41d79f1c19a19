// SPDX-License-Identifier: MIT
// Describes an address of device memory for a finding.
#pragma once

#include <cstdint>
#include <string>

#include "softgpu/memory/device_memory.hpp"

namespace softgpu::check {

// "384 bytes at 0x... (allocation 3)", or the variable's name; the nearest allocation where there is none.
[[nodiscard]] std::string describe_address(const memory::device_memory& device, std::uint64_t at);

} // namespace softgpu::check
