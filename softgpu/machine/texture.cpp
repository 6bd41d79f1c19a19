// SPDX-License-Identifier: MIT
#include "softgpu/machine/texture.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace softgpu::machine {

namespace {

float half_value(std::uint16_t h) {
    const float magnitude = std::bit_cast<float>(static_cast<std::uint32_t>(h & 0x7FFF) << 13) * 0x1p112F;
    const bool infinite = (h & 0x7C00) == 0x7C00;
    const std::uint32_t bits = infinite ? 0x7F800000u | static_cast<std::uint32_t>(h & 0x3FF) << 13
                                        : std::bit_cast<std::uint32_t>(magnitude);
    return std::bit_cast<float>(bits | static_cast<std::uint32_t>(h & 0x8000) << 16);
}

// A channel: the bits of a float where that is what reading gives, else an integer.
std::uint32_t channel_at(const texture_descriptor& t, const std::byte* p) {
    std::uint32_t raw = 0;
    std::memcpy(&raw, p, t.channel_bytes);
    if (t.kind == channel_kind::real) {
        return t.channel_bytes == 2 ? std::bit_cast<std::uint32_t>(half_value(static_cast<std::uint16_t>(raw))) : raw;
    }
    const unsigned bits = 8u * t.channel_bytes;
    if (t.kind == channel_kind::signed_integer) {
        const auto value = static_cast<std::int32_t>(raw << (32 - bits)) >> (32 - bits);
        const float most = static_cast<float>((1u << (bits - 1)) - 1);
        return t.reads_normalized ? std::bit_cast<std::uint32_t>(std::max(-1.0F, static_cast<float>(value) / most))
                                  : static_cast<std::uint32_t>(value);
    }
    const float most = static_cast<float>(bits == 32 ? 0xFFFFFFFFu : (1u << bits) - 1);
    return t.reads_normalized ? std::bit_cast<std::uint32_t>(static_cast<float>(raw) / most) : raw;
}

// The elements that one coordinate lies between, and how far it is towards the second. -1: beyond a border.
struct between {
    std::int64_t low = 0, high = 0;
    float weight = 0;
};

std::int64_t inside(std::int64_t i, std::int64_t n, addressing mode) {
    switch (mode) {
    case addressing::wrap: return (i % n + n) % n;
    case addressing::mirror: {
        const std::int64_t m = (i % (2 * n) + 2 * n) % (2 * n);
        return m < n ? m : 2 * n - 1 - m;
    }
    case addressing::border: return i < 0 || i >= n ? -1 : i;
    case addressing::clamp: break;
    }
    return std::clamp<std::int64_t>(i, 0, n - 1);
}

between along(const texture_descriptor& t, const texture_place& p, unsigned axis, std::uint32_t extent, bool linear,
              bool normalized, bool fetch) {
    const std::int64_t n = std::max(1u, extent);
    addressing mode = t.mode[axis];
    if (!normalized && (mode == addressing::wrap || mode == addressing::mirror)) {
        mode = addressing::clamp; // as the guide has it
    }
    if (p.integers) {
        const std::int64_t i = p.element[axis];
        const std::int64_t at = inside(i, n, fetch ? addressing::border : mode);
        return {at, at, 0};
    }
    float x = p.at[axis];
    x = x == x ? x : 0;
    if (normalized) {
        x = (mode == addressing::wrap ? x - std::floor(x) : x) * static_cast<float>(n);
    }
    x = std::clamp(x, -0x1p30F, 0x1p30F);
    if (!linear) {
        const std::int64_t at = inside(static_cast<std::int64_t>(std::floor(x)), n, mode);
        return {at, at, 0};
    }
    const float shifted = x - 0.5F;
    const float first = std::floor(shifted);
    const auto i = static_cast<std::int64_t>(first);
    // Nine bits, eight of them behind the point.
    return {inside(i, n, mode), inside(i + 1, n, mode), std::nearbyint((shifted - first) * 256) / 256};
}

texel element_at(const texture_descriptor& t, std::int64_t x, std::int64_t y, std::int64_t slice) {
    texel r;
    if (x < 0 || y < 0 || slice < 0) {
        const bool real = t.kind == channel_kind::real || t.reads_normalized;
        for (unsigned k = 0; k < 4; ++k) {
            r.channel[k] = real ? std::bit_cast<std::uint32_t>(t.border[k]) : 0;
        }
        return r;
    }
    const auto* const p = reinterpret_cast<const std::byte*>(t.data) + static_cast<std::uint64_t>(slice) * t.slice_bytes +
                          static_cast<std::uint64_t>(y) * t.row_bytes +
                          static_cast<std::uint64_t>(x) * t.element_bytes();
    for (unsigned k = 0; k < t.channels && k < 4; ++k) {
        r.channel[k] = channel_at(t, p + k * t.channel_bytes);
    }
    return r;
}

texel mixed(const texel& a, const texel& b, float weight) {
    texel r;
    for (unsigned k = 0; k < 4; ++k) {
        const float x = std::bit_cast<float>(a.channel[k]);
        const float y = std::bit_cast<float>(b.channel[k]);
        r.channel[k] = std::bit_cast<std::uint32_t>(weight == 0 ? x : (1 - weight) * x + weight * y);
    }
    return r;
}

// From a direction to a face, and where on it.
std::uint32_t face_of(const float* direction, float* u, float* v) {
    const float x = direction[0];
    const float y = direction[1];
    const float z = direction[2];
    const float ax = std::abs(x);
    const float ay = std::abs(y);
    const float az = std::abs(z);
    std::uint32_t face = 0;
    float s = 0;
    float t = 0;
    float m = 1;
    if (ax >= ay && ax >= az) {
        face = x >= 0 ? 0 : 1;
        s = x >= 0 ? -z : z;
        t = -y;
        m = ax;
    } else if (ay >= az) {
        face = y >= 0 ? 2 : 3;
        s = x;
        t = y >= 0 ? z : -z;
        m = ay;
    } else {
        face = z >= 0 ? 4 : 5;
        s = z >= 0 ? x : -x;
        t = -y;
        m = az;
    }
    *u = (s / m + 1) / 2;
    *v = (t / m + 1) / 2;
    return face;
}

} // namespace

