// SPDX-License-Identifier: MIT
// Textures and surfaces: what a handle stands for. The handle of tex, suld and their kin is the device address of a
// descriptor; whoever makes texture objects allocates one and fills it in. Data have to be allocated device memory too.
// handlers/memory/texture_sampling.hpp reads textures.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softgpu::machine {

// As cudaTextureAddressMode counts them.
enum class addressing : std::uint8_t { wrap, clamp, mirror, border };

// As cudaChannelFormatKind counts them.
enum class channel_kind : std::uint8_t { signed_integer, unsigned_integer, real };

struct texture_descriptor {
    static constexpr std::uint64_t is_one = 0x6572757478657477; // in `mark`, so that a stray address is found out

    std::uint64_t mark = is_one;
    std::uint64_t data = 0;         // of the first element
    std::uint64_t row_bytes = 0;    // from row to row
    std::uint64_t slice_bytes = 0;  // from layer to layer, face to face, or plane to plane of three dimensions
    std::uint32_t width = 0;        // elements
    std::uint32_t height = 0;       // 0: one dimension
    std::uint32_t depth = 0;        // 0: no third dimension
    std::uint32_t layers = 0;       // 0: not layered; a cube has 6, layered ones 6 each
    std::uint8_t channels = 1;      // 1, 2 or 4
    std::uint8_t channel_bytes = 4; // 1, 2 or 4
    channel_kind kind = channel_kind::real;
    addressing mode[3] = {addressing::clamp, addressing::clamp, addressing::clamp};
    bool linear = false;           // filtering between elements, else the nearest
    bool normalized = false;       // coordinates go from 0 to 1
    bool reads_normalized = false; // integers are read as 0 to 1, or -1 to 1
    bool srgb = false;             // with reads_normalized: the first three channels are given as linear light
    float border[4] = {0, 0, 0, 0};
    // A mipmapped texture's descriptors lie one behind the other in memory, from the finest level to the coarsest.
    std::uint32_t levels = 1;
    bool mixes_levels = false; // else the nearest
    float level_bias = 0;
    float least_level = 0;
    float most_level = 0;

    [[nodiscard]] std::uint32_t element_bytes() const noexcept { return std::uint32_t{channels} * channel_bytes; }
    // From the first byte to behind the last.
    [[nodiscard]] std::uint64_t bytes() const noexcept;
};

// The geometries of tex: .1d, .2d, .3d, with layers, and cubes.
enum class geometry : std::uint8_t { line, plane, space, lines, planes, cube, cubes };

// `places` of an instruction: the handle, four results or values (nowhere: none), three coordinates, the layer, the
// predicate that says that there is something (always), the level, and three slopes each along the two directions of an
// image.
enum : unsigned {
    handle_at = 0,
    values_at = 1,
    coordinates_at = 5,
    layer_at = 8,
    resident_at = 9,
    level_at = 10,
    slopes_at = 11,
};
// Bits of its `more`: geometry, channel of tld4, integer coordinates, what a query asks, bytes of a value, values, and what
// happens outside of a surface.
enum : std::uint32_t {
    geometry_bits = 7,
    channel_shift = 3,
    integer_coordinates = 32,
    query_shift = 6,
    bytes_shift = 10,
    count_shift = 15,
    clamps = 1u << 18,
    gives_zero = 1u << 19,
};

// Linear light from a byte, with eight significant bits as texture units give it; an H200 is one step off for some.
[[nodiscard]] float linear_light(std::uint32_t byte);

// Where a surface access of `bytes` goes: x counts bytes. nullptr: outside. `clamped` moves it to the nearest inside.
[[nodiscard]] std::byte* surface_bytes(const texture_descriptor& t, geometry g, std::int32_t x, std::int32_t y,
                                       std::int32_t z, std::uint32_t layer, unsigned bytes, bool clamped);

} // namespace softgpu::machine
