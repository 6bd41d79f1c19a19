// SPDX-License-Identifier: MIT
// Copies in the runtime's interface: CUDA's values and layouts under our names.
#pragma once

#include <cstddef>

namespace softgpu::runtime {

// Handles of arrays. They are device addresses and must not be dereferenced.
struct array;
struct mipmapped_array;

enum class copy_kind : int {
    host_to_host = 0,
    host_to_device = 1,
    device_to_host = 2,
    device_to_device = 3,
    automatic = 4
};

struct pitched_pointer {
    void* pointer;
    std::size_t pitch;  // bytes from row to row
    std::size_t width;  // bytes of a row
    std::size_t height; // rows of a slice
};

struct extent {
    std::size_t width; // bytes; elements if an array is involved
    std::size_t height;
    std::size_t depth;
};

struct position {
    std::size_t x;
    std::size_t y;
    std::size_t z;
};

struct copy_3d {
    array* source_array;
    position source_position;
    pitched_pointer source;
    array* destination_array;
    position destination_position;
    pitched_pointer destination;
    runtime::extent extent;
    copy_kind kind;
};

struct copy_3d_peer {
    array* source_array;
    position source_position;
    pitched_pointer source;
    int source_device;
    array* destination_array;
    position destination_position;
    pitched_pointer destination;
    int destination_device;
    runtime::extent extent;
};

enum class channel_kind : int {
    signed_integer = 0,
    unsigned_integer = 1,
    real = 2,
    none = 3,
    unsigned_unit_8x1 = 5, // from here on: integers that reads map to 0 to 1, or to -1 to 1
    unsigned_unit_8x2 = 6,
    unsigned_unit_8x4 = 7,
    unsigned_unit_16x1 = 8,
    unsigned_unit_16x2 = 9,
    unsigned_unit_16x4 = 10,
    signed_unit_8x1 = 11,
    signed_unit_8x2 = 12,
    signed_unit_8x4 = 13,
    signed_unit_16x1 = 14,
    signed_unit_16x2 = 15,
    signed_unit_16x4 = 16,
};

struct channel_format {
    int x;
    int y;
    int z;
    int w;
    channel_kind kind;
};

} // namespace softgpu::runtime
