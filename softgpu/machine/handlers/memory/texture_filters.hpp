// SPDX-License-Identifier: MIT
// Filters elements of a texture as a texture unit does, for the 32 lanes of a warp at once.
#pragma once

#include "softgpu/machine/handlers/memory/texture_elements.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// Four channels of each lane as bits: of floats, or of integers as they are.
struct texels {
    alignas(64) std::uint32_t channel[4][lanes];
};
// The same as they are before rounding.
struct exact_texels {
    alignas(64) double channel[4][lanes];
};

// Of weights in steps of 1/256, in the same steps: a texture unit has no more, also for what lies between two or three
// axes. Seen on an H200; the guide has the exact product.
SOFTGPU_INLINE std::int32_t product(std::int32_t a, std::int32_t b) { return (a * b + 128) / 256; }

// Bit k of a corner: the farther element along axis k. From 0 to 1.
struct corner_weights {
    alignas(64) double of[8][lanes];
};

template <unsigned Corners>
inline void weigh(corner_weights& w, const std::int32_t* along_x, const std::int32_t* along_y,
                  const std::int32_t* along_z) {
    SOFTGPU_LANES
    for (unsigned l = 0; l < lanes; ++l) {
        const std::int32_t x = along_x[l];
        const std::int32_t y = Corners > 2 ? along_y[l] : 0;
        const std::int32_t z = Corners > 4 ? along_z[l] : 0;
        const std::int32_t xy = product(x, y);
        const std::int32_t xz = product(x, z);
        const std::int32_t yz = product(y, z);
        const std::int32_t xyz = product(xy, z);
        const std::int32_t all[] = {256 - x - y - z + xy + xz + yz - xyz,
                                    x - xy - xz + xyz,
                                    y - xy - yz + xyz,
                                    xy - xyz,
                                    z - xz - yz + xyz,
                                    xz - xyz,
                                    yz - xyz,
                                    xyz};
        for (unsigned c = 0; c < Corners; ++c) {
            w.of[c][l] = all[c] * (1.0 / 256);
        }
    }
}

// A double's magnitude as an integer, and what carries to its highest bit where it is an infinity or a NaN.
constexpr std::uint64_t magnitude_bits = 0x7FFFFFFFFFFFFFFF;
constexpr std::uint64_t carry_bit = std::uint64_t{1} << 52;

inline bool are_finite(const double* sum) {
    std::uint64_t any = 0;
    SOFTGPU_LANES
    for (unsigned l = 0; l < lanes; ++l) {
        any |= (std::bit_cast<std::uint64_t>(sum[l]) & magnitude_bits) + carry_bit;
    }
    return any <= magnitude_bits;
}

// The values of each corner: one float of each lane, `Step` words apart.
template <unsigned Corners>
using corner_values = const std::uint32_t* const (&)[Corners];

template <unsigned Step, bool Weighted, unsigned Corners>
SOFTGPU_INLINE void add_corners(const corner_weights& w, corner_values<Corners> value, double* sum) {
    SOFTGPU_LANES
    for (unsigned l = 0; l < lanes; ++l) {
        double s = 0;
        for (unsigned c = 0; c < Corners; ++c) {
            const std::uint32_t bits = Weighted && w.of[c][l] == 0 ? 0 : value[c][l * Step];
            s += w.of[c][l] * static_cast<double>(std::bit_cast<float>(bits));
        }
        sum[l] = s;
    }
}

// Elements without a weight do not count, also where they are no numbers.
template <unsigned Step, unsigned Corners>
inline void add_corners(const corner_weights& w, corner_values<Corners> value, double* sum) {
    add_corners<Step, false, Corners>(w, value, sum);
    if (!are_finite(sum)) {
        add_corners<Step, true, Corners>(w, value, sum);
    }
}

