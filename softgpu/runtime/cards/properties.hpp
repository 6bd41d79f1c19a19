// SPDX-License-Identifier: MIT
// What cudaGetDeviceProperties says of a card.
#pragma once

#include "softgpu/runtime/abi/device_properties.hpp"
#include "softgpu/runtime/cards/cards.hpp"

namespace softgpu::runtime {

[[nodiscard]] device_properties properties_of(const card& c);

} // namespace softgpu::runtime