std::uint64_t texture_descriptor::bytes() const noexcept {
    const std::uint64_t slices = std::max(1u, depth != 0 ? depth : layers);
    const std::uint64_t rows = std::max(1u, height);
    return (slices - 1) * slice_bytes + (rows - 1) * row_bytes + std::uint64_t{width} * element_bytes();
}

texel sample(const texture_descriptor& t, geometry g, const texture_place& p) {
    const bool real = t.kind == channel_kind::real || t.reads_normalized;
    const bool linear = t.linear && real && !p.integers;
    texture_place at = p;
    bool normalized = t.normalized;
    std::int64_t layer = 0;
    const std::int64_t last = std::max<std::int64_t>(1, t.layers) - 1;
    if (g == geometry::cube || g == geometry::cubes) {
        const std::uint32_t face = face_of(p.at, &at.at[0], &at.at[1]);
        normalized = true;
        layer = std::min<std::int64_t>(face + (g == geometry::cubes ? 6 * std::int64_t{p.layer} : 0), last);
    } else if (g == geometry::lines || g == geometry::planes) {
        layer = std::min<std::int64_t>(p.layer, last);
    }
    const bool fetch = p.integers && g == geometry::line;
    const between x = along(t, at, 0, t.width, linear, normalized, fetch);
    const bool flat = g == geometry::line || g == geometry::lines;
    const between y = flat ? between{} : along(t, at, 1, t.height, linear, normalized, false);
    const between z = g == geometry::space ? along(t, at, 2, t.depth, linear, normalized, false) : between{layer, layer, 0};
    if (!linear) {
        return element_at(t, x.low, y.low, z.low);
    }
    const auto row = [&](std::int64_t j, std::int64_t k) {
        return mixed(element_at(t, x.low, j, k), element_at(t, x.high, j, k), x.weight);
    };
    const auto plane = [&](std::int64_t k) {
        return flat ? row(0, k) : mixed(row(y.low, k), row(y.high, k), y.weight);
    };
    return g == geometry::space ? mixed(plane(z.low), plane(z.high), z.weight) : plane(z.low);
}

texel gather(const texture_descriptor& t, const texture_place& p, unsigned channel) {
    const between x = along(t, p, 0, t.width, true, t.normalized, false);
    const between y = along(t, p, 1, t.height, true, t.normalized, false);
    texel r;
    r.channel[0] = element_at(t, x.low, y.high, 0).channel[channel & 3];
    r.channel[1] = element_at(t, x.high, y.high, 0).channel[channel & 3];
    r.channel[2] = element_at(t, x.high, y.low, 0).channel[channel & 3];
    r.channel[3] = element_at(t, x.low, y.low, 0).channel[channel & 3];
    return r;
}

std::byte* surface_bytes(const texture_descriptor& t, geometry g, std::int32_t x, std::int32_t y, std::int32_t z,
                         std::uint32_t layer, unsigned bytes, bool clamped) {
    const std::int64_t row = std::int64_t{t.width} * t.element_bytes();
    const bool flat = g == geometry::line || g == geometry::lines;
    const std::int64_t rows = flat ? 1 : std::max(1u, t.height);
    const std::int64_t slices = g == geometry::space                             ? std::max(1u, t.depth)
                                : g == geometry::lines || g == geometry::planes ? std::max(1u, t.layers)
                                                                                 : 1;
    std::int64_t at = x;
    std::int64_t j = flat ? 0 : y;
    std::int64_t k = g == geometry::space ? z : slices > 1 ? std::int64_t{layer} : 0;
    if (clamped) {
        at = std::clamp<std::int64_t>(at, 0, std::max<std::int64_t>(0, row - bytes));
        j = std::clamp<std::int64_t>(j, 0, rows - 1);
        k = std::clamp<std::int64_t>(k, 0, slices - 1);
    }
    if (at < 0 || at + bytes > row || j < 0 || j >= rows || k < 0 || k >= slices) {
        return nullptr;
    }
    return reinterpret_cast<std::byte*>(t.data) + static_cast<std::uint64_t>(k) * t.slice_bytes +
           static_cast<std::uint64_t>(j) * t.row_bytes + static_cast<std::uint64_t>(at);
}

} // namespace softgpu::machine
