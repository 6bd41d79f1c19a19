// SPDX-License-Identifier: MIT
// Arrays, textures and surfaces: the runtime's objects under the driver's descriptions.
#include "softgpu/runtime/abi/driver_texture.hpp"
#include "softgpu/runtime/calls/driver/driver_call.hpp"
#include "softgpu/runtime/calls/driver/runtime_calls.hpp"
#include "softgpu/runtime/memory/arrays.hpp"

namespace softgpu::runtime {
namespace {

channel_format format_of(array_format format, unsigned channels) {
    require(channels == 1 || channels == 2 || channels == 4);
    int bits = 0;
    channel_kind kind{};
    switch (format) {
    case array_format::unsigned_8: bits = 8, kind = channel_kind::unsigned_integer; break;
    case array_format::unsigned_16: bits = 16, kind = channel_kind::unsigned_integer; break;
    case array_format::unsigned_32: bits = 32, kind = channel_kind::unsigned_integer; break;
    case array_format::signed_8: bits = 8, kind = channel_kind::signed_integer; break;
    case array_format::signed_16: bits = 16, kind = channel_kind::signed_integer; break;
    case array_format::signed_32: bits = 32, kind = channel_kind::signed_integer; break;
    case array_format::real_16: bits = 16, kind = channel_kind::real; break;
    case array_format::real_32: bits = 32, kind = channel_kind::real; break;
    default: {
        if (format < array_format::unsigned_unit_8x1 || format > array_format::signed_unit_16x4) {
            fail(error::not_supported, "arrays in planar, block-compressed and 10-bit formats are not supported");
        }
        const int place = static_cast<int>(format) - static_cast<int>(array_format::unsigned_unit_8x1);
        require(channels == 1u << place % 3);
        bits = place / 3 % 2 == 0 ? 8 : 16;
        kind = static_cast<channel_kind>(static_cast<int>(channel_kind::unsigned_unit_8x1) + place);
    }
    }
    return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 2 ? bits : 0, kind};
}

array_format format_of(const channel_format& f) {
    const int size = f.x == 8 ? 0 : f.x == 16 ? 1 : 2;
    const auto from = [](array_format first, int more) {
        return static_cast<array_format>(static_cast<int>(first) + more);
    };
    switch (f.kind) {
    case channel_kind::unsigned_integer: return from(array_format::unsigned_8, size);
    case channel_kind::signed_integer: return from(array_format::signed_8, size);
    case channel_kind::real: return f.x == 16 ? array_format::real_16 : array_format::real_32;
    default:
        return from(array_format::unsigned_unit_8x1,
                    static_cast<int>(f.kind) - static_cast<int>(channel_kind::unsigned_unit_8x1));
    }
}

unsigned channels_of(const channel_format& f) { return f.y == 0 ? 1 : f.z == 0 ? 2 : 4; }

resource_description resource_of(const driver_resource& r) {
    require(r.flags == 0);
    resource_description made{};
    made.type = r.type;
    switch (r.type) {
    case resource_type::array: made.array = r.array; return made;
    case resource_type::mipmaps: made.mipmaps = r.mipmaps; return made;
    case resource_type::linear:
        made.linear = {pointer_to(r.linear.pointer), format_of(r.linear.format, r.linear.channels), r.linear.bytes};
        return made;
    case resource_type::plane:
        made.plane = {pointer_to(r.plane.pointer), format_of(r.plane.format, r.plane.channels), r.plane.width,
                      r.plane.height, r.plane.pitch};
        return made;
    }
    fail(error::invalid_value);
}

driver_resource resource_of(const resource_description& r) {
    driver_resource made{};
    made.type = r.type;
    switch (r.type) {
    case resource_type::array: made.array = r.array; break;
    case resource_type::mipmaps: made.mipmaps = r.mipmaps; break;
    case resource_type::linear:
        made.linear = {reinterpret_cast<device_address>(r.linear.pointer), format_of(r.linear.format),
                       channels_of(r.linear.format), r.linear.bytes};
        break;
    case resource_type::plane:
        made.plane = {reinterpret_cast<device_address>(r.plane.pointer),
                      format_of(r.plane.format),
                      channels_of(r.plane.format),
                      r.plane.width,
                      r.plane.height,
                      r.plane.pitch};
        break;
    }
    return made;
}

// The element that a texture of this resource reads. Throws invalid_resource_handle for an unknown array.
element_kind element_of(context& gpu, const resource_description& r) {
    switch (r.type) {
    case resource_type::array: return checked(gpu, r.array).element;
    case resource_type::mipmaps: return checked(gpu, r.mipmaps).levels.front().element;
    case resource_type::linear: return runtime::element_of(r.linear.format);
    case resource_type::plane: return runtime::element_of(r.plane.format);
    }
    fail(error::invalid_value);
}

// The driver reads integers of 8 and 16 bits as fractions unless the flag says otherwise.
texture_description texture_of(const driver_texture& t, const element_kind& e) {
    constexpr unsigned known = texture_reads_integers | texture_normalized | texture_srgb |
                               texture_no_trilinear_optimization | texture_seamless;
    require((t.flags & ~known) == 0);
    const auto has = [&](unsigned flag) { return (t.flags & flag) != 0 ? 1 : 0; };
    const bool fraction = e.unit || (!e.real && e.channel_bytes < 4 && has(texture_reads_integers) == 0);
    texture_description made{};
    std::copy_n(t.mode, 3, made.mode);
    made.filter = t.filter;
    made.read = fraction ? read_mode::unit : read_mode::element;
    made.srgb = has(texture_srgb);
    std::copy_n(t.border, 4, made.border);
    made.normalized = has(texture_normalized);
    made.most_anisotropy = t.most_anisotropy;
    made.between_levels = t.between_levels;
    made.level_bias = t.level_bias;
    made.least_level = t.least_level;
    made.most_level = t.most_level;
    made.no_trilinear_optimization = has(texture_no_trilinear_optimization);
    made.seamless = has(texture_seamless);
    return made;
}

driver_texture texture_of(const texture_description& t, const element_kind& e) {
    const bool integers = !e.real && t.read == read_mode::element;
    driver_texture made{};
    std::copy_n(t.mode, 3, made.mode);
    made.filter = t.filter;
    made.flags = (integers ? texture_reads_integers : 0) | (t.normalized != 0 ? texture_normalized : 0) |
                 (t.srgb != 0 ? texture_srgb : 0) |
                 (t.no_trilinear_optimization != 0 ? texture_no_trilinear_optimization : 0) |
                 (t.seamless != 0 ? texture_seamless : 0);
    made.most_anisotropy = t.most_anisotropy;
    made.between_levels = t.between_levels;
    made.level_bias = t.level_bias;
    made.least_level = t.least_level;
    made.most_level = t.most_level;
    std::copy_n(t.border, 4, made.border);
    return made;
}

result give_description(array_3d_description* out, array* handle) {
    return on_device([&](context& gpu, locked&) {
        require(out != nullptr);
        const array_memory& a = checked(gpu, handle);
        *out = {a.size.width, a.size.height, a.size.depth, format_of(a.format), channels_of(a.format), a.flags};
    });
}

result give_resource(driver_resource* out, texture_handle handle,
                     error (*runtime_call)(resource_description*, texture_handle)) {
    return with_context([&] {
        require(out != nullptr);
        resource_description r{};
        const error e = runtime_call(&r, handle);
        if (e == error::success) {
            *out = resource_of(r);
        }
        return e;
    });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

result cuArray3DCreate_v2(array** out, const array_3d_description* d) {
    return with_context([&] {
        require(d != nullptr);
        const channel_format format = format_of(d->format, d->channels);
        return cudaMalloc3DArray(out, &format, {d->width, d->height, d->depth}, d->flags);
    });
}

result cuArrayCreate_v2(array** out, const array_description* d) {
    if (d == nullptr) {
        return result::invalid_value;
    }
    const array_3d_description same{d->width, d->height, 0, d->format, d->channels, 0};
    return cuArray3DCreate_v2(out, &same);
}

result cuArray3DGetDescriptor_v2(array_3d_description* out, array* handle) { return give_description(out, handle); }

result cuArrayGetDescriptor_v2(array_description* out, array* handle) {
    array_3d_description all{};
    const result r = give_description(out != nullptr ? &all : nullptr, handle);
    if (r == result::success) {
        *out = {all.width, all.height, all.format, all.channels};
    }
    return r;
}

result cuArrayDestroy(array* handle) {
    return with_context([&] {
        require(handle != nullptr, error::invalid_resource_handle);
        return cudaFreeArray(handle);
    });
}

result cuArrayGetMemoryRequirements(array_requirements* out, array* handle, int device) {
    return forward(cudaArrayGetMemoryRequirements, out, handle, device);
}

result cuArrayGetSparseProperties(void* out, array* handle) {
    return forward(cudaArrayGetSparseProperties, out, handle);
}

result cuArrayGetPlane(array** out, array* handle, unsigned plane) {
    return forward(cudaArrayGetPlane, out, handle, plane);
}

result cuDeviceGetTexture1DLinearMaxWidth(std::size_t* elements, array_format format, unsigned channels, int device) {
    return without_context([&] {
        const channel_format f = format_of(format, channels);
        return cudaDeviceGetTexture1DLinearMaxWidth(elements, &f, device);
    });
}

result cuMipmappedArrayCreate(mipmapped_array** out, const array_3d_description* d, unsigned levels) {
    return with_context([&] {
        require(d != nullptr);
        const channel_format format = format_of(d->format, d->channels);
        return cudaMallocMipmappedArray(out, &format, {d->width, d->height, d->depth}, levels, d->flags);
    });
}

result cuMipmappedArrayGetLevel(array** out, mipmapped_array* handle, unsigned level) {
    return forward(cudaGetMipmappedArrayLevel, out, handle, level);
}

result cuMipmappedArrayDestroy(mipmapped_array* handle) {
    return with_context([&] {
        require(handle != nullptr, error::invalid_resource_handle);
        return cudaFreeMipmappedArray(handle);
    });
}

result cuMipmappedArrayGetMemoryRequirements(array_requirements* out, mipmapped_array* handle, int device) {
    return forward(cudaMipmappedArrayGetMemoryRequirements, out, handle, device);
}

result cuMipmappedArrayGetSparseProperties(void* out, mipmapped_array* handle) {
    return forward(cudaMipmappedArrayGetSparseProperties, out, handle);
}

result cuTexObjectCreate(texture_handle* out, const driver_resource* resource, const driver_texture* how,
                         const view_description* view) {
    return with_context([&] {
        require(resource != nullptr && how != nullptr);
        const resource_description r = resource_of(*resource);
        element_kind element{};
        if (const error e = call([&](context& gpu, locked&) { element = element_of(gpu, r); }); e != error::success) {
            return e;
        }
        const texture_description t = texture_of(*how, element);
        return cudaCreateTextureObject(out, &r, &t, view);
    });
}

result cuTexObjectDestroy(texture_handle handle) { return forward(cudaDestroyTextureObject, handle); }

result cuTexObjectGetResourceDesc(driver_resource* out, texture_handle handle) {
    return give_resource(out, handle, cudaGetTextureObjectResourceDesc);
}

result cuTexObjectGetTextureDesc(driver_texture* out, texture_handle handle) {
    return with_context([&] {
        require(out != nullptr);
        resource_description r{};
        texture_description t{};
        if (const error e = cudaGetTextureObjectResourceDesc(&r, handle); e != error::success) {
            return e;
        }
        if (const error e = cudaGetTextureObjectTextureDesc(&t, handle); e != error::success) {
            return e;
        }
        return call([&](context& gpu, locked&) { *out = texture_of(t, element_of(gpu, r)); });
    });
}

result cuTexObjectGetResourceViewDesc(view_description* out, texture_handle handle) {
    return forward(cudaGetTextureObjectResourceViewDesc, out, handle);
}

result cuSurfObjectCreate(texture_handle* out, const driver_resource* resource) {
    return with_context([&] {
        require(resource != nullptr);
        const resource_description r = resource_of(*resource);
        return cudaCreateSurfaceObject(out, &r);
    });
}

result cuSurfObjectDestroy(texture_handle handle) { return forward(cudaDestroySurfaceObject, handle); }

result cuSurfObjectGetResourceDesc(driver_resource* out, texture_handle handle) {
    return give_resource(out, handle, cudaGetSurfaceObjectResourceDesc);
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
