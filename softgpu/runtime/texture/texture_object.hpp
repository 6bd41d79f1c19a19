// SPDX-License-Identifier: MIT
// The objects behind texture and surface handles. A handle is the device address of the object's descriptors
// (texture/descriptors.hpp). The context's lock guards all of it.
#pragma once

#include <cstddef>
#include <map>

#include "softgpu/memory/device_memory.hpp"
#include "softgpu/runtime/abi/texture.hpp"
#include "softgpu/runtime/core/context.hpp"
#include "softgpu/runtime/memory/arrays.hpp"

namespace softgpu::runtime {

struct texture_object {
    resource_description resource{};
    texture_description texture{};
    view_description view{};
};

struct texture_state final : device_part {
    std::map<memory::address, texture_object> textures;
    std::map<memory::address, resource_description> surfaces;
};

// view: nullptr for none. Throws failure, with the errors of cudaCreateTextureObject.
texture_handle create_texture(context& gpu, const resource_description& resource, const texture_description& how,
                              const view_description* view);
// The longest texture over linear memory, in elements: a number of elements, and a number of bytes of the widest elements.
[[nodiscard]] std::size_t max_linear_elements(const card& c, const element_kind& e);

} // namespace softgpu::runtime
