// SPDX-License-Identifier: MIT
// Copies and fills.
#include <cstdint>

#include "softgpu/runtime/calls/driver/driver_call.hpp"
#include "softgpu/runtime/calls/driver/memory/boxes.hpp"
#include "softgpu/runtime/calls/driver/runtime_calls.hpp"
#include "softgpu/runtime/calls/memory/batches.hpp"
#include "softgpu/runtime/graph/enqueue.hpp"
#include "softgpu/runtime/memory/copies/copies.hpp"

namespace softgpu::runtime {
namespace {

using enum host_order;

result copy(void* destination, const void* source, std::size_t bytes, copy_kind kind, stream* on, host_order order) {
    return on_device(on, [&](context& gpu, locked& lock) {
        gpu.require_usable();
        enqueue_copy(gpu, lock, destination, source, bytes, kind, gpu.checked(on), order);
    });
}

template <class Copy>
result copy_box(const Copy* c, stream* handle, host_order order) {
    return on_device(handle, [&](context& gpu, locked& lock) {
        require(c != nullptr);
        gpu.require_usable();
        stream& on = gpu.checked(handle);
        const copy_3d same = copy_of(gpu, *c);
        if (!is_empty(same.extent)) {
            enqueue_copy(gpu, lock, same, on, order);
        }
    });
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
        constexpr std::size_t all_addresses = std::size_t{1} << 47;
        require(at % sizeof(Element) == 0 && width <= all_addresses / sizeof(Element));
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
        return copy(destination_pointer, source_pointer, bytes, kind, nullptr, synchronous);                           \
    }                                                                                                                  \
    result name##_v2_ptds(destination_type to, source_type from, std::size_t bytes) {                                  \
        return copy(destination_pointer, source_pointer, bytes, kind, own(), synchronous);                             \
    }                                                                                                                  \
    result name##Async_v2(destination_type to, source_type from, std::size_t bytes, stream* on) {                      \
        return copy(destination_pointer, source_pointer, bytes, kind, on, asynchronous);                               \
    }                                                                                                                  \
    result name##Async_v2_ptsz(destination_type to, source_type from, std::size_t bytes, stream* on) {                 \
        return copy(destination_pointer, source_pointer, bytes, kind, own(on), asynchronous);                          \
    }

SOFTGPU_COPY(cuMemcpyHtoD, device_address, const void*, pointer_to(to), from, copy_kind::host_to_device)
SOFTGPU_COPY(cuMemcpyDtoH, void*, device_address, to, pointer_to(from), copy_kind::device_to_host)
SOFTGPU_COPY(cuMemcpyDtoD, device_address, device_address, pointer_to(to), pointer_to(from),
             copy_kind::device_to_device)
#undef SOFTGPU_COPY

result cuMemcpy(device_address to, device_address from, std::size_t bytes) {
    return copy(pointer_to(to), pointer_to(from), bytes, copy_kind::automatic, nullptr, synchronous);
}

result cuMemcpy_ptds(device_address to, device_address from, std::size_t bytes) {
    return copy(pointer_to(to), pointer_to(from), bytes, copy_kind::automatic, own(), synchronous);
}

result cuMemcpyAsync(device_address to, device_address from, std::size_t bytes, stream* on) {
    return copy(pointer_to(to), pointer_to(from), bytes, copy_kind::automatic, on, asynchronous);
}

result cuMemcpyAsync_ptsz(device_address to, device_address from, std::size_t bytes, stream* on) {
    return copy(pointer_to(to), pointer_to(from), bytes, copy_kind::automatic, own(on), asynchronous);
}

result cuMemcpyPeer(device_address to, driver_context*, device_address from, driver_context*, std::size_t bytes) {
    return copy(pointer_to(to), pointer_to(from), bytes, copy_kind::device_to_device, nullptr, synchronous);
}

result cuMemcpyPeerAsync(device_address to, driver_context*, device_address from, driver_context*, std::size_t bytes,
                         stream* on) {
    return copy(pointer_to(to), pointer_to(from), bytes, copy_kind::device_to_device, on, asynchronous);
}

result cuMemcpy2D_v2(const driver_copy_2d* c) { return copy_box(c, nullptr, synchronous); }

result cuMemcpy2D_v2_ptds(const driver_copy_2d* c) { return copy_box(c, own(), synchronous); }

result cuMemcpy2DUnaligned_v2(const driver_copy_2d* c) { return copy_box(c, nullptr, synchronous); }

result cuMemcpy2DUnaligned_v2_ptds(const driver_copy_2d* c) { return copy_box(c, own(), synchronous); }

result cuMemcpy2DAsync_v2(const driver_copy_2d* c, stream* on) { return copy_box(c, on, asynchronous); }

result cuMemcpy2DAsync_v2_ptsz(const driver_copy_2d* c, stream* on) { return copy_box(c, own(on), asynchronous); }

result cuMemcpy3D_v2(const driver_copy_3d* c) { return copy_box(c, nullptr, synchronous); }

result cuMemcpy3D_v2_ptds(const driver_copy_3d* c) { return copy_box(c, own(), synchronous); }

result cuMemcpy3DAsync_v2(const driver_copy_3d* c, stream* on) { return copy_box(c, on, asynchronous); }

result cuMemcpy3DAsync_v2_ptsz(const driver_copy_3d* c, stream* on) { return copy_box(c, own(on), asynchronous); }

// CUDA_MEMCPY3D_PEER has contexts where CUDA_MEMCPY3D has reserved words. An address tells its device.
result cuMemcpy3DPeer(const driver_copy_3d* c) { return copy_box(c, nullptr, synchronous); }

