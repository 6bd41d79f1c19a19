// SPDX-License-Identifier: MIT
// Arrays and mipmapped arrays.
#include "softgpu/runtime/memory/arrays.hpp"
#include "softgpu/runtime/calls/call.hpp"

namespace softgpu::runtime {
namespace {

error has_no_such_arrays() {
    return call([] { fail(error::invalid_value); });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

channel_format cudaCreateChannelDesc(int x, int y, int z, int w, channel_kind kind) { return {x, y, z, w, kind}; }

error cudaMallocArray(array** out, const channel_format* format, std::size_t width, std::size_t height,
                      unsigned flags) {
    return call([&](context& gpu, locked& lock) {
        require(out != nullptr);
        *out = make_array(gpu, lock, format, {width, height, 0}, flags);
    });
}

error cudaMalloc3DArray(array** out, const channel_format* format, extent size, unsigned flags) {
    return call([&](context& gpu, locked& lock) {
        require(out != nullptr);
        *out = make_array(gpu, lock, format, size, flags);
    });
}

error cudaMallocMipmappedArray(mipmapped_array** out, const channel_format* format, extent size, unsigned levels,
                               unsigned flags) {
    return call([&](context& gpu, locked& lock) {
        require(out != nullptr);
        *out = make_mipmaps(gpu, lock, format, size, levels, flags);
    });
}

error cudaFreeArray(array* handle) {
    return call([&](context& gpu, locked& lock) { free_array(gpu, lock, handle); });
}

error cudaFreeMipmappedArray(mipmapped_array* handle) {
    return call([&](context& gpu, locked& lock) { free_mipmaps(gpu, lock, handle); });
}

error cudaGetMipmappedArrayLevel(array** out, const mipmapped_array* handle, unsigned level) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr);
        const mipmap_memory& m = checked(gpu, handle);
        require(level < m.levels.size());
        *out = reinterpret_cast<array*>(m.levels[level].data);
    });
}

error cudaArrayGetInfo(channel_format* format, extent* size, unsigned* flags, array* handle) {
    return call([&](context& gpu, locked&) {
        const array_memory& a = checked(gpu, handle);
        if (format != nullptr) {
            *format = a.format;
        }
        if (size != nullptr) {
            *size = a.size;
        }
        if (flags != nullptr) {
            *flags = a.flags;
        }
    });
}

error cudaGetChannelDesc(channel_format* format, const array* handle) {
    return call([&](context& gpu, locked&) {
        require(format != nullptr);
        *format = checked(gpu, handle).format;
    });
}

// These calls are about sparse arrays, planar arrays and deferred mapping, which no array here has.
error cudaArrayGetMemoryRequirements(array_requirements*, array*, int) { return has_no_such_arrays(); }

error cudaMipmappedArrayGetMemoryRequirements(array_requirements*, mipmapped_array*, int) {
    return has_no_such_arrays();
}

error cudaArrayGetSparseProperties(void*, array*) { return has_no_such_arrays(); }

error cudaMipmappedArrayGetSparseProperties(void*, mipmapped_array*) { return has_no_such_arrays(); }

error cudaArrayGetPlane(array** out, array* handle, unsigned) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr);
        checked(gpu, handle);
        fail(error::invalid_value);
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
