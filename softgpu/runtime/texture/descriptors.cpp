// SPDX-License-Identifier: MIT
// cudaCreateSurfaceObject and its kin, and what textures and surfaces share: descriptors in device memory.
#include <algorithm>
#include <cstring>

#include "softgpu/runtime/memory/arrays.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/core/executor.hpp"
#include "softgpu/runtime/texture/texture_object.hpp"

namespace softgpu::runtime {
namespace {

void remove_finished(context& gpu) {
    std::erase_if(gpu.state().textures.gone, [&](const auto& g) {
        const bool over = std::ranges::all_of(g.second, [](const operation_pointer& o) {
            return o == nullptr || executor::instance().finished(o).has_value();
        });
        if (over) {
            gpu.memory().release(g.first);
        }
        return over;
    });
}

} // namespace

void set_element(machine::texture_descriptor& t, const element_kind& e) {
    t.channels = static_cast<std::uint8_t>(e.channels);
    t.channel_bytes = static_cast<std::uint8_t>(e.channel_bytes);
    t.kind = e.real        ? machine::channel_kind::real
             : e.is_signed ? machine::channel_kind::signed_integer
                           : machine::channel_kind::unsigned_integer;
}

machine::texture_descriptor descriptor_of(const array_memory& a) {
    machine::texture_descriptor t;
    set_element(t, a.element);
    t.data = a.data;
    t.row_bytes = a.row_bytes();
    t.slice_bytes = a.row_bytes() * a.rows();
    t.width = static_cast<std::uint32_t>(a.size.width);
    t.height = static_cast<std::uint32_t>(a.size.height);
    (a.has_layers() ? t.layers : t.depth) = static_cast<std::uint32_t>(a.size.depth);
    return t;
}

memory::address place_descriptors(context& gpu, const std::vector<machine::texture_descriptor>& all) {
    remove_finished(gpu);
    const std::size_t bytes = all.size() * sizeof(machine::texture_descriptor);
    const memory::address at = gpu.memory().allocate(bytes, memory::allocation_kind::texture, "(texture or surface)");
    std::memcpy(reinterpret_cast<void*>(at), all.data(), bytes);
    return at;
}

void remove_descriptors(context& gpu, memory::address at) {
    std::vector<operation_pointer> last{gpu.state().legacy.last};
    for (const auto& [thread, s] : gpu.state().of_threads) {
        last.push_back(s.last);
    }
    for (const auto& s : gpu.state().streams) {
        last.push_back(s->last);
    }
    last.insert(last.end(), gpu.state().of_destroyed.begin(), gpu.state().of_destroyed.end());
    gpu.state().textures.gone.emplace_back(at, std::move(last));
    remove_finished(gpu);
}

#pragma GCC visibility push(default)
extern "C" {

error cudaCreateSurfaceObject(texture_handle* out, const resource_description* resource) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr && resource != nullptr && resource->type == resource_type::array);
        gpu.must_be_alive();
        const memory::address at = place_descriptors(gpu, {descriptor_of(checked(gpu, resource->array))});
        gpu.state().textures.surfaces[at] = *resource;
        *out = at;
    });
}

error cudaDestroySurfaceObject(texture_handle handle) {
    return call([&](context& gpu, locked&) {
        if (handle != 0) {
            require(gpu.state().textures.surfaces.erase(handle) != 0);
            remove_descriptors(gpu, handle);
        }
    });
}

error cudaGetSurfaceObjectResourceDesc(resource_description* resource, texture_handle handle) {
    return call([&](context& gpu, locked&) {
        require(resource != nullptr);
        const auto found = gpu.state().textures.surfaces.find(handle);
        require(found != gpu.state().textures.surfaces.end());
        *resource = found->second;
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
