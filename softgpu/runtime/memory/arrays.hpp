// SPDX-License-Identifier: MIT
// Arrays: what cudaArray_t and cudaMipmappedArray_t stand for. The handle is the device address of the elements, which lie
// row by row without gaps. All of it is guarded by the context's lock.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "softgpu/memory/device_memory.hpp"
#include "softgpu/runtime/abi/texture.hpp"

namespace softgpu::runtime {

class context;

// What the elements of a format are.
struct element_kind {
    unsigned channels = 0;      // 1, 2 or 4
    unsigned channel_bytes = 0; // 1, 2 or 4
    bool real = false;
    bool is_signed = false;
    bool unit = false; // can only be read as 0 to 1, or -1 to 1

    [[nodiscard]] unsigned bytes() const noexcept { return channels * channel_bytes; }
};
// Throws invalid_channel_descriptor for what is none, and not_supported for compressed and planar ones.
element_kind element_of(const channel_format& f);

struct array_memory {
    memory::address data = 0;
    channel_format format{};
    element_kind element{};
    extent size{}; // as asked for: 0 where there is no such dimension
    unsigned flags = 0;
    bool is_level = false; // of a mipmapped array, which its memory belongs to

    [[nodiscard]] std::size_t row_bytes() const noexcept { return size.width * element.bytes(); }
    [[nodiscard]] std::size_t rows() const noexcept { return size.height == 0 ? 1 : size.height; }
    [[nodiscard]] std::size_t slices() const noexcept { return size.depth == 0 ? 1 : size.depth; } // or layers, or faces
    [[nodiscard]] bool has_layers() const noexcept { return (flags & (array_layered | array_cubemap)) != 0; }
    [[nodiscard]] std::size_t bytes() const noexcept { return row_bytes() * rows() * slices(); }
};

struct mipmap_memory {
    std::vector<array_memory> levels;
};

struct array_state {
    std::map<memory::address, array_memory> arrays; // levels too
    std::map<memory::address, mipmap_memory> mipmaps;
};

// Throw invalid_resource_handle where there is no such thing.
const array_memory& checked(context& gpu, const array* handle);
const mipmap_memory& checked(context& gpu, const mipmapped_array* handle);

// The same copy between pitched memory: sizes in bytes, rows from the first one that is copied. Throws what CUDA does where
// an array is not there or does not have these elements. The memory of pointers is not looked at.
copy_3d without_arrays(context& gpu, const copy_3d& p);

} // namespace softgpu::runtime
