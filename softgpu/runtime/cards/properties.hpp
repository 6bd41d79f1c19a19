// SPDX-License-Identifier: MIT
// The values of cudaGetDeviceProperties for a card, and those of attributes for a device with this number.
#pragma once

#include "softgpu/runtime/abi/device_properties.hpp"
#include "softgpu/runtime/cards/cards.hpp"

namespace softgpu::runtime {

[[nodiscard]] device_properties properties_of(const card& c, int device = 0);
[[nodiscard]] device_properties_12 properties_12_of(const card& c, int device = 0);
// The number is that of the device's PCI bus, too. Returns false for an unknown attribute.
[[nodiscard]] bool device_attribute(const card& c, int device, int attribute, int& value) noexcept;

} // namespace softgpu::runtime
