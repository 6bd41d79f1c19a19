// SPDX-License-Identifier: MIT
// Reads a texture as a texture unit does, for the 32 lanes of a warp at once: dimensions and levels.
#pragma once

#include "softgpu/machine/handlers/memory/texture_filters.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// One level. `exact`: nullptr, or what is given too where reading gives floats.
inline void sample_level(const texture_descriptor& t, geometry g, const fetch_place& p, texels& r,
                         exact_texels* exact) {
    const bool linear = t.linear && gives_reals(t) && !p.integers;
    const bool cube = g == geometry::cube || g == geometry::cubes;
    const bool flat = g == geometry::line || g == geometry::lines;
    const bool layered = g == geometry::lines || g == geometry::planes || g == geometry::cubes;
    const bool normalized = t.normalized || cube;
    fetch_place at = p;
    alignas(64) std::uint32_t on_face[3][lanes];
    if (cube) {
        faces_of(p, on_face[2], on_face[0], on_face[1]);
        at.at[0] = on_face[0];
        at.at[1] = on_face[1];
    }
    static constexpr between none{};
    between along_x;
    between along_y;
    between along_z;
    const between& x = along_x;
    const between& y = flat ? none : along_y;
    const between& z = g == geometry::space || cube || layered ? along_z : none;
    const addressing mode = p.integers && g == geometry::line ? addressing::border : t.mode[0];
    along(along_x, {mode, t.width, t.element_bytes(), linear, normalized}, at.at[0], p.integers);
    if (!flat) {
        along(along_y, {t.mode[1], t.height, t.row_bytes, linear, normalized}, at.at[1], p.integers);
    }
    if (g == geometry::space) {
        along(along_z, {t.mode[2], t.depth, t.slice_bytes, linear, normalized}, at.at[2], p.integers);
    } else if (cube || layered) {
        along_z = none;
        const std::int64_t last = std::max<std::int64_t>(1, t.layers) - 1;
        for (unsigned l = 0; l < lanes; ++l) {
            const std::int64_t layer = layered ? p.layer[l] : 0;
            const std::int64_t slice = cube ? on_face[2][l] + 6 * layer : layer;
            along_z.low[l] = std::min(slice, last) * static_cast<std::int64_t>(t.slice_bytes);
        }
    }
    if (!linear) {
        loaded_elements loaded;
        const raw_elements raw = load_elements(loaded, t, x.low, y.low, z.low, t.element_bytes());
        for (unsigned k = 0; k < t.channels; ++k) {
            read_channel(t, raw, k, r.channel[k]);
            for (unsigned l = 0; exact != nullptr && gives_reals(t) && l < lanes; ++l) {
                exact->channel[k][l] = 0.0 + static_cast<double>(std::bit_cast<float>(r.channel[k][l]));
            }
        }
    } else if (g == geometry::space) {
        filter<8>(t, x, y, z, r, exact);
    } else if (flat) {
        filter<2>(t, x, y, z, r, exact);
    } else {
        filter<4>(t, x, y, z, r, exact);
    }
}

// Which levels of a mipmapped texture its lanes read.
struct fetch_levels {
    const std::uint32_t* level = zero_lanes; // floats as bits; integers where the coordinates are
    bool has_slopes = false; // then the level follows from how the coordinates change from point to point
    const std::uint32_t* slope_x[3] = {zero_lanes, zero_lanes, zero_lanes};
    const std::uint32_t* slope_y[3] = {zero_lanes, zero_lanes, zero_lanes};
};

