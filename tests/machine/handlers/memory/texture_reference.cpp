// SPDX-License-Identifier: MIT
#include "tests/machine/handlers/memory/texture_reference.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace softgpu::test {

namespace {

using machine::addressing;
using machine::channel_kind;
using machine::linear_light;

float half_value(std::uint16_t h) {
    const float magnitude = std::bit_cast<float>(static_cast<std::uint32_t>(h & 0x7FFF) << 13) * 0x1p112F;
    const bool infinite = (h & 0x7C00) == 0x7C00;
    const std::uint32_t bits =
        infinite ? 0x7F800000u | static_cast<std::uint32_t>(h & 0x3FF) << 13 : std::bit_cast<std::uint32_t>(magnitude);
    return std::bit_cast<float>(bits | static_cast<std::uint32_t>(h & 0x8000) << 16);
}

// To the nearest half, as a float; magnitudes that are too large become infinite.
float rounded_to_half(float x) {
    const float magnitude = std::abs(x);
    if (!(magnitude < 65520.0F)) {
        return magnitude < INFINITY ? std::copysign(INFINITY, x) : x;
    }
    const float step = magnitude < 0x1p-14F ? 0x1p-24F : std::ldexp(1.0F, std::ilogb(magnitude) - 10);
    return std::nearbyint(x / step) * step;
}

float most_of(const texture_descriptor& t) {
    const unsigned bits = 8u * t.channel_bytes - (t.kind == channel_kind::signed_integer ? 1 : 0);
    return static_cast<float>(bits == 32 ? 0xFFFFFFFFu : (1u << bits) - 1);
}

// A channel: the bits of a float where that is what reading gives, else an integer.
std::uint32_t channel_at(const texture_descriptor& t, const std::byte* p, unsigned channel) {
    std::uint32_t raw = 0;
    switch (t.channel_bytes) { // each its own move
    case 1: std::memcpy(&raw, p, 1); break;
    case 2: std::memcpy(&raw, p, 2); break;
    default: std::memcpy(&raw, p, 4); break;
    }
    if (t.kind == channel_kind::real) {
        return t.channel_bytes == 2 ? std::bit_cast<std::uint32_t>(half_value(static_cast<std::uint16_t>(raw))) : raw;
    }
    if (t.kind == channel_kind::signed_integer) {
        const unsigned bits = 8u * t.channel_bytes;
        const auto value = static_cast<std::int32_t>(raw << (32 - bits)) >> (32 - bits);
        return t.reads_normalized
                   ? std::bit_cast<std::uint32_t>(std::max(-1.0F, static_cast<float>(value) / most_of(t)))
                   : static_cast<std::uint32_t>(value);
    }
    if (!t.reads_normalized) {
        return raw;
    }
    return std::bit_cast<std::uint32_t>(t.srgb && channel < 3 ? linear_light(raw)
                                                              : static_cast<float>(raw) / most_of(t));
}

// What lies beyond the border: its colour in the elements' format.
std::uint32_t border_channel(const texture_descriptor& t, unsigned channel) {
    const float colour = t.border[channel];
    if (t.kind == channel_kind::real) {
        return std::bit_cast<std::uint32_t>(t.channel_bytes == 2 ? rounded_to_half(colour) : colour);
    }
    const bool is_signed = t.kind == channel_kind::signed_integer;
    if (t.reads_normalized) {
        const float inside = colour == colour ? std::clamp(colour, is_signed ? -1.0F : 0.0F, 1.0F) : 0;
        return std::bit_cast<std::uint32_t>(std::trunc(inside * most_of(t)) / most_of(t));
    }
    const unsigned unused = 32 - 8u * t.channel_bytes;
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(colour) << unused;
    return is_signed ? static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> unused) : bits >> unused;
}

// Of what fits into 64 bits; the standard functions are calls where no vector code is compiled for.
std::int64_t floor_of(float x) {
    const auto whole = static_cast<std::int64_t>(x);
    return whole - (static_cast<float>(whole) > x ? 1 : 0);
}

// The nearest integer, half way the even one, of 0 to 256.
int nearest(float x) {
    constexpr float shift = 0x1.8p23F;
    return static_cast<int>(x + shift - shift);
}

