// SPDX-License-Identifier: MIT
// Texture and surface objects: what their handles stand for. A handle is the device address of the descriptor that the
// machine reads (softgpu/machine/texture.hpp). All of it is guarded by the context's lock.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "softgpu/machine/texture.hpp"
#include "softgpu/memory/device_memory.hpp"
#include "softgpu/runtime/abi/texture.hpp"
#include "softgpu/runtime/core/operation.hpp"

namespace softgpu::runtime {

class context;

struct texture_object {
    resource_description resource{};
    texture_description texture{};
    view_description view{};
};

struct texture_state {
    std::map<memory::address, texture_object> textures;
    std::map<memory::address, resource_description> surfaces;
    // Destroyed ones, until what was issued before is over.
    std::vector<std::pair<memory::address, std::vector<operation_pointer>>> gone;
};

struct array_memory;
struct element_kind;

// A descriptor's part that an array fills in.
[[nodiscard]] machine::texture_descriptor descriptor_of(const array_memory& a);
void set_element(machine::texture_descriptor& t, const element_kind& e);

// Puts descriptors, one behind the other, into device memory. Throws out_of_memory.
memory::address place_descriptors(context& gpu, const std::vector<machine::texture_descriptor>& all);
// Takes them away once nothing that was issued can read them.
void remove_descriptors(context& gpu, memory::address at);

} // namespace softgpu::runtime
