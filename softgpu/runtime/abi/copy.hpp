// SPDX-License-Identifier: MIT
// How copies are described at the runtime's interface: CUDA's values and layouts under our names.
#pragma once

#include <cstddef>

namespace softgpu::runtime {

struct array; // textures' memory: not supported, but its handle is part of copy_3d

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
    std::size_t width; // bytes, where no array is involved
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

enum class channel_kind : int {};

struct channel_format {
    int x;
    int y;
    int z;
    int w;
    channel_kind kind;
};

} // namespace softgpu::runtime
