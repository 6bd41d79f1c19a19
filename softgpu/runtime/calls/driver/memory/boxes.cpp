// SPDX-License-Identifier: MIT
#include "softgpu/runtime/calls/driver/memory/boxes.hpp"

#include <algorithm>

#include "softgpu/runtime/calls/driver/driver_call.hpp"
#include "softgpu/runtime/memory/arrays.hpp"
#include "softgpu/runtime/memory/copies/copies.hpp"

namespace softgpu::runtime {
namespace {

// One side of a copy of a box, in bytes.
struct side {
    std::size_t x;
    std::size_t y;
    std::size_t z;
    driver_memory_type type;
    void* host;
    device_address device;
    array* in;
    std::size_t pitch;
    std::size_t height;
};

struct box {
    side from;
    side to;
    extent size; // bytes, rows, slices
};

bool is_array(const side& s) { return s.type == driver_memory_type::array; }

void* base_of(const side& s) { return s.type == driver_memory_type::host ? s.host : pointer_to(s.device); }

copy_kind kind_of(const box& b) {
    const auto on_host = [](const side& s) { return s.type == driver_memory_type::host; };
    const bool unified = b.from.type == driver_memory_type::unified || b.to.type == driver_memory_type::unified;
    if (unified) {
        return copy_kind::automatic;
    }
    if (on_host(b.from)) {
        return on_host(b.to) ? copy_kind::host_to_host : copy_kind::host_to_device;
    }
    return on_host(b.to) ? copy_kind::device_to_host : copy_kind::device_to_device;
}

// Bytes of an array's element; 1 for memory without elements.
std::size_t element_bytes(context& gpu, const side& s) { return is_array(s) ? checked(gpu, s.in).element.bytes() : 1; }

// The runtime counts in elements if an array takes part, `unit` bytes each; the place of a row of memory, which need not be a
// multiple of them, goes into the pointer then.
void place(const side& s, const extent& size, std::size_t unit, array*& in, position& at, pitched_pointer& memory) {
    require(s.type >= driver_memory_type::host && s.type <= driver_memory_type::unified);
    if (is_array(s)) {
        require(s.x % unit == 0);
        in = s.in;
        at = {s.x / unit, s.y, s.z};
        return;
    }
    const std::size_t pitch = s.pitch != 0 ? s.pitch : size.width + s.x;
    require((size.height == 1 && size.depth == 1) || is_inside(s.x, size.width, pitch));
    auto* const base = static_cast<char*>(base_of(s));
    at = {unit == 1 ? s.x : 0, s.y, s.z};
    memory = {unit == 1 || base == nullptr ? base : base + s.x, pitch, pitch / unit,
              s.height != 0 ? s.height : size.height + s.y};
}

copy_3d copy_of(context& gpu, const box& b) {
    const std::size_t unit = std::max(element_bytes(gpu, b.from), element_bytes(gpu, b.to));
    require(b.size.width % unit == 0);
    copy_3d c{};
    c.kind = kind_of(b);
    c.extent = {b.size.width / unit, b.size.height, b.size.depth};
    if (!is_empty(b.size)) {
        place(b.from, b.size, unit, c.source_array, c.source_position, c.source);
        place(b.to, b.size, unit, c.destination_array, c.destination_position, c.destination);
    }
    return c;
}

} // namespace

copy_3d copy_of(context& gpu, const driver_copy_2d& c) {
    return copy_of(gpu, box{.from = {c.source_x, c.source_y, 0, c.source_type, const_cast<void*>(c.source_host),
                                     c.source_device, c.source_array, c.source_pitch, c.height},
                            .to = {c.destination_x, c.destination_y, 0, c.destination_type, c.destination_host,
                                   c.destination_device, c.destination_array, c.destination_pitch, c.height},
                            .size = {c.width, c.height, 1}});
}

copy_3d copy_of(context& gpu, const driver_copy_3d& c) {
    return copy_of(gpu,
                   box{.from = {c.source_x, c.source_y, c.source_z, c.source_type, const_cast<void*>(c.source_host),
                                c.source_device, c.source_array, c.source_pitch, c.source_height},
                       .to = {c.destination_x, c.destination_y, c.destination_z, c.destination_type, c.destination_host,
                              c.destination_device, c.destination_array, c.destination_pitch, c.destination_height},
                       .size = {c.width, c.height, c.depth}});
}

driver_copy_3d driver_copy_of(context& gpu, const copy_3d& c) {
    const array* const in = c.source_array != nullptr ? c.source_array : c.destination_array;
    const std::size_t unit = in != nullptr ? checked(gpu, in).element.bytes() : 1;
    const auto type_of = [&](const array* a, bool on_device) {
        return a != nullptr                     ? driver_memory_type::array
               : c.kind == copy_kind::automatic ? driver_memory_type::unified
               : on_device                      ? driver_memory_type::device
                                                : driver_memory_type::host;
    };
    driver_copy_3d d{};
    d.source_type = type_of(c.source_array, has_device_source(c.kind));
    d.source_array = c.source_array;
    d.source_x = c.source_position.x * unit;
    d.source_y = c.source_position.y;
    d.source_z = c.source_position.z;
    if (d.source_type == driver_memory_type::host) {
        d.source_host = c.source.pointer;
    } else {
        d.source_device = reinterpret_cast<device_address>(c.source.pointer);
    }
    d.source_pitch = c.source.pitch;
    d.source_height = c.source.height;
    d.destination_type = type_of(c.destination_array, has_device_destination(c.kind));
    d.destination_array = c.destination_array;
    d.destination_x = c.destination_position.x * unit;
    d.destination_y = c.destination_position.y;
    d.destination_z = c.destination_position.z;
    if (d.destination_type == driver_memory_type::host) {
        d.destination_host = c.destination.pointer;
    } else {
        d.destination_device = reinterpret_cast<device_address>(c.destination.pointer);
    }
    d.destination_pitch = c.destination.pitch;
    d.destination_height = c.destination.height;
    d.width = c.extent.width * unit;
    d.height = c.extent.height;
    d.depth = c.extent.depth;
    return d;
}

} // namespace softgpu::runtime
