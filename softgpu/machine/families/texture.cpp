// SPDX-License-Identifier: MIT
// Textures and surfaces. None of their forms is there yet.
#include "softgpu/machine/families/families.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

handler choose_texture(const form& /*f*/) { return nullptr; }

} // namespace softgpu::machine::SOFTGPU_TARGET
