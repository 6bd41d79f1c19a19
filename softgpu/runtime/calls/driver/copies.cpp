// SPDX-License-Identifier: MIT
// Copies and fills.
#include <cstdint>

#include "softgpu/runtime/calls/driver/driver_call.hpp"
#include "softgpu/runtime/calls/driver/runtime_calls.hpp"
#include "softgpu/runtime/graph/enqueue.hpp"
#include "softgpu/runtime/memory/arrays.hpp"
#include "softgpu/runtime/memory/copies.hpp"

namespace softgpu::runtime {
namespace {

constexpr auto now = host_order::synchronous;
constexpr auto later = host_order::asynchronous;

result copy(void* destination, const void* source, std::size_t bytes, copy_kind kind, stream* on, host_order order) {
    return on_device(on, [&](context& gpu, locked& lock) {
        gpu.require_usable();
        enqueue_copy(gpu, lock, destination, source, bytes, kind, gpu.checked(on), order);
    });
}

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

box box_of(const driver_copy_2d& c) {
    return {.from = {c.source_x, c.source_y, 0, c.source_type, const_cast<void*>(c.source_host), c.source_device,
                     c.source_array, c.source_pitch, c.height},
            .to = {c.destination_x, c.destination_y, 0, c.destination_type, c.destination_host, c.destination_device,
                   c.destination_array, c.destination_pitch, c.height},
            .size = {c.width, c.height, 1}};
}

box box_of(const driver_copy_3d& c) {
    return {.from = {c.source_x, c.source_y, c.source_z, c.source_type, const_cast<void*>(c.source_host),
                     c.source_device, c.source_array, c.source_pitch, c.source_height},
            .to = {c.destination_x, c.destination_y, c.destination_z, c.destination_type, c.destination_host,
                   c.destination_device, c.destination_array, c.destination_pitch, c.destination_height},
            .size = {c.width, c.height, c.depth}};
}

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
std::size_t element_bytes(context& gpu, const side& s) {
    return s.type == driver_memory_type::array ? checked(gpu, s.in).element.bytes() : 1;
}

// The runtime counts in elements if an array takes part: those of the array.
void place(const side& s, const extent& size, std::size_t unit, std::size_t element, array*& in, position& at,
           pitched_pointer& memory) {
    require(s.type >= driver_memory_type::host && s.type <= driver_memory_type::unified);
    require(s.x % element == 0);
    at = {s.x / element, s.y, s.z};
    if (s.type == driver_memory_type::array) {
        in = s.in;
        return;
    }
    const std::size_t pitch = s.pitch != 0 ? s.pitch : size.width + s.x;
    memory = {base_of(s), pitch, pitch / unit, s.height != 0 ? s.height : size.height + s.y};
}

result copy_box(const box& b, stream* handle, host_order order) {
    return on_device(handle, [&](context& gpu, locked& lock) {
        gpu.require_usable();
        stream& on = gpu.checked(handle);
        if (is_empty(b.size)) {
            return;
        }
        const std::size_t unit = std::max(element_bytes(gpu, b.from), element_bytes(gpu, b.to));
        require(b.size.width % unit == 0);
        const bool with_array = b.from.type == driver_memory_type::array || b.to.type == driver_memory_type::array;
        copy_3d c{};
        c.kind = kind_of(b);
        c.extent = {b.size.width / unit, b.size.height, b.size.depth};
        const auto element_of = [&](const side& s) {
            return with_array && s.type == driver_memory_type::array ? unit : std::size_t{1};
        };
        place(b.from, b.size, unit, element_of(b.from), c.source_array, c.source_position, c.source);
        place(b.to, b.size, unit, element_of(b.to), c.destination_array, c.destination_position, c.destination);
        enqueue_copy(gpu, lock, c, on, order);
    });
}

template <class Copy>
result copy_box(const Copy* c, stream* on, host_order order) {
    return c == nullptr ? result::invalid_value : copy_box(box_of(*c), on, order);
}

template <class Element>
result fill(device_address at, std::size_t pitch, Element value, std::size_t width, std::size_t height, stream* handle,
            host_order order) {
    return on_device(handle, [&](context& gpu, locked& lock) {
        gpu.require_usable();
        stream& on = gpu.checked(handle);
        if (width == 0 || height == 0) {
            return;
        }
        require(at % sizeof(Element) == 0 && width <= largest_pitch);
        const std::size_t row = width * sizeof(Element);
        require(height == 1 || (pitch >= row && pitch <= largest_pitch && pitch % sizeof(Element) == 0));
        const block_of_rows rows{pointer_to(at), height == 1 ? row : pitch, height};
        require_accessible(gpu, pointer_to(at), span_of(rows, {row, height, 1}), true);
        enqueue_fill(gpu, lock,
                     {.base = pointer_to(at),
                      .pitch = rows.pitch,
                      .value = value,
                      .element_bytes = sizeof(Element),
                      .width = width,
                      .height = height,
                      .slice_rows = height},
                     on, order);
    });
}

stream* own(stream* s = nullptr) { return of_this_thread(s); }

} // namespace

#pragma GCC visibility push(default)
extern "C" {

#define SOFTGPU_COPY(name, destination_type, source_type, destination_pointer, source_pointer, kind)                   \
    result name##_v2(destination_type to, source_type from, std::size_t bytes) {                                       \
        return copy(destination_pointer, source_pointer, bytes, kind, nullptr, now);                                   \
    }                                                                                                                  \
    result name##_v2_ptds(destination_type to, source_type from, std::size_t bytes) {                                  \
        return copy(destination_pointer, source_pointer, bytes, kind, own(), now);                                     \
    }                                                                                                                  \
    result name##Async_v2(destination_type to, source_type from, std::size_t bytes, stream* on) {                      \
        return copy(destination_pointer, source_pointer, bytes, kind, on, later);                                      \
    }                                                                                                                  \
    result name##Async_v2_ptsz(destination_type to, source_type from, std::size_t bytes, stream* on) {                 \
        return copy(destination_pointer, source_pointer, bytes, kind, own(on), later);                                 \
    }

