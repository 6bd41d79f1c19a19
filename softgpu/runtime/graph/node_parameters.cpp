// SPDX-License-Identifier: MIT
#include "softgpu/runtime/graph/node_parameters.hpp"

#include <cstdint>
#include <cstring>
#include <limits>

#include "softgpu/runtime/core/device_group.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/memory/copies/array_copies.hpp"

namespace softgpu::runtime {
namespace {

// Arguments in one buffer: `extra` holds pairs of a key and a value, up to a null key.
std::vector<std::byte> packed_by_caller(const machine::kernel_facts& facts, void** extra) {
    constexpr std::uintptr_t buffer_pointer = 1;
    constexpr std::uintptr_t buffer_size = 2;
    const void* buffer = nullptr;
    std::size_t bytes = 0;
    for (; *extra != nullptr; extra += 2) {
        const auto key = reinterpret_cast<std::uintptr_t>(extra[0]);
        require(key == buffer_pointer || key == buffer_size);
        if (key == buffer_pointer) {
            buffer = extra[1];
        } else {
            bytes = *static_cast<const std::size_t*>(extra[1]);
        }
    }
    require(buffer != nullptr && bytes >= facts.parameter_bytes);
    std::vector<std::byte> packed(std::max(facts.parameter_bytes, 1u));
    std::memcpy(packed.data(), buffer, facts.parameter_bytes);
    return packed;
}

bool is_linear(const copy_work& w) { return w.rows.extent.height == 1 && w.rows.extent.depth == 1; }

bool is_linear(const fill_work& w) { return w.height == 1; }

// Whether both are device memory or both host memory.
bool same_side(context& gpu, const void* a, const void* b) {
    const auto first = memory_of(gpu, a).find(reinterpret_cast<memory::address>(a));
    const auto second = memory_of(gpu, b).find(reinterpret_cast<memory::address>(b));
    const auto on_device = [](const auto& found) {
        return found && found->kind != memory::allocation_kind::host_mapped;
    };
    return on_device(first) == on_device(second);
}

} // namespace

context& home_of_kernel(context& gpu, const void* function) {
    const int only = function_of(function).only_on;
    return only < 0 ? gpu : gpu.group().at(only);
}

graph_kernel kernel_work_of(context& gpu, const kernel_parameters& p) {
    context& home = home_of_kernel(gpu, p.function);
    auto work = std::make_shared<kernel_work>();
    work->what = &function_of(p.function);
    work->grid = p.grid;
    work->block = p.block;
    work->dynamic_shared_bytes = p.dynamic_shared_bytes;
    require_launchable(home, *work);
    apply_limits(home, *work);
    const machine::kernel_facts& facts = *work->image.facts;
    require(p.arguments == nullptr || p.extra == nullptr);
    work->parameters = p.extra != nullptr ? packed_by_caller(facts, p.extra) : pack_arguments(facts, p.arguments);
    return with_arguments(std::move(work));
}

kernel_parameters parameters_of(const graph_kernel& k) {
    return {.function = const_cast<void*>(k.work->what->host),
            .grid = k.work->grid,
            .block = k.work->block,
            .dynamic_shared_bytes = static_cast<unsigned>(k.work->dynamic_shared_bytes),
            .arguments = k.arguments.empty() ? nullptr : const_cast<void**>(k.arguments.data()),
            .extra = nullptr};
}

fill_work fill_work_of(context& gpu, const fill_parameters& p) {
    require(p.element_bytes == 1 || p.element_bytes == 2 || p.element_bytes == 4);
    require(p.width != 0 && p.height != 0);
    require(p.width <= std::numeric_limits<std::size_t>::max() / p.element_bytes);
    const std::size_t row = p.width * p.element_bytes;
    require(p.height == 1 || (p.pitch >= row && p.pitch % p.element_bytes == 0));
    require(reinterpret_cast<std::uintptr_t>(p.destination) % p.element_bytes == 0);
    const std::size_t pitch = p.height == 1 ? row : p.pitch;
    require_accessible(gpu, p.destination, span_of({p.destination, pitch, p.height}, {row, p.height, 1}), true);
    return {.base = p.destination,
            .pitch = pitch,
            .value = p.value,
            .element_bytes = p.element_bytes,
            .width = p.width,
            .height = p.height,
            .depth = 1,
            .slice_rows = p.height};
}

fill_parameters parameters_of(const fill_work& w) {
    return {.destination = w.base,
            .pitch = w.pitch,
            .value = w.value,
            .element_bytes = w.element_bytes,
            .width = w.width,
            .height = w.height};
}

copy_work copy_work_of(context& gpu, const copy_3d& p) {
    require(!is_empty(p.extent));
    return {.what = p, .rows = require_copy(gpu, p)};
}

update_result can_replace(context& gpu, const graph_node& now, const graph_node& next) {
    if (now.type != next.type) {
        return update_result::node_type_changed;
    }
    switch (now.type) {
    case node_type::kernel:
        return std::get<graph_kernel>(now.work).work->cooperative == std::get<graph_kernel>(next.work).work->cooperative
                   ? update_result::success
                   : update_result::attributes_changed;
    case node_type::copy: {
        const auto& a = std::get<copy_work>(now.work);
        const auto& b = std::get<copy_work>(next.work);
        const bool same_shape = is_linear(a) && is_linear(b);
        const bool same_extent = a.rows.extent.width == b.rows.extent.width &&
                                 a.rows.extent.height == b.rows.extent.height &&
                                 a.rows.extent.depth == b.rows.extent.depth;
        return (same_shape || same_extent) && same_side(gpu, a.rows.source.pointer, b.rows.source.pointer) &&
                       same_side(gpu, a.rows.destination.pointer, b.rows.destination.pointer)
                   ? update_result::success
                   : update_result::parameters_changed;
    }
    case node_type::fill: {
        const auto& a = std::get<fill_work>(now.work);
        const auto& b = std::get<fill_work>(next.work);
        const bool same =
            a.width == b.width && a.height == b.height && a.element_bytes == b.element_bytes && a.pitch == b.pitch;
        return same || (is_linear(a) && is_linear(b)) ? update_result::success : update_result::parameters_changed;
    }
    case node_type::allocate:
    case node_type::free:
        return std::get<memory_work>(now.work).what == std::get<memory_work>(next.work).what
                   ? update_result::success
                   : update_result::parameters_changed;
    case node_type::conditional: {
        const auto& a = std::get<conditional_work>(now.work);
        const auto& b = std::get<conditional_work>(next.work);
        return a.type == b.type && a.bodies.size() == b.bodies.size() ? update_result::success
                                                                      : update_result::parameters_changed;
    }
    default: return update_result::success;
    }
}

host_work host_work_of(const host_parameters& p) {
    require(p.function != nullptr);
    return {p.function, p.user};
}

event_work event_work_of(context& gpu, event* e, node_type of) {
    (of == node_type::event_wait ? home_of(gpu, e) : gpu).checked(e);
    return {e};
}

graph_node node_with(context& gpu, const node_parameters& p) {
    graph_node n;
    n.type = p.type;
    switch (p.type) {
    case node_type::kernel: n.work = kernel_work_of(gpu, p.kernel); return n;
    case node_type::copy: n.work = copy_work_of(gpu, p.copy.copy); return n;
    case node_type::fill: n.work = fill_work_of(gpu, p.fill); return n;
    case node_type::host: n.work = host_work_of(p.host); return n;
    case node_type::memory_batch: n.work = memory_batch_of(gpu, p.memory_batch); return n;
    case node_type::event_wait:
    case node_type::event_record: n.work = event_work_of(gpu, p.event.event, p.type); return n;
    default: fail(error::invalid_value);
    }
}

} // namespace softgpu::runtime