// The elements that one coordinate lies between, and how far it is towards the second. -1: beyond a border.
struct between {
    std::int64_t low = 0, high = 0;
    int weight = 0; // in steps of 1/256
};

std::int64_t inside(std::int64_t i, std::int64_t n, addressing mode) {
    if (static_cast<std::uint64_t>(i) < static_cast<std::uint64_t>(n)) {
        return i;
    }
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
    const bool periodic = mode == addressing::wrap || mode == addressing::mirror;
    if (periodic && (!normalized || p.integers)) {
        mode = addressing::clamp; // as the guide has it for what is not normalized, and an H100 for integers
    }
    if (p.integers) {
        const std::int64_t i = p.element[axis];
        const std::int64_t at = inside(i, n, fetch ? addressing::border : mode);
        return {at, at, 0};
    }
    float x = p.at[axis];
    x = x == x ? x : 0;
    if (normalized) {
        if (periodic) {
            const float period = mode == addressing::mirror ? 2 : 1;
            x = std::abs(x) < 0x1p60F ? x : 0;
            x -= period * static_cast<float>(floor_of(x / period));
            x = std::min(x, std::nextafter(period, 0.0F)); // just below 0 it has become the period
        }
        x *= static_cast<float>(n);
    }
    x = std::clamp(x, -0x1p30F, 0x1p30F);
    if (!linear) {
        const std::int64_t at = inside(floor_of(x), n, mode);
        return {at, at, 0};
    }
    const float shifted = x - 0.5F;
    const std::int64_t i = floor_of(shifted);
    // Nine bits, eight of them behind the point.
    return {inside(i, n, mode), inside(i + 1, n, mode), nearest((shifted - static_cast<float>(i)) * 256)};
}

texel element_at(const texture_descriptor& t, std::int64_t x, std::int64_t y, std::int64_t slice) {
    texel r;
    if (x < 0 || y < 0 || slice < 0 || t.width == 0) {
        for (unsigned k = 0; k < t.channels && k < 4; ++k) {
            r.channel[k] = border_channel(t, k);
        }
        return r;
    }
    const auto* const p =
        reinterpret_cast<const std::byte*>(t.data) + static_cast<std::uint64_t>(slice) * t.slice_bytes +
        static_cast<std::uint64_t>(y) * t.row_bytes + static_cast<std::uint64_t>(x) * t.element_bytes();
    for (unsigned k = 0; k < t.channels && k < 4; ++k) {
        r.channel[k] = channel_at(t, p + k * t.channel_bytes, k);
    }
    return r;
}

// Sums of elements, weighted.
struct sum {
    double channel[4] = {0, 0, 0, 0};
};

void add(sum& to, const texel& v, double weight, unsigned channels) {
    for (unsigned k = 0; k < channels; ++k) {
        to.channel[k] += weight * std::bit_cast<float>(v.channel[k]);
    }
}

// Of weights in steps of 1/256, in the same steps: a texture unit has no more, also for what lies between two or three
// axes. Seen on an H200; the guide has the exact product.
int product(int a, int b) { return (a * b + 128) / 256; }

// Bit k of a corner: the farther element along axis k.
struct corner_weights {
    int of[8];
};

corner_weights weights_of(int x, int y, int z) {
    const int xy = product(x, y);
    const int xz = product(x, z);
    const int yz = product(y, z);
    const int xyz = product(xy, z);
    return {{256 - x - y - z + xy + xz + yz - xyz, x - xy - xz + xyz, y - xy - yz + xyz, xy - xyz, z - xz - yz + xyz,
             xz - xyz, yz - xyz, xyz}};
}