// As precise as texture units filter: to floats, to halves, or to 16 bits for integers that are read as -1 to 1.
inline void round_channel(const texture_descriptor& t, const double* exact, std::uint32_t* d) {
    if (t.kind == channel_kind::real && t.channel_bytes == 2) {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            d[l] = std::bit_cast<std::uint32_t>(rounded_to_half(static_cast<float>(exact[l])));
        }
    } else if (t.kind == channel_kind::real || t.srgb) {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            d[l] = std::bit_cast<std::uint32_t>(static_cast<float>(exact[l]));
        }
    } else {
        const double most = t.kind == channel_kind::signed_integer ? 32767 : 65535;
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            const double near = std::nearbyint(exact[l] * most * 256) / 256; // as sums of integers are
            d[l] = std::bit_cast<std::uint32_t>(static_cast<float>(std::floor(near + 0.5) / most));
        }
    }
}

// Whether each lane's two elements along x lie side by side, as they do but for borders.
inline bool are_side_by_side(const between& x, std::int64_t bytes) {
    std::int64_t differ = 0;
    SOFTGPU_LANES
    for (unsigned l = 0; l < lanes; ++l) {
        differ |= (x.high[l] - x.low[l]) ^ bytes;
    }
    return differ == 0;
}

// Bit k of a corner's number: the farther element along axis k.
SOFTGPU_INLINE const std::int64_t* side(const between& along, unsigned corner, unsigned axis) {
    return (corner >> axis & 1) != 0 ? along.high : along.low;
}

// All are loaded before the first is used: a vector load of what was just stored in parts has to wait.
template <unsigned Corners>
void load_corners(raw_elements* raw, loaded_elements* to, const texture_descriptor& t, const between& x,
                  const between& y, const between& z) {
    const unsigned bytes = t.element_bytes();
    const bool in_pairs = bytes <= 8 && are_side_by_side(x, bytes);
    for (unsigned corner = 0; corner < Corners; ++corner) {
        if (in_pairs && corner % 2 != 0) {
            raw[corner] = raw[corner - 1];
            raw[corner].first = bytes;
        } else {
            raw[corner] = load_elements(to[corner], t, side(x, corner, 0), side(y, corner, 1), side(z, corner, 2),
                                        in_pairs ? 2 * bytes : bytes);
        }
    }
}

using four_doubles [[gnu::vector_size(32)]] = double;
using four_floats [[gnu::vector_size(16)]] = float;

SOFTGPU_INLINE void add_weighted(four_doubles& sum, const double* weights, const four_floats& values) {
    four_doubles weight;
    std::memcpy(&weight, weights, sizeof(weight));
#ifdef __AVX2__
    sum += weight * (four_doubles)_mm256_cvtps_pd((__m128)values); // g++ 12 makes two conversions of the other one
#else
    sum += weight * __builtin_convertvector(values, four_doubles);
#endif
}

// Elements of four floats, finite and inside the texture: all channels of a lane at once. false: they are not.
template <unsigned Corners>
bool filter_fours(const texture_descriptor& t, const corner_weights& w, const between& x, const between& y,
                  const between& z, texels& r) {
    using four_words [[gnu::vector_size(32)]] = std::uint64_t;
    using any_float [[gnu::aligned(1), gnu::may_alias]] = float;
    alignas(64) std::int64_t offset[Corners][lanes];
    for (unsigned corner = 0; corner < Corners; ++corner) {
        if (!add_offsets(offset[corner], side(x, corner, 0), side(y, corner, 1), side(z, corner, 2))) {
            return false;
        }
    }
    alignas(64) float sums[4 * lanes];
    four_words any{};
    for (unsigned l = 0; l < lanes; ++l) {
        four_doubles sum{};
        for (unsigned c = 0; c < Corners; ++c) {
            const auto* const v = reinterpret_cast<const any_float*>(t.data + static_cast<std::uint64_t>(offset[c][l]));
            sum += w.of[c][l] * four_doubles{v[0], v[1], v[2], v[3]};
        }
        any |= (reinterpret_cast<four_words>(sum) & magnitude_bits) + carry_bit;
        for (unsigned k = 0; k < 4; ++k) {
            sums[4 * l + k] = static_cast<float>(sum[k]);
        }
    }
    if ((any[0] | any[1] | any[2] | any[3]) > magnitude_bits) {
        return false;
    }
    for (unsigned k = 0; k < 4; ++k) {
        take_channel(r.channel[k], {reinterpret_cast<const std::byte*>(sums), 16}, 4 * k, 4);
    }
    return true;
}

