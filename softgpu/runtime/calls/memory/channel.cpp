// SPDX-License-Identifier: MIT
// The one call about textures that computes something without a texture.
#include "softgpu/runtime/abi/copy.hpp"

namespace softgpu::runtime {

#pragma GCC visibility push(default)
extern "C" {

channel_format cudaCreateChannelDesc(int x, int y, int z, int w, channel_kind kind) { return {x, y, z, w, kind}; }

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
