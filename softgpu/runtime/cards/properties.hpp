// SPDX-License-Identifier: MIT
// The values of cudaGetDeviceProperties for a card.
#pragma once

#include "softgpu/runtime/abi/device_properties.hpp"
#include "softgpu/runtime/cards/cards.hpp"

namespace softgpu::runtime {

[[nodiscard]] device_properties properties_of(const card& c);
[[nodiscard]] device_properties_12 properties_12_of(const card& c);

} // namespace softgpu::runtime