// Elements of one float, finite and inside the texture, whose neighbours along x lie side by side: both come with one load.
// false: they are not.
template <unsigned Corners>
bool filter_pairs(const texture_descriptor& t, const corner_weights& w, const between& x, const between& y,
                  const between& z, std::uint32_t* d) {
    using four_pairs [[gnu::vector_size(32)]] = std::uint64_t;
    using eight_floats [[gnu::vector_size(32)]] = float;
    using any_pair [[gnu::aligned(1), gnu::may_alias]] = std::uint64_t;
    if (!are_side_by_side(x, sizeof(float))) {
        return false;
    }
    alignas(64) std::int64_t offset[Corners / 2][lanes];
    for (unsigned k = 0; k < Corners / 2; ++k) {
        if (!add_offsets(offset[k], x.low, side(y, 2 * k, 1), side(z, 2 * k, 2))) {
            return false;
        }
    }
    alignas(64) double sums[lanes];
    for (unsigned l = 0; l < lanes; l += 4) {
        four_doubles sum{};
        for (unsigned k = 0; k < Corners / 2; ++k) {
            const auto pair = [&](unsigned n) {
                return *reinterpret_cast<const any_pair*>(t.data + static_cast<std::uint64_t>(offset[k][l + n]));
            };
            const auto both = reinterpret_cast<eight_floats>(four_pairs{pair(0), pair(1), pair(2), pair(3)});
            const four_floats low = __builtin_shufflevector(both, both, 0, 2, 4, 6);
            const four_floats high = __builtin_shufflevector(both, both, 1, 3, 5, 7);
            add_weighted(sum, w.of[2 * k] + l, low);
            add_weighted(sum, w.of[2 * k + 1] + l, high);
        }
        std::memcpy(sums + l, &sum, sizeof(sum));
    }
    if (!are_finite(sums)) {
        return false;
    }
    round_channel(t, sums, d);
    return true;
}

// Corners: 2, 4 or 8. `exact`: the sums of all channels before rounding; nullptr: not wanted.
template <unsigned Corners>
void filter(const texture_descriptor& t, const between& x, const between& y, const between& z, texels& r,
            exact_texels* wanted) {
    corner_weights w;
    if (wanted == nullptr && t.kind == channel_kind::real && t.channel_bytes == 4 && t.width != 0 && t.channels != 2) {
        weigh<Corners>(w, x.weight, y.weight, z.weight);
        if (t.channels == 1 ? filter_pairs<Corners>(t, w, x, y, z, r.channel[0])
                            : filter_fours<Corners>(t, w, x, y, z, r)) {
            return;
        }
    }
    loaded_elements loaded[Corners];
    raw_elements raw[Corners];
    load_corners<Corners>(raw, loaded, t, x, y, z);
    weigh<Corners>(w, x.weight, y.weight, z.weight); // meanwhile what was loaded reaches the cache
    exact_texels own;
    exact_texels& exact = wanted != nullptr ? *wanted : own;
    const bool as_loaded = t.kind == channel_kind::real && t.channel_bytes == 4 &&
                           std::ranges::all_of(raw, [](const raw_elements& e) { return e.outside == 0; });
    for (unsigned k = 0; k < t.channels; ++k) {
        alignas(64) std::uint32_t read[Corners][lanes];
        const std::uint32_t* value[Corners];
        for (unsigned c = 0; c < Corners; ++c) {
            if (as_loaded) {
                value[c] = reinterpret_cast<const std::uint32_t*>(raw[c].bytes + raw[c].first) + k;
            } else {
                read_channel(t, raw[c], k, read[c]);
                value[c] = read[c];
            }
        }
        switch (as_loaded ? raw[0].stride / 4 : 1) {
        case 1: add_corners<1, Corners>(w, value, exact.channel[k]); break;
        case 2: add_corners<2, Corners>(w, value, exact.channel[k]); break;
        default: add_corners<4, Corners>(w, value, exact.channel[k]); break;
        }
        round_channel(t, exact.channel[k], r.channel[k]);
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