result cuMemcpy3DPeer_ptds(const driver_copy_3d* c) { return copy_box(c, own(), synchronous); }

result cuMemcpy3DPeerAsync(const driver_copy_3d* c, stream* on) { return copy_box(c, on, asynchronous); }

result cuMemcpy3DPeerAsync_ptsz(const driver_copy_3d* c, stream* on) { return copy_box(c, own(on), asynchronous); }

// Arrays of one row, from a byte on.
result cuMemcpyHtoA_v2(array* to, std::size_t x, const void* from, std::size_t bytes) {
    return forward(cudaMemcpyToArray, to, x, 0u, from, bytes, copy_kind::host_to_device);
}

result cuMemcpyHtoAAsync_v2(array* to, std::size_t x, const void* from, std::size_t bytes, stream* on) {
    return forward(cudaMemcpyToArrayAsync, to, x, 0u, from, bytes, copy_kind::host_to_device, on);
}

result cuMemcpyAtoH_v2(void* to, array* from, std::size_t x, std::size_t bytes) {
    return forward(cudaMemcpyFromArray, to, from, x, 0u, bytes, copy_kind::device_to_host);
}

result cuMemcpyAtoHAsync_v2(void* to, array* from, std::size_t x, std::size_t bytes, stream* on) {
    return forward(cudaMemcpyFromArrayAsync, to, from, x, 0u, bytes, copy_kind::device_to_host, on);
}

result cuMemcpyDtoA_v2(array* to, std::size_t x, device_address from, std::size_t bytes) {
    return forward(cudaMemcpyToArray, to, x, 0u, pointer_to(from), bytes, copy_kind::device_to_device);
}

result cuMemcpyAtoD_v2(device_address to, array* from, std::size_t x, std::size_t bytes) {
    return forward(cudaMemcpyFromArray, pointer_to(to), from, x, 0u, bytes, copy_kind::device_to_device);
}

result cuMemcpyAtoA_v2(array* to, std::size_t to_x, array* from, std::size_t from_x, std::size_t bytes) {
    return forward(cudaMemcpyArrayToArray, to, to_x, 0u, from, from_x, 0u, bytes, copy_kind::device_to_device);
}

result cuMemcpyBatchAsync_v2(device_address* to, device_address* from, std::size_t* sizes, std::size_t count, void*,
                             std::size_t* attribute_indices, std::size_t attribute_count, stream* on) {
    return on_device(on, [&](context& gpu, locked& lock) {
        copy_batch(gpu, lock, reinterpret_cast<void* const*>(to), reinterpret_cast<const void* const*>(from), sizes,
                   count, attribute_indices, attribute_count, on);
    });
}

// Of CUDA 12.8: names the copy that failed, if it is a particular one.
result cuMemcpyBatchAsync(device_address* to, device_address* from, std::size_t* sizes, std::size_t count,
                          void* attributes, std::size_t* attribute_indices, std::size_t attribute_count,
                          std::size_t* failed, stream* on) {
    if (failed != nullptr) {
        *failed = static_cast<std::size_t>(-1); // no particular one
    }
    return cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, attribute_indices, attribute_count, on);
}

result cuMemcpy3DBatchAsync_v2(std::size_t count, batch_operation* operations, unsigned long long flags, stream* on) {
    return on_device(on,
                     [&](context& gpu, locked& lock) { copy_batch_of_boxes(gpu, lock, operations, count, flags, on); });
}

#define SOFTGPU_FILL(bits, element)                                                                                    \
    result cuMemsetD##bits##_v2(device_address at, element value, std::size_t count) {                                 \
        return fill(at, 0, value, count, 1, nullptr, synchronous);                                                     \
    }                                                                                                                  \
    result cuMemsetD##bits##_v2_ptds(device_address at, element value, std::size_t count) {                            \
        return fill(at, 0, value, count, 1, own(), synchronous);                                                       \
    }                                                                                                                  \
    result cuMemsetD##bits##Async(device_address at, element value, std::size_t count, stream* on) {                   \
        return fill(at, 0, value, count, 1, on, asynchronous);                                                         \
    }                                                                                                                  \
    result cuMemsetD##bits##Async_ptsz(device_address at, element value, std::size_t count, stream* on) {              \
        return fill(at, 0, value, count, 1, own(on), asynchronous);                                                    \
    }                                                                                                                  \
    result cuMemsetD2D##bits##_v2(device_address at, std::size_t pitch, element value, std::size_t width,              \
                                  std::size_t height) {                                                                \
        return fill(at, pitch, value, width, height, nullptr, synchronous);                                            \
    }                                                                                                                  \
    result cuMemsetD2D##bits##_v2_ptds(device_address at, std::size_t pitch, element value, std::size_t width,         \
                                       std::size_t height) {                                                           \
        return fill(at, pitch, value, width, height, own(), synchronous);                                              \
    }                                                                                                                  \
    result cuMemsetD2D##bits##Async(device_address at, std::size_t pitch, element value, std::size_t width,            \
                                    std::size_t height, stream* on) {                                                  \
        return fill(at, pitch, value, width, height, on, asynchronous);                                                \
    }                                                                                                                  \
    result cuMemsetD2D##bits##Async_ptsz(device_address at, std::size_t pitch, element value, std::size_t width,       \
                                         std::size_t height, stream* on) {                                             \
        return fill(at, pitch, value, width, height, own(on), asynchronous);                                           \
    }

SOFTGPU_FILL(8, unsigned char)
SOFTGPU_FILL(16, unsigned short)
SOFTGPU_FILL(32, unsigned)
#undef SOFTGPU_FILL

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
