// SPDX-License-Identifier: MIT
// Descriptors of textures and surfaces in device memory, as the machine reads them.
#pragma once

#include <vector>

#include "softgpu/machine/texture.hpp"
#include "softgpu/memory/device_memory.hpp"
#include "softgpu/runtime/core/context.hpp"
#include "softgpu/runtime/memory/arrays.hpp"

namespace softgpu::runtime {

// A descriptor of an array; the way it is read has to be filled in.
[[nodiscard]] machine::texture_descriptor descriptor_of(const array_memory& a);
void set_element(machine::texture_descriptor& t, const element_kind& e);

// Puts descriptors one after the other into device memory. Throws memory::out_of_memory.
memory::address place_descriptors(context& gpu, const std::vector<machine::texture_descriptor>& all);
// Removes them once all operations that are issued now have finished.
void remove_descriptors(context& gpu, memory::address at);

} // namespace softgpu::runtime