// As precise as texture units filter: to floats, to halves, or to 16 bits for integers that are read as -1 to 1.
texel rounded(const texture_descriptor& t, const sum& s) {
    texel r;
    for (unsigned k = 0; k < t.channels; ++k) {
        float v = static_cast<float>(s.channel[k]);
        if (t.kind == channel_kind::real) {
            v = t.channel_bytes == 2 ? rounded_to_half(v) : v;
        } else if (!t.srgb) {
            const double most = t.kind == channel_kind::signed_integer ? 32767 : 65535;
            const double exact = std::nearbyint(s.channel[k] * most * 256) / 256; // as sums of integers are
            v = static_cast<float>(std::floor(exact + 0.5) / most);
        }
        r.channel[k] = std::bit_cast<std::uint32_t>(v);
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
    // As on an H200: where two are as long, z goes before y before x.
    if (az >= ax && az >= ay) {
        face = z >= 0 ? 4 : 5;
        s = z >= 0 ? x : -x;
        t = -y;
        m = az;
    } else if (ay >= ax) {
        face = y >= 0 ? 2 : 3;
        s = x;
        t = y >= 0 ? z : -z;
        m = ay;
    } else {
        face = x >= 0 ? 0 : 1;
        s = x >= 0 ? -z : z;
        t = -y;
        m = ax;
    }
    *u = m > 0 ? (s / m + 1) / 2 : 0.5F;
    *v = m > 0 ? (t / m + 1) / 2 : 0.5F;
    return face;
}

bool gives_reals(const texture_descriptor& t) { return t.kind == channel_kind::real || t.reads_normalized; }

// One level. `exact`: as it is before rounding, where reading gives floats.
texel sample_level(const texture_descriptor& t, geometry g, const texture_place& p, sum* exact) {
    const bool linear = t.linear && gives_reals(t) && !p.integers;
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
    const between z =
        g == geometry::space ? along(t, at, 2, t.depth, linear, normalized, false) : between{layer, layer, 0};
    if (!linear) {
        const texel r = element_at(t, x.low, y.low, z.low);
        if (gives_reals(t)) {
            *exact = {};
            add(*exact, r, 1, t.channels);
        }
        return r;
    }
    *exact = {};
    const corner_weights w = weights_of(x.weight, y.weight, z.weight);
    const unsigned corners = g == geometry::space ? 8 : flat ? 2 : 4;
    for (unsigned corner = 0; corner < corners; ++corner) {
        if (w.of[corner] != 0) {
            add(*exact,
                element_at(t, (corner & 1) != 0 ? x.high : x.low, (corner & 2) != 0 ? y.high : y.low,
                           (corner & 4) != 0 ? z.high : z.low),
                w.of[corner] / 256.0, t.channels);
        }
    }
    return rounded(t, *exact);
}

// Where between the levels slopes lead to: one element of the level for each step.
float level_of(const texture_descriptor& t, geometry g, const texture_place& p) {
    const float extents[3] = {static_cast<float>(t.width),
                              g == geometry::line || g == geometry::lines ? 0 : static_cast<float>(t.height),
                              g == geometry::space ? static_cast<float>(t.depth) : 0};
    float longest = 0;
    for (const float* const slope : {p.slope_x, p.slope_y}) {
        float square = 0;
        for (unsigned k = 0; k < 3; ++k) {
            square += slope[k] * extents[k] * (slope[k] * extents[k]);
        }
        longest = std::max(longest, square);
    }
    return longest > 0 ? std::log2(longest) / 2 : -128.0F;
}

} // namespace

texel sample(const texture_descriptor& t, geometry g, const texture_place& p) {
    sum exact;
    if (t.levels <= 1) {
        return sample_level(t, g, p, &exact);
    }
    float level = (p.has_slopes ? level_of(t, g, p) : p.level) + t.level_bias;
    level = level == level ? level : 0;
    level = std::max(t.least_level, std::min(t.most_level, level));
    level = std::clamp(level, 0.0F, static_cast<float>(t.levels - 1));
    const texture_descriptor* const all = &t;
    if (!t.mixes_levels || !gives_reals(t)) {
        return sample_level(all[static_cast<std::uint32_t>(std::floor(level + 0.5F))], g, p, &exact);
    }
    const auto fine = static_cast<std::uint32_t>(level);
    const float weight = std::floor((level - static_cast<float>(fine)) * 256) / 256;
    const texel first = sample_level(all[fine], g, p, &exact);
    if (weight == 0) {
        return first;
    }
    sum coarse;
    static_cast<void>(sample_level(all[fine + 1], g, p, &coarse));
    for (unsigned k = 0; k < 4; ++k) {
        exact.channel[k] = (1 - weight) * exact.channel[k] + weight * coarse.channel[k];
    }
    return rounded(t, exact);
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

} // namespace softgpu::test