// Where between the levels a lane reads; slopes ask for one element of the level for each step.
inline float level_of(const texture_descriptor& t, geometry g, const fetch_levels& f, unsigned lane) {
    float level = std::bit_cast<float>(f.level[lane]);
    if (f.has_slopes) {
        const float extents[3] = {static_cast<float>(t.width),
                                  g == geometry::line || g == geometry::lines ? 0 : static_cast<float>(t.height),
                                  g == geometry::space ? static_cast<float>(t.depth) : 0};
        float longest = 0;
        for (const std::uint32_t* const* const slope : {f.slope_x, f.slope_y}) {
            float square = 0;
            for (unsigned k = 0; k < 3; ++k) {
                const float elements = std::bit_cast<float>(slope[k][lane]) * extents[k];
                square += elements * elements;
            }
            longest = std::max(longest, square);
        }
        level = longest > 0 ? std::log2(longest) / 2 : -128.0F;
    }
    level += t.level_bias;
    level = level == level ? level : 0;
    level = std::max(t.least_level, std::min(t.most_level, level));
    return std::clamp(level, 0.0F, static_cast<float>(t.levels - 1));
}

// The lanes of the mask only are written. `t`: the first of its levels.
inline void sample_levels(const texture_descriptor& t, geometry g, const fetch_place& p, const fetch_levels& f,
                          lane_mask mask, texels& r) {
    const texture_descriptor* const all = &t;
    const bool mixes = t.mixes_levels && gives_reals(t);
    std::uint32_t fine[lanes] = {};
    float weight[lanes] = {}; // of the coarser level
    each_lane(mask, [&](unsigned l) {
        if (p.integers) { // as it is, without bias and limits
            fine[l] = std::min(f.level[l], t.levels);
            return;
        }
        const float level = level_of(t, g, f, l);
        fine[l] = static_cast<std::uint32_t>(mixes ? level : level + 0.5F);
        weight[l] = mixes ? std::floor((level - static_cast<float>(fine[l])) * 256) / 256 : 0;
    });
    while (mask != 0) {
        const std::uint32_t level = fine[first_lane(mask)];
        lane_mask here = 0;
        lane_mask between_levels = 0;
        each_lane(mask, [&](unsigned l) {
            here |= (fine[l] == level ? 1u : 0u) << l;
            between_levels |= (fine[l] == level && weight[l] != 0 ? 1u : 0u) << l;
        });
        if (level == t.levels) { // there is none: zeros, as on an H100
            for (unsigned k = 0; k < t.channels; ++k) {
                each_lane(here, [&](unsigned l) { r.channel[k][l] = 0; });
            }
            mask &= ~here;
            continue;
        }
        texels first;
        texels mixed;
        exact_texels exact;
        exact_texels coarse;
        sample_level(all[level], g, p, first, &exact);
        if (between_levels != 0) {
            sample_level(all[level + 1], g, p, mixed, &coarse);
        }
        for (unsigned k = 0; k < t.channels; ++k) {
            if (between_levels != 0) {
                for (unsigned l = 0; l < lanes; ++l) {
                    exact.channel[k][l] = (1 - weight[l]) * exact.channel[k][l] + weight[l] * coarse.channel[k][l];
                }
                round_channel(t, exact.channel[k], mixed.channel[k]);
            }
            each_lane(here, [&](unsigned l) {
                r.channel[k][l] = (between_levels >> l & 1) != 0 ? mixed.channel[k][l] : first.channel[k][l];
            });
        }
        mask &= ~here;
    }
}

// One channel of the four elements that filtering would take, in the order of tld4.
inline void gather_four(const texture_descriptor& t, const fetch_place& p, unsigned channel, texels& r) {
    between x;
    between y;
    along(x, {t.mode[0], t.width, t.element_bytes(), true, t.normalized}, p.at[0], false);
    along(y, {t.mode[1], t.height, t.row_bytes, true, t.normalized}, p.at[1], false);
    alignas(64) static constexpr std::int64_t first_slice[lanes] = {};
    for (unsigned k = 0; k < 4; ++k) {
        loaded_elements loaded;
        const raw_elements raw = load_elements(loaded, t, k == 1 || k == 2 ? x.high : x.low, k < 2 ? y.high : y.low,
                                               first_slice, t.element_bytes());
        read_channel(t, raw, channel, r.channel[k]);
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
