// SPDX-License-Identifier: MIT
// Arrays: the objects behind cudaArray_t and cudaMipmappedArray_t. A handle is the device address of the elements, which
// lie row by row without gaps. The context's lock guards all of it.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "softgpu/memory/device_memory.hpp"
#include "softgpu/runtime/abi/texture.hpp"
#include "softgpu/runtime/core/context.hpp"

namespace softgpu::runtime {

// The elements of a channel format.
struct element_kind {
    unsigned channels = 0;      // 1, 2 or 4
    unsigned channel_bytes = 0; // 1, 2 or 4
    bool real = false;
    bool is_signed = false;
    bool unit = false; // reads give 0 to 1, or -1 to 1, and nothing else

    [[nodiscard]] unsigned bytes() const noexcept { return channels * channel_bytes; }
};
// Throws invalid_channel_descriptor for an invalid format and not_supported for compressed and planar ones.
element_kind element_of(const channel_format& f);

struct array_memory {
    memory::address data = 0;
    channel_format format{};
    element_kind element{};
    extent size{}; // as the program gave it: 0 for a dimension that the array does not have
    unsigned flags = 0;
    bool is_level = false; // of a mipmapped array, which owns the memory

    [[nodiscard]] std::size_t row_bytes() const noexcept { return size.width * element.bytes(); }
    [[nodiscard]] std::size_t rows() const noexcept { return size.height == 0 ? 1 : size.height; }
    [[nodiscard]] std::size_t slices() const noexcept {
        return size.depth == 0 ? 1 : size.depth;
    } // or layers, or faces
    [[nodiscard]] bool has_layers() const noexcept { return (flags & (array_layered | array_cubemap)) != 0; }
    [[nodiscard]] std::size_t bytes() const noexcept { return row_bytes() * rows() * slices(); }
};

struct mipmap_memory {
    std::vector<array_memory> levels;
};

struct array_state final : device_part {
    std::map<memory::address, array_memory> arrays; // also the levels of mipmapped arrays
    std::map<memory::address, mipmap_memory> mipmaps;
};

// Look handles up; throw invalid_resource_handle for unknown ones.
const array_memory& checked(context& gpu, const array* handle);
const mipmap_memory& checked(context& gpu, const mipmapped_array* handle);

// Throw failure, with the errors of cudaMallocArray and cudaMallocMipmappedArray.
array* make_array(context& gpu, locked& lock, const channel_format* format, const extent& size, unsigned flags);
mipmapped_array* make_mipmaps(context& gpu, locked& lock, const channel_format* format, const extent& size,
                              unsigned count, unsigned flags);
// Wait for all work and free the array; nullptr and levels of mipmapped arrays are ignored. Throw invalid_value for an
// unknown handle.
void free_array(context& gpu, locked& lock, array* handle);
void free_mipmaps(context& gpu, locked& lock, mipmapped_array* handle);

// Whether [begin, begin + count) lies in [0, size).
[[nodiscard]] inline bool is_inside(std::size_t begin, std::size_t count, std::size_t size) noexcept {
    return count <= size && begin <= size - count;
}

} // namespace softgpu::runtime
