// SPDX-License-Identifier: MIT
// From a warp's texture coordinates to the elements that they lie between (CUDA C++ Programming Guide, "Texture
// Fetching"). Loops over all lanes become vector code; results of inactive lanes are unused, but inside the texture.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "softgpu/machine/handlers/lanes.hpp"
#include "softgpu/machine/texture.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

alignas(64) inline constexpr std::uint32_t zero_lanes[lanes] = {};

// Where a warp fetches: floats as bits, or integers.
struct fetch_place {
    const std::uint32_t* at[3] = {zero_lanes, zero_lanes, zero_lanes};
    const std::uint32_t* layer = zero_lanes;
    bool integers = false;
};

// The elements that one coordinate lies between, as bytes from the first, and how far it is towards the second in steps of
// 1/256. Sums of offsets along the axes are negative where one of them is beyond a border.
struct between {
    alignas(64) std::int64_t low[lanes];
    alignas(64) std::int64_t high[lanes];
    alignas(64) std::int32_t weight[lanes];
};
inline constexpr std::int64_t beyond = -(std::int64_t{1} << 61);

struct axis {
    addressing mode = addressing::clamp;
    std::uint32_t extent = 0; // elements; 0 counts as 1
    std::uint64_t step = 0;   // bytes from element to element
    bool linear = false;      // not with integer coordinates
    bool normalized = false;
};

// Of magnitudes up to 2^30.
SOFTGPU_INLINE std::int32_t floor_of(float x) {
    const auto whole = static_cast<std::int32_t>(x);
    return whole - (static_cast<float>(whole) > x ? 1 : 0);
}

// Elements by number, from what floor_of() gives.
inline void element_numbers(const axis& a, addressing mode, const std::int32_t* number, std::int32_t* low,
                            std::int32_t* high) {
    const std::int32_t n = static_cast<std::int32_t>(std::clamp(a.extent, 1u, 0x7FFFFFFFu));
    const std::int32_t next = a.linear ? 1 : 0;
    switch (mode) {
    case addressing::clamp: {
        const auto inside = [n](std::int32_t i) { return i < 0 ? 0 : i < n ? i : n - 1; };
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            low[l] = inside(number[l]);
            high[l] = inside(number[l] + next);
        }
        return;
    }
    case addressing::border: {
        const auto inside = [n](std::int32_t i) { return i < 0 || i >= n ? -1 : i; };
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            low[l] = inside(number[l]);
            high[l] = inside(number[l] + next);
        }
        return;
    }
    case addressing::wrap:
    case addressing::mirror: {
        // Exact in double precision: the numbers have 32 bits.
        const double period = static_cast<double>(n) * (mode == addressing::mirror ? 2 : 1);
        const auto inside = [n, period](double m) {
            return static_cast<std::int32_t>(m < static_cast<double>(n) ? m : period - 1 - m);
        };
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            const double i = number[l];
            const double m = i - std::floor(i / period) * period;
            const double after = m + static_cast<double>(next);
            low[l] = inside(m);
            high[l] = inside(after < period ? after : 0);
        }
        return;
    }
    }
}

// Coordinates as they are counted in elements. What is normalized is first brought into its period, so that large coordinates
// keep their fraction.
inline void scaled_coordinates(const axis& a, const std::uint32_t* at, float* x) {
    const auto n = static_cast<float>(std::max(1u, a.extent));
    const float scale = a.normalized ? n : 1;
    SOFTGPU_LANES
    for (unsigned l = 0; l < lanes; ++l) {
        const float v = std::bit_cast<float>(at[l]);
        x[l] = v == v ? v : 0;
    }
    if (a.normalized && (a.mode == addressing::wrap || a.mode == addressing::mirror)) {
        const float period = a.mode == addressing::mirror ? 2 : 1;
        const float last = period * (1 - 0x1p-24F);
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            const float small = std::abs(x[l]) < 0x1p30F ? x[l] : 0; // the rest has no fraction
            const float rest = small - period * static_cast<float>(floor_of(small / period));
            x[l] = rest < period ? rest : last; // of what is just below 0
        }
    }
    SOFTGPU_LANES
    for (unsigned l = 0; l < lanes; ++l) {
        const float v = x[l] * scale;
        x[l] = v < -0x1p30F ? -0x1p30F : v > 0x1p30F ? 0x1p30F : v;
    }
}

inline void along(between& r, const axis& a, const std::uint32_t* at, bool integers) {
    alignas(64) std::int32_t number[lanes];
    const bool periodic = a.mode == addressing::wrap || a.mode == addressing::mirror;
    // The guide has it so for what is not normalized; an H100 does the same with integers.
    const addressing mode = periodic && (!a.normalized || integers) ? addressing::clamp : a.mode;
    if (integers) {
        std::memcpy(number, at, sizeof(number));
        std::memset(r.weight, 0, sizeof(r.weight));
    } else {
        alignas(64) float x[lanes];
        scaled_coordinates(a, at, x);
        const bool linear = a.linear;
        const float back = linear ? 0.5F : 0;
        constexpr float shift = 0x1.8p23F; // rounds to integers, half way to the even one
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            const float shifted = x[l] - back;
            const std::int32_t i = floor_of(shifted);
            number[l] = i;
            const auto weight = static_cast<std::int32_t>((shifted - static_cast<float>(i)) * 256 + shift - shift);
            r.weight[l] = linear ? weight : 0;
        }
    }
    alignas(64) std::int32_t low[lanes];
    alignas(64) std::int32_t high[lanes];
    element_numbers(a, mode, number, low, high);
    const auto step = static_cast<std::int64_t>(a.step);
    SOFTGPU_LANES
    for (unsigned l = 0; l < lanes; ++l) {
        r.low[l] = low[l] < 0 ? beyond : low[l] * step;
        r.high[l] = high[l] < 0 ? beyond : high[l] * step;
    }
}

// From a direction to a face, and where on it, from 0 to 1. Where two components are as long, z goes before y before x, as
// on an H200.
inline void faces_of(const fetch_place& p, std::uint32_t* face, std::uint32_t* u, std::uint32_t* v) {
    for (unsigned l = 0; l < lanes; ++l) {
        const float x = std::bit_cast<float>(p.at[0][l]);
        const float y = std::bit_cast<float>(p.at[1][l]);
        const float z = std::bit_cast<float>(p.at[2][l]);
        const float ax = std::abs(x);
        const float ay = std::abs(y);
        const float az = std::abs(z);
        const bool is_z = az >= ax && az >= ay;
        const bool is_y = !is_z && ay >= ax;
        const float m = is_z ? az : is_y ? ay : ax;
        const float s = is_z ? (z >= 0 ? x : -x) : is_y ? x : x >= 0 ? -z : z;
        const float t = is_y ? (y >= 0 ? z : -z) : -y;
        face[l] = is_z ? (z >= 0 ? 4u : 5u) : is_y ? (y >= 0 ? 2u : 3u) : x >= 0 ? 0u : 1u;
        u[l] = std::bit_cast<std::uint32_t>(m > 0 ? (s / m + 1) / 2 : 0.5F);
        v[l] = std::bit_cast<std::uint32_t>(m > 0 ? (t / m + 1) / 2 : 0.5F);
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
