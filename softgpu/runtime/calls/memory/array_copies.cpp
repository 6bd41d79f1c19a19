// SPDX-License-Identifier: MIT
// Copies from and to arrays: cudaMemcpy2DToArray and the calls like it.
#include <algorithm>
#include <limits>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/core/streams/capture_rules.hpp"
#include "softgpu/runtime/graph/capture.hpp"
#include "softgpu/runtime/memory/arrays.hpp"
#include "softgpu/runtime/memory/copies/copies.hpp"

namespace softgpu::runtime {
namespace {

using enum host_order;

// The source or the destination of a copy of bytes: an array, from byte x of row y on, or a pointer.
struct end_of_copy {
    bool is_array = false;
    array* in = nullptr;
    std::size_t x = 0;
    std::size_t y = 0;
    void* pointer = nullptr;
    std::size_t pitch = 0;
};

pitched_pointer rows_of(context& gpu, const end_of_copy& e, std::size_t width, std::size_t height) {
    if (!e.is_array) {
        return {e.pointer, e.pitch, width, height};
    }
    const array_memory& a = checked(gpu, e.in);
    require(is_inside(e.x, width, a.row_bytes()) && is_inside(e.y, height, a.rows()));
    return {reinterpret_cast<char*>(a.data) + e.y * a.row_bytes() + e.x, a.row_bytes(), width, height};
}

// The same copy in elements, as a graph node describes it.
copy_3d in_elements(context& gpu, const end_of_copy& to, const end_of_copy& from, const copy_3d& rows) {
    copy_3d p{};
    p.kind = rows.kind;
    const std::size_t bytes = checked(gpu, to.is_array ? to.in : from.in).element.bytes();
    require(rows.extent.width % bytes == 0 && to.x % bytes == 0 && from.x % bytes == 0);
    p.extent = {rows.extent.width / bytes, rows.extent.height, 1};
    p.destination_array = to.in;
    p.source_array = from.in;
    p.destination_position = {to.x / bytes, to.y, 0};
    p.source_position = {from.x / bytes, from.y, 0};
    if (!to.is_array) {
        p.destination = rows.destination;
    }
    if (!from.is_array) {
        p.source = rows.source;
    }
    return p;
}

void copy_plane(context& gpu, locked& lock, const end_of_copy& to, const end_of_copy& from, std::size_t width,
                std::size_t height, copy_kind kind, stream& on, host_order order) {
    if (width == 0 || height == 0) {
        return;
    }
    for (const end_of_copy* e : {&to, &from}) {
        if (!e->is_array && height > 1) {
            require(e->pitch >= width, error::invalid_pitch_value);
            require(e->pitch <= largest_pitch);
        }
    }
    copy_3d rows{};
    rows.extent = {width, height, 1};
    rows.kind = kind;
    rows.destination = rows_of(gpu, to, width, height);
    rows.source = rows_of(gpu, from, width, height);
    if (order == synchronous) {
        require_safe(gpu);
    } else if (is_capturing(on)) {
        capture_copy(gpu, on, in_elements(gpu, to, from, rows));
        return;
    }
    if (!to.is_array) {
        require_accessible(gpu, to.pointer, span_of({to.pointer, to.pitch, height}, rows.extent),
                           kind == copy_kind::device_to_device);
    }
    if (!from.is_array) {
        require_accessible(gpu, from.pointer, span_of({from.pointer, from.pitch, height}, rows.extent),
                           kind == copy_kind::device_to_device);
    }
    issue_copy(gpu, lock, rows, on, order);
}

void require_kind_of(copy_kind kind, copy_kind with_host) {
    require(kind == copy_kind::automatic || kind == copy_kind::device_to_device || kind == with_host,
            error::invalid_memcpy_direction);
}

// Copies `count` bytes, which continue in the following rows.
void copy_bytes_of_rows(context& gpu, locked& lock, end_of_copy to, end_of_copy from, std::size_t count, copy_kind kind,
                        stream& on, host_order order) {
    if (count == 0) {
        return;
    }
    const auto row_of = [&](const end_of_copy& e) { return !e.is_array ? 0 : checked(gpu, e.in).row_bytes(); };
    for (const end_of_copy* e : {&to, &from}) {
        if (e->is_array) {
            const array_memory& a = checked(gpu, e->in);
            require(is_inside(e->x, 1, a.row_bytes()) && is_inside(e->y, 1, a.rows()));
            require(count <= a.row_bytes() * a.rows() - (e->y * a.row_bytes() + e->x));
        } else {
            require_accessible(gpu, e->pointer, count, kind == copy_kind::device_to_device);
        }
    }
    while (count != 0) {
        // Up to the end of a row, or as many whole rows as are left.
        std::size_t width = count;
        std::size_t whole = std::numeric_limits<std::size_t>::max(); // rows
        std::size_t row = 0;
        for (const end_of_copy* e : {&to, &from}) {
            if (const std::size_t bytes = row_of(*e); bytes != 0) {
                width = std::min(width, bytes - e->x);
                whole = e->x != 0 || (row != 0 && row != bytes) ? 1 : std::min(whole, count / bytes);
                row = bytes;
            }
        }
        const std::size_t height = width == row ? std::max<std::size_t>(1, whole) : 1;
        to.pitch = !to.is_array ? width : 0;
        from.pitch = !from.is_array ? width : 0;
        copy_plane(gpu, lock, to, from, width, height, kind, on, order);
        count -= width * height;
        for (end_of_copy* e : {&to, &from}) {
            if (!e->is_array) {
                e->pointer = static_cast<char*>(e->pointer) + width * height;
            } else if (e->x + width == row_of(*e)) {
                e->x = 0;
                e->y += height;
            } else {
                e->x += width;
            }
        }
    }
}

end_of_copy in_array(const array* a, std::size_t x, std::size_t y) {
    return {true, const_cast<array*>(a), x, y, nullptr, 0};
}

end_of_copy at(const void* pointer, std::size_t pitch) {
    return {false, nullptr, 0, 0, const_cast<void*>(pointer), pitch};
}

enum class shape : bool { plane, bytes };

// shape::bytes: `width` bytes, and `height` is ignored.
error copy(const end_of_copy& to, const end_of_copy& from, std::size_t width, std::size_t height, copy_kind kind,
           stream* on, shape what, host_order order) {
    return call([&](context& gpu, locked& lock) {
        gpu.require_usable();
        require_kind_of(kind, !to.is_array     ? copy_kind::device_to_host
                              : !from.is_array ? copy_kind::host_to_device
                                               : copy_kind::device_to_device);
        stream& order_of = gpu.checked(on);
        if (what == shape::plane) {
            copy_plane(gpu, lock, to, from, width, height, kind, order_of, order);
        } else {
            copy_bytes_of_rows(gpu, lock, to, from, width, kind, order_of, order);
        }
    });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaMemcpy2DToArray(array* to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                          std::size_t width, std::size_t height, copy_kind kind) {
    return copy(in_array(to, x, y), at(from, pitch), width, height, kind, nullptr, shape::plane, synchronous);
}

error cudaMemcpy2DToArray_ptds(array* to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                               std::size_t width, std::size_t height, copy_kind kind) {
    return copy(in_array(to, x, y), at(from, pitch), width, height, kind, of_this_thread(nullptr), shape::plane,
                synchronous);
}

error cudaMemcpy2DToArrayAsync(array* to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                               std::size_t width, std::size_t height, copy_kind kind, stream* on) {
    return copy(in_array(to, x, y), at(from, pitch), width, height, kind, on, shape::plane, asynchronous);
}

error cudaMemcpy2DToArrayAsync_ptsz(array* to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                                    std::size_t width, std::size_t height, copy_kind kind, stream* on) {
    return cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, of_this_thread(on));
}

error cudaMemcpy2DFromArray(void* to, std::size_t pitch, const array* from, std::size_t x, std::size_t y,
                            std::size_t width, std::size_t height, copy_kind kind) {
    return copy(at(to, pitch), in_array(from, x, y), width, height, kind, nullptr, shape::plane, synchronous);
}

error cudaMemcpy2DFromArray_ptds(void* to, std::size_t pitch, const array* from, std::size_t x, std::size_t y,
                                 std::size_t width, std::size_t height, copy_kind kind) {
    return copy(at(to, pitch), in_array(from, x, y), width, height, kind, of_this_thread(nullptr), shape::plane,
                synchronous);
}

error cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, const array* from, std::size_t x, std::size_t y,
                                 std::size_t width, std::size_t height, copy_kind kind, stream* on) {
    return copy(at(to, pitch), in_array(from, x, y), width, height, kind, on, shape::plane, asynchronous);
}

error cudaMemcpy2DFromArrayAsync_ptsz(void* to, std::size_t pitch, const array* from, std::size_t x, std::size_t y,
                                      std::size_t width, std::size_t height, copy_kind kind, stream* on) {
    return cudaMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, of_this_thread(on));
}

