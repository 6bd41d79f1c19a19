// SPDX-License-Identifier: MIT
// A warp's elements of a texture, as reading gives them: floats as bits, or integers. Loops over all lanes become vector
// code.
#pragma once

#include "softgpu/machine/handlers/arithmetic/half_formats.hpp"
#include "softgpu/machine/handlers/memory/texture_coordinates.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

inline bool gives_reals(const texture_descriptor& t) { return t.kind == channel_kind::real || t.reads_normalized; }

// The value of a half; a NaN keeps its bits.
SOFTGPU_INLINE float half_value(std::uint32_t h) {
    const float magnitude = std::bit_cast<float>((h & 0x7FFF) << 13) * 0x1p112F;
    const bool infinite = (h & 0x7C00) == 0x7C00;
    const std::uint32_t bits = infinite ? 0x7F800000u | (h & 0x3FF) << 13 : std::bit_cast<std::uint32_t>(magnitude);
    return std::bit_cast<float>(bits | (h & 0x8000) << 16);
}

// To the nearest half, as a float; a NaN stays as it is.
SOFTGPU_INLINE float rounded_to_half(float x) {
    const double r = widened<f16_format>(narrowed<f16_format>(static_cast<double>(x)));
    return x == x ? static_cast<float>(r) : x;
}

inline float most_of(const texture_descriptor& t) {
    const unsigned bits = 8u * t.channel_bytes - (t.kind == channel_kind::signed_integer ? 1 : 0);
    return static_cast<float>(bits == 32 ? 0xFFFFFFFFu : (1u << bits) - 1);
}

// What lies beyond the border: its colour in the elements' format.
inline std::uint32_t border_channel(const texture_descriptor& t, unsigned channel) {
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

// The elements of a warp, or pairs of elements that lie side by side.
struct loaded_elements {
    alignas(64) std::byte of[16 * lanes];
};
// One element of each lane of them.
struct raw_elements {
    const std::byte* bytes = nullptr;
    unsigned stride = 0;   // bytes from lane to lane: 1, 2, 4, 8 or 16
    unsigned first = 0;    // byte of the element within them
    lane_mask outside = 0; // lanes beyond the border; their bytes are unused
};

template <std::size_t Bytes>
SOFTGPU_INLINE void copy_elements(std::byte* to, const std::byte* from, const std::int64_t* offset) {
#pragma GCC unroll 8
    for (unsigned l = 0; l < lanes; ++l) {
        std::memcpy(to + l * Bytes, from + offset[l], Bytes);
    }
}

// From offsets along the three axes; false: a lane is beyond the border.
SOFTGPU_INLINE bool add_offsets(std::int64_t* offset, const std::int64_t* x, const std::int64_t* y,
                                const std::int64_t* z) {
    std::int64_t any = 0;
    SOFTGPU_LANES
    for (unsigned l = 0; l < lanes; ++l) {
        offset[l] = x[l] + y[l] + z[l];
        any |= offset[l];
    }
    return any >= 0;
}

// Loads `bytes` of each lane from there: an element, or two.
inline raw_elements load_elements(loaded_elements& to, const texture_descriptor& t, const std::int64_t* x,
                                  const std::int64_t* y, const std::int64_t* z, unsigned bytes) {
    static constexpr std::byte nothing[16] = {};
    alignas(64) std::int64_t offset[lanes];
    raw_elements r{to.of, bytes, 0, t.width == 0 ? all_lanes : 0};
    if (!add_offsets(offset, x, y, z)) {
        for (unsigned l = 0; l < lanes; ++l) {
            r.outside |= (offset[l] < 0 ? 1u : 0u) << l;
            offset[l] = std::max<std::int64_t>(offset[l], 0);
        }
    }
    const auto* const from = t.width == 0 ? nothing : reinterpret_cast<const std::byte*>(t.data);
    switch (bytes) {
    case 1: copy_elements<1>(to.of, from, offset); break;
    case 2: copy_elements<2>(to.of, from, offset); break;
    case 4: copy_elements<4>(to.of, from, offset); break;
    case 8: copy_elements<8>(to.of, from, offset); break;
    default: copy_elements<16>(to.of, from, offset); break;
    }
    return r;
}

// Bits `shift` and on of every `Step`th word.
template <unsigned Step, class Word>
SOFTGPU_INLINE void take_bits(std::uint32_t* d, const Word* from, unsigned shift, std::uint32_t kept) {
    SOFTGPU_LANES
    for (unsigned l = 0; l < lanes; ++l) {
        d[l] = std::uint32_t{from[l * Step]} >> shift & kept;
    }
}

// A channel of `bytes` bytes that begins with byte `first` of each lane's.
SOFTGPU_INLINE void take_channel(std::uint32_t* d, const raw_elements& r, unsigned first, unsigned bytes) {
    const std::uint32_t kept = bytes == 4 ? ~0u : (1u << 8 * bytes) - 1;
    const unsigned shift = first % 4 * 8;
    const auto* const words = reinterpret_cast<const std::uint32_t*>(r.bytes) + first / 4;
    switch (r.stride) {
    case 1: take_bits<1>(d, reinterpret_cast<const std::uint8_t*>(r.bytes), 0, kept); return;
    case 2: take_bits<1>(d, reinterpret_cast<const std::uint16_t*>(r.bytes), shift, kept); return;
    case 4: take_bits<1>(d, words, shift, kept); return;
    case 8: take_bits<2>(d, words, shift, kept); return;
    default: take_bits<4>(d, words, shift, kept); return;
    }
}

// From integers to 0 to 1, or to -1 to 1.
inline void normalize(const texture_descriptor& t, unsigned channel, std::uint32_t* d) {
    const float most = most_of(t);
    if (t.srgb && channel < 3) {
        for (unsigned l = 0; l < lanes; ++l) {
            d[l] = std::bit_cast<std::uint32_t>(linear_light(d[l]));
        }
    } else if (t.kind == channel_kind::signed_integer) {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            const float v = static_cast<float>(static_cast<std::int32_t>(d[l])) / most;
            d[l] = std::bit_cast<std::uint32_t>(v > -1 ? v : -1.0F);
        }
    } else {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            d[l] = std::bit_cast<std::uint32_t>(static_cast<float>(d[l]) / most);
        }
    }
}

// One channel of all lanes.
__attribute__((noinline)) inline void read_channel(const texture_descriptor& t, const raw_elements& r, unsigned channel,
                                                   std::uint32_t* d) {
    take_channel(d, r, r.first + channel * t.channel_bytes, t.channel_bytes);
    if (t.kind == channel_kind::real && t.channel_bytes == 2) {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            d[l] = std::bit_cast<std::uint32_t>(half_value(d[l]));
        }
    }
    if (t.kind == channel_kind::signed_integer) {
        const unsigned unused = 32 - 8u * t.channel_bytes;
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            d[l] = static_cast<std::uint32_t>(static_cast<std::int32_t>(d[l] << unused) >> unused);
        }
    }
    if (t.kind != channel_kind::real && t.reads_normalized) {
        normalize(t, channel, d);
    }
    if (r.outside != 0) {
        const std::uint32_t colour = border_channel(t, channel);
        map_lanes(
            r.outside, d, [colour](std::uint32_t) { return colour; }, d);
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
