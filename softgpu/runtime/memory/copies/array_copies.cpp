// SPDX-License-Identifier: MIT
#include "softgpu/runtime/memory/copies/array_copies.hpp"

#include <cstdio>
#include <string>
#include <string_view>

#include "softgpu/runtime/core/device_group.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/memory/arrays.hpp"
#include "softgpu/runtime/memory/copies/copies.hpp"

namespace softgpu::runtime {
namespace {

// The same copy between pitched memory: sizes in bytes, rows from the first one that is copied. Throws what CUDA returns if
// an array does not exist or does not have these elements. The memory behind pointers is not checked.
copy_3d without_arrays(context& gpu, const copy_3d& asked) {
    copy_3d p = asked;
    if (p.source_array == nullptr && p.destination_array == nullptr) {
        return p;
    }
    require(p.source_array == nullptr || p.source.pointer == nullptr);
    require(p.destination_array == nullptr || p.destination.pointer == nullptr);
    require_kind(p.kind);
    const array_memory* const from = p.source_array != nullptr ? &checked(gpu, p.source_array) : nullptr;
    const array_memory* const to = p.destination_array != nullptr ? &checked(gpu, p.destination_array) : nullptr;
    require(from == nullptr || (p.kind != copy_kind::host_to_device && p.kind != copy_kind::host_to_host));
    require(to == nullptr || (p.kind != copy_kind::device_to_host && p.kind != copy_kind::host_to_host));
    require(from == nullptr || to == nullptr || from->element.bytes() == to->element.bytes());
    const std::size_t bytes = (to != nullptr ? to : from)->element.bytes();
    const extent& size = asked.extent;
    require(size.width <= largest_pitch);
    const auto resolve = [&](const array_memory* a, array*& handle, position& start, pitched_pointer& rows) {
        if (a == nullptr) {
            require(size.depth == 1 || rows.height == 0 || rows.height >= size.height, error::invalid_pitch_value);
            require(start.x <= largest_pitch);
            start.x *= bytes; // in elements of the array, unlike the CUDA guide says: measured on an H200
            return;
        }
        require(is_inside(start.x, size.width, a->size.width) && is_inside(start.y, size.height, a->rows()) &&
                is_inside(start.z, size.depth, a->slices()));
        rows = {reinterpret_cast<char*>(a->data) + (start.z * a->rows() + start.y) * a->row_bytes() + start.x * bytes,
                a->row_bytes(), size.width * bytes, a->rows()};
        start = {};
        handle = nullptr;
    };
    resolve(from, p.source_array, p.source_position, p.source);
    resolve(to, p.destination_array, p.destination_position, p.destination);
    p.extent.width = size.width * bytes;
    for (const auto* side : {&p.source, &p.destination}) {
        const position& start = side == &p.source ? p.source_position : p.destination_position;
        const bool one_row = size.height == 1 && size.depth == 1;
        require(one_row || (is_inside(start.x, p.extent.width, side->pitch) && side->pitch <= largest_pitch));
    }
    return p;
}

constexpr std::string_view pageable_memory = "pageable memory of the host";

std::string_view kind_of_memory(context& gpu, const void* pointer) {
    const auto at = reinterpret_cast<memory::address>(pointer);
    const memory::device_memory& memory = memory_of(gpu, pointer);
    const auto found = memory.find(at);
    if (!found && !memory.reserves(at)) {
        return pageable_memory;
    }
    return found && found->kind == memory::allocation_kind::host_mapped ? "pinned memory of the host" : "device memory";
}

std::string wrong_direction(context& gpu, copy_kind kind, const void* from, const void* to) {
    const auto side = [&](const char* which, const void* pointer) {
        char address[24];
        std::snprintf(address, sizeof address, " %p is ", pointer);
        return which + (address + std::string(kind_of_memory(gpu, pointer)));
    };
    return std::string("a copy from ") + (has_device_source(kind) ? "device" : "host") + " to " +
           (has_device_destination(kind) ? "device" : "host") + ": " + side("the source", from) + ", " +
           side("the destination", to);
}

} // namespace

copy_3d require_copy(context& gpu, const copy_3d& asked) {
    const copy_3d p = without_arrays(gpu, asked);
    const extent& size = p.extent;
    require_kind(p.kind);
    if (size.height != 1 || size.depth != 1) {
        require(p.destination.pitch >= size.width && p.source.pitch >= size.width, error::invalid_pitch_value);
        require(p.destination.pitch <= largest_pitch && p.source.pitch <= largest_pitch);
    }
    const bool one_slice = size.depth == 1;
    require(one_slice || p.destination.height == 0 || p.destination.height >= size.height);
    require(one_slice || p.source.height == 0 || p.source.height >= size.height);
    const block_of_rows to = rows_at(p.destination, p.destination_position, size);
    const block_of_rows from = rows_at(p.source, p.source_position, size);
    const auto require_side = [&](const block_of_rows& rows, bool on_device) {
        try {
            require_accessible(gpu, rows.base, span_of(rows, size), on_device);
        } catch (const failure& f) {
            if (on_device && rows.base != nullptr && kind_of_memory(gpu, rows.base) == pageable_memory) {
                fail(f.code, wrong_direction(gpu, p.kind, from.base, to.base));
            }
            throw;
        }
    };
    if (asked.destination_array == nullptr) {
        require_side(to, has_device_destination(p.kind));
    }
    if (asked.source_array == nullptr) {
        require_side(from, has_device_source(p.kind));
    }
    return p;
}

} // namespace softgpu::runtime
