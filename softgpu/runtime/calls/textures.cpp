// SPDX-License-Identifier: MIT
// Texture and surface objects.
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/memory/arrays.hpp"
#include "softgpu/runtime/texture/descriptors.hpp"
#include "softgpu/runtime/texture/texture_object.hpp"

namespace softgpu::runtime {
namespace {

const texture_object& object_of(context& gpu, texture_handle handle) {
    const auto found = gpu.part<texture_state>().textures.find(handle);
    require(found != gpu.part<texture_state>().textures.end());
    return found->second;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaCreateTextureObject(texture_handle* out, const resource_description* resource, const texture_description* how,
                              const view_description* view) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr && resource != nullptr);
        require(how != nullptr, error::invalid_resource_handle);
        gpu.require_usable();
        *out = create_texture(gpu, *resource, *how, view);
    });
}

error cudaDestroyTextureObject(texture_handle handle) {
    return call([&](context& gpu, locked&) {
        if (handle != 0) {
            require(gpu.part<texture_state>().textures.erase(handle) != 0);
            remove_descriptors(gpu, handle);
        }
    });
}

error cudaGetTextureObjectResourceDesc(resource_description* resource, texture_handle handle) {
    return call([&](context& gpu, locked&) {
        require(resource != nullptr);
        *resource = object_of(gpu, handle).resource;
    });
}

error cudaGetTextureObjectTextureDesc(texture_description* how, texture_handle handle) {
    return call([&](context& gpu, locked&) {
        require(how != nullptr);
        *how = object_of(gpu, handle).texture;
    });
}

error cudaGetTextureObjectResourceViewDesc(view_description* view, texture_handle handle) {
    return call([&](context& gpu, locked&) {
        require(view != nullptr);
        *view = object_of(gpu, handle).view;
    });
}

error cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* elements, const channel_format* format, int device) {
    return call([&](context& gpu, locked&) {
        require(elements != nullptr && format != nullptr);
        *elements = max_linear_elements(checked_device(gpu, device).device(), element_of(*format));
    });
}

error cudaCreateSurfaceObject(texture_handle* out, const resource_description* resource) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr && resource != nullptr && resource->type == resource_type::array);
        gpu.require_usable();
        const memory::address at = place_descriptors(gpu, {descriptor_of(checked(gpu, resource->array))});
        gpu.part<texture_state>().surfaces[at] = *resource;
        *out = at;
    });
}

error cudaDestroySurfaceObject(texture_handle handle) {
    return call([&](context& gpu, locked&) {
        if (handle != 0) {
            require(gpu.part<texture_state>().surfaces.erase(handle) != 0);
            remove_descriptors(gpu, handle);
        }
    });
}

error cudaGetSurfaceObjectResourceDesc(resource_description* resource, texture_handle handle) {
    return call([&](context& gpu, locked&) {
        require(resource != nullptr);
        const auto found = gpu.part<texture_state>().surfaces.find(handle);
        require(found != gpu.part<texture_state>().surfaces.end());
        *resource = found->second;
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