error cudaMemcpy2DArrayToArray(array* to, std::size_t to_x, std::size_t to_y, const array* from, std::size_t from_x,
                               std::size_t from_y, std::size_t width, std::size_t height, copy_kind kind) {
    return copy(in_array(to, to_x, to_y), in_array(from, from_x, from_y), width, height, kind, nullptr, shape::plane,
                synchronous);
}

error cudaMemcpy2DArrayToArray_ptds(array* to, std::size_t to_x, std::size_t to_y, const array* from,
                                    std::size_t from_x, std::size_t from_y, std::size_t width, std::size_t height,
                                    copy_kind kind) {
    return copy(in_array(to, to_x, to_y), in_array(from, from_x, from_y), width, height, kind, of_this_thread(nullptr),
                shape::plane, synchronous);
}

error cudaMemcpyToArray(array* to, std::size_t x, std::size_t y, const void* from, std::size_t count, copy_kind kind) {
    return copy(in_array(to, x, y), at(from, 0), count, 1, kind, nullptr, shape::bytes, synchronous);
}

error cudaMemcpyToArray_ptds(array* to, std::size_t x, std::size_t y, const void* from, std::size_t count,
                             copy_kind kind) {
    return copy(in_array(to, x, y), at(from, 0), count, 1, kind, of_this_thread(nullptr), shape::bytes, synchronous);
}

