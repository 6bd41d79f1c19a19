// SPDX-License-Identifier: MIT
// Arrays, textures and surfaces in the runtime's interface: CUDA's values and layouts under our names.
#pragma once

#include <cstddef>

#include "softgpu/runtime/abi/copy.hpp"

namespace softgpu::runtime {

inline constexpr unsigned array_layered = 0x01;
inline constexpr unsigned array_surface = 0x02;
inline constexpr unsigned array_cubemap = 0x04;
inline constexpr unsigned array_gather = 0x08;
inline constexpr unsigned array_sparse = 0x40;
inline constexpr unsigned array_deferred = 0x80;

struct array_requirements {
    std::size_t bytes;
    std::size_t alignment;
    unsigned reserved[4];
};

enum class resource_type : int { array = 0, mipmaps = 1, linear = 2, plane = 3 };

struct linear_resource {
    void* pointer;
    channel_format format;
    std::size_t bytes;
};

struct plane_resource {
    void* pointer;
    channel_format format;
    std::size_t width; // elements
    std::size_t height;
    std::size_t pitch; // bytes
};

struct resource_description {
    resource_type type;
    union {
        runtime::array* array;
        mipmapped_array* mipmaps;
        linear_resource linear;
        plane_resource plane;
        int reserved[32];
    };
    unsigned flags;
};

enum class address_mode : int { wrap = 0, clamp = 1, mirror = 2, border = 3 };
enum class filter_mode : int { point = 0, linear = 1 };
enum class read_mode : int { element = 0, unit = 1 };

struct texture_description {
    address_mode mode[3];
    filter_mode filter;
    read_mode read;
    int srgb;
    float border[4];
    int normalized;
    unsigned most_anisotropy;
    filter_mode between_levels;
    float level_bias;
    float least_level;
    float most_level;
    int no_trilinear_optimization;
    int seamless;
};

// none, then integers and floats of 1, 2 and 4 channels each, then the block-compressed formats
enum class view_format : int { none = 0, unsigned_8x1 = 1, real_16x1 = 0x13, real_32x1 = 0x16, real_32x4 = 0x18 };

struct view_description {
    view_format format;
    std::size_t width;
    std::size_t height;
    std::size_t depth;
    unsigned first_level;
    unsigned last_level;
    unsigned first_layer;
    unsigned last_layer;
    unsigned reserved[16];
};

using texture_handle = unsigned long long;

} // namespace softgpu::runtime
