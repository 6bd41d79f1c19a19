// SPDX-License-Identifier: MIT
// The trace's pseudo-instruction before a texture fetch.
#pragma once

#include "softgpu/machine/code/instruction.hpp"

namespace softgpu::machine {

// A fetch loads through L1. Of the elements that are filtered the nearest one stands for all, of all levels the finest.
const instruction* before_texture(const instruction* i, std::byte* frame, warp* w);

} // namespace softgpu::machine