error cudaMemcpyToArrayAsync(array* to, std::size_t x, std::size_t y, const void* from, std::size_t count,
                             copy_kind kind, stream* on) {
    return copy(in_array(to, x, y), at(from, 0), count, 1, kind, on, shape::bytes, asynchronous);
}

error cudaMemcpyToArrayAsync_ptsz(array* to, std::size_t x, std::size_t y, const void* from, std::size_t count,
                                  copy_kind kind, stream* on) {
    return cudaMemcpyToArrayAsync(to, x, y, from, count, kind, of_this_thread(on));
}

error cudaMemcpyFromArray(void* to, const array* from, std::size_t x, std::size_t y, std::size_t count,
                          copy_kind kind) {
    return copy(at(to, 0), in_array(from, x, y), count, 1, kind, nullptr, shape::bytes, synchronous);
}

error cudaMemcpyFromArray_ptds(void* to, const array* from, std::size_t x, std::size_t y, std::size_t count,
                               copy_kind kind) {
    return copy(at(to, 0), in_array(from, x, y), count, 1, kind, of_this_thread(nullptr), shape::bytes, synchronous);
}

error cudaMemcpyFromArrayAsync(void* to, const array* from, std::size_t x, std::size_t y, std::size_t count,
                               copy_kind kind, stream* on) {
    return copy(at(to, 0), in_array(from, x, y), count, 1, kind, on, shape::bytes, asynchronous);
}

error cudaMemcpyFromArrayAsync_ptsz(void* to, const array* from, std::size_t x, std::size_t y, std::size_t count,
                                    copy_kind kind, stream* on) {
    return cudaMemcpyFromArrayAsync(to, from, x, y, count, kind, of_this_thread(on));
}

error cudaMemcpyArrayToArray(array* to, std::size_t to_x, std::size_t to_y, const array* from, std::size_t from_x,
                             std::size_t from_y, std::size_t count, copy_kind kind) {
    return copy(in_array(to, to_x, to_y), in_array(from, from_x, from_y), count, 1, kind, nullptr, shape::bytes,
                synchronous);
}

error cudaMemcpyArrayToArray_ptds(array* to, std::size_t to_x, std::size_t to_y, const array* from, std::size_t from_x,
                                  std::size_t from_y, std::size_t count, copy_kind kind) {
    return copy(in_array(to, to_x, to_y), in_array(from, from_x, from_y), count, 1, kind, of_this_thread(nullptr),
                shape::bytes, synchronous);
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
