// SPDX-License-Identifier: MIT
// Arrays, textures and surfaces in the driver's interface: CUDA's values and layouts under our names. Handles, flags of arrays
// and views are the runtime's.
#pragma once

#include <cstddef>

#include "softgpu/runtime/abi/driver.hpp"
#include "softgpu/runtime/abi/texture.hpp"

namespace softgpu::runtime {

// CUarray_format: a channel's, then whole elements from unsigned_unit_8x1 on.
enum class array_format : int {
    unsigned_8 = 0x01,
    unsigned_16 = 0x02,
    unsigned_32 = 0x03,
    signed_8 = 0x08,
    signed_16 = 0x09,
    signed_32 = 0x0A,
    real_16 = 0x10,
    real_32 = 0x20,
    unsigned_unit_8x1 = 0xC0, // in the order of channel_kind
    signed_unit_16x4 = 0xCB,
};

// CUDA_ARRAY_DESCRIPTOR
struct array_description {
    std::size_t width; // elements
    std::size_t height;
    array_format format;
    unsigned channels;
};

// CUDA_ARRAY3D_DESCRIPTOR
struct array_3d_description {
    std::size_t width; // elements
    std::size_t height;
    std::size_t depth;
    array_format format;
    unsigned channels;
    unsigned flags;
};

struct driver_linear_resource {
    device_address pointer;
    array_format format;
    unsigned channels;
    std::size_t bytes;
};

struct driver_plane_resource {
    device_address pointer;
    array_format format;
    unsigned channels;
    std::size_t width; // elements
    std::size_t height;
    std::size_t pitch; // bytes
};

// CUDA_RESOURCE_DESC
struct driver_resource {
    resource_type type;
    union {
        runtime::array* array;
        mipmapped_array* mipmaps;
        driver_linear_resource linear;
        driver_plane_resource plane;
        int reserved[32];
    };
    unsigned flags;
};

inline constexpr unsigned texture_reads_integers = 0x01;
inline constexpr unsigned texture_normalized = 0x02;
inline constexpr unsigned texture_srgb = 0x10;
inline constexpr unsigned texture_no_trilinear_optimization = 0x20;
inline constexpr unsigned texture_seamless = 0x40;

// CUDA_TEXTURE_DESC
struct driver_texture {
    address_mode mode[3];
    filter_mode filter;
    unsigned flags;
    unsigned most_anisotropy;
    filter_mode between_levels;
    float level_bias;
    float least_level;
    float most_level;
    float border[4];
    int reserved[12];
};

} // namespace softgpu::runtime
