// SPDX-License-Identifier: MIT
#include "softgpu/runtime/texture/descriptors.hpp"

#include <algorithm>
#include <cstring>

#include "softgpu/runtime/core/executor.hpp"

namespace softgpu::runtime {
namespace {

// Descriptors of destroyed objects, with the operations that may still read them.
struct removed_descriptors final : device_part {
    std::vector<std::pair<memory::address, std::vector<operation_pointer>>> list;
};

void remove_finished(context& gpu) {
    std::erase_if(gpu.part<removed_descriptors>().list, [&](const auto& g) {
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
    gpu.part<removed_descriptors>().list.emplace_back(at, gpu.streams().last_operations());
    remove_finished(gpu);
}

} // namespace softgpu::runtime