SOFTGPU_COPY(cuMemcpyHtoD, device_address, const void*, pointer_to(to), from, copy_kind::host_to_device)
SOFTGPU_COPY(cuMemcpyDtoH, void*, device_address, to, pointer_to(from), copy_kind::device_to_host)
SOFTGPU_COPY(cuMemcpyDtoD, device_address, device_address, pointer_to(to), pointer_to(from),
             copy_kind::device_to_device)
#undef SOFTGPU_COPY

result cuMemcpy(device_address to, device_address from, std::size_t bytes) {
    return copy(pointer_to(to), pointer_to(from), bytes, copy_kind::automatic, nullptr, now);
}

result cuMemcpy_ptds(device_address to, device_address from, std::size_t bytes) {
    return copy(pointer_to(to), pointer_to(from), bytes, copy_kind::automatic, own(), now);
}

result cuMemcpyAsync(device_address to, device_address from, std::size_t bytes, stream* on) {
    return copy(pointer_to(to), pointer_to(from), bytes, copy_kind::automatic, on, later);
}

result cuMemcpyAsync_ptsz(device_address to, device_address from, std::size_t bytes, stream* on) {
    return copy(pointer_to(to), pointer_to(from), bytes, copy_kind::automatic, own(on), later);
}

result cuMemcpyPeer(device_address to, driver_context*, device_address from, driver_context*, std::size_t bytes) {
    return copy(pointer_to(to), pointer_to(from), bytes, copy_kind::device_to_device, nullptr, now);
}

result cuMemcpyPeerAsync(device_address to, driver_context*, device_address from, driver_context*, std::size_t bytes,
                         stream* on) {
    return copy(pointer_to(to), pointer_to(from), bytes, copy_kind::device_to_device, on, later);
}

result cuMemcpy2D_v2(const driver_copy_2d* c) { return copy_box(c, nullptr, now); }

result cuMemcpy2D_v2_ptds(const driver_copy_2d* c) { return copy_box(c, own(), now); }

result cuMemcpy2DUnaligned_v2(const driver_copy_2d* c) { return copy_box(c, nullptr, now); }

result cuMemcpy2DUnaligned_v2_ptds(const driver_copy_2d* c) { return copy_box(c, own(), now); }

result cuMemcpy2DAsync_v2(const driver_copy_2d* c, stream* on) { return copy_box(c, on, later); }

result cuMemcpy2DAsync_v2_ptsz(const driver_copy_2d* c, stream* on) { return copy_box(c, own(on), later); }

result cuMemcpy3D_v2(const driver_copy_3d* c) { return copy_box(c, nullptr, now); }

result cuMemcpy3D_v2_ptds(const driver_copy_3d* c) { return copy_box(c, own(), now); }

result cuMemcpy3DAsync_v2(const driver_copy_3d* c, stream* on) { return copy_box(c, on, later); }

result cuMemcpy3DAsync_v2_ptsz(const driver_copy_3d* c, stream* on) { return copy_box(c, own(on), later); }

#define SOFTGPU_FILL(bits, element)                                                                                    \
    result cuMemsetD##bits##_v2(device_address at, element value, std::size_t count) {                                 \
        return fill(at, 0, value, count, 1, nullptr, now);                                                             \
    }                                                                                                                  \
    result cuMemsetD##bits##_v2_ptds(device_address at, element value, std::size_t count) {                            \
        return fill(at, 0, value, count, 1, own(), now);                                                               \
    }                                                                                                                  \
    result cuMemsetD##bits##Async(device_address at, element value, std::size_t count, stream* on) {                   \
        return fill(at, 0, value, count, 1, on, later);                                                                \
    }                                                                                                                  \
    result cuMemsetD##bits##Async_ptsz(device_address at, element value, std::size_t count, stream* on) {              \
        return fill(at, 0, value, count, 1, own(on), later);                                                           \
    }                                                                                                                  \
    result cuMemsetD2D##bits##_v2(device_address at, std::size_t pitch, element value, std::size_t width,              \
                                  std::size_t height) {                                                                \
        return fill(at, pitch, value, width, height, nullptr, now);                                                    \
    }                                                                                                                  \
    result cuMemsetD2D##bits##_v2_ptds(device_address at, std::size_t pitch, element value, std::size_t width,         \
                                       std::size_t height) {                                                           \
        return fill(at, pitch, value, width, height, own(), now);                                                      \
    }                                                                                                                  \
    result cuMemsetD2D##bits##Async(device_address at, std::size_t pitch, element value, std::size_t width,            \
                                    std::size_t height, stream* on) {                                                  \
        return fill(at, pitch, value, width, height, on, later);                                                       \
    }                                                                                                                  \
    result cuMemsetD2D##bits##Async_ptsz(device_address at, std::size_t pitch, element value, std::size_t width,       \
                                         std::size_t height, stream* on) {                                             \
        return fill(at, pitch, value, width, height, own(on), later);                                                  \
    }

SOFTGPU_FILL(8, unsigned char)
SOFTGPU_FILL(16, unsigned short)
SOFTGPU_FILL(32, unsigned)
#undef SOFTGPU_FILL

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
