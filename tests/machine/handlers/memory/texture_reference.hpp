// SPDX-License-Identifier: MIT
// Reading a texture, one thread at a time: what fetches of a warp have to give, bit by bit.
#pragma once

#include "softgpu/machine/texture.hpp"

namespace softgpu::test {

using machine::geometry;
using machine::texture_descriptor;

struct texture_place {
    float at[3] = {0, 0, 0};
    std::int32_t element[3] = {0, 0, 0}; // where coordinates are integers
    bool integers = false;
    std::uint32_t layer = 0;
    float level = 0;         // of a mipmapped texture
    bool has_slopes = false; // then the level follows from how the coordinates change from point to point
    float slope_x[3] = {0, 0, 0};
    float slope_y[3] = {0, 0, 0};
};

// Four channels as bits: of floats, or of integers as they are.
struct texel {
    std::uint32_t channel[4] = {0, 0, 0, 0};
};

[[nodiscard]] texel sample(const texture_descriptor& t, geometry g, const texture_place& p);
// One channel of the four elements that filtering would take, in the order of tld4.
[[nodiscard]] texel gather(const texture_descriptor& t, const texture_place& p, unsigned channel);

} // namespace softgpu::test
