// SPDX-License-Identifier: MIT
// cudaMemcpy and the calls like it.
#include "softgpu/runtime/memory/copies/copies.hpp"
#include "softgpu/runtime/abi/copy.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/enqueue.hpp"

namespace softgpu::runtime {
namespace {

void require_box(const copy_3d& p) {
    if (p.source_array != nullptr || p.destination_array != nullptr) {
        return;
    }
    require_kind(p.kind);
    require(p.destination.pitch >= p.extent.width && p.source.pitch >= p.extent.width, error::invalid_pitch_value);
    require(p.destination.pitch <= largest_pitch && p.source.pitch <= largest_pitch);
    require(p.destination_position.x <= p.destination.pitch - p.extent.width &&
            p.source_position.x <= p.source.pitch - p.extent.width);
}

copy_3d without_devices(context& gpu, const copy_3d_peer& p) {
    (void)checked_device(gpu, p.source_device);
    (void)checked_device(gpu, p.destination_device);
    return {.source_array = p.source_array,
            .source_position = p.source_position,
            .source = p.source,
            .destination_array = p.destination_array,
            .destination_position = p.destination_position,
            .destination = p.destination,
            .extent = p.extent,
            .kind = copy_kind::device_to_device};
}

const copy_3d& without_devices(context&, const copy_3d& p) { return p; }

using enum host_order;

error copy_bytes(void* destination, const void* source, std::size_t bytes, copy_kind kind, stream* on,
                 host_order order) {
    return call(on, [&](context& gpu, locked& lock) {
        gpu.require_usable();
        enqueue_copy(gpu, lock, destination, source, bytes, kind, gpu.checked(on), order);
    });
}

error copy_peer(void* destination, int destination_device, const void* source, int source_device, std::size_t bytes,
                stream* on, host_order order) {
    return call(on, [&](context& gpu, locked& lock) {
        (void)checked_device(gpu, destination_device);
        (void)checked_device(gpu, source_device);
        gpu.require_usable();
        enqueue_copy(gpu, lock, destination, source, bytes, copy_kind::device_to_device, gpu.checked(on), order);
    });
}

error copy_plane(void* destination, std::size_t destination_pitch, const void* source, std::size_t source_pitch,
                 std::size_t width, std::size_t height, copy_kind kind, stream* handle, host_order order) {
    return call(handle, [&](context& gpu, locked& lock) {
        gpu.require_usable();
        stream& on = gpu.checked(handle);
        require_kind(kind);
        if (width == 0 || height == 0) {
            return;
        }
        require(destination_pitch >= width && source_pitch >= width, error::invalid_pitch_value);
        require(destination_pitch <= largest_pitch && source_pitch <= largest_pitch);
        copy_3d p = linear_copy(destination, source, width, kind);
        p.destination = {destination, destination_pitch, width, height};
        p.source = {const_cast<void*>(source), source_pitch, width, height};
        p.extent.height = height;
        enqueue_copy(gpu, lock, p, on, order);
    });
}

// Box: copy_3d or copy_3d_peer.
template <class Box>
error copy_box(const Box* what, stream* handle, host_order order) {
    return call(handle, [&](context& gpu, locked& lock) {
        require(what != nullptr);
        gpu.require_usable();
        const copy_3d p = without_devices(gpu, *what);
        stream& on = gpu.checked(handle);
        if (!is_empty(p.extent)) {
            require_box(p);
            enqueue_copy(gpu, lock, p, on, order);
        }
    });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaMemcpy(void* destination, const void* source, std::size_t bytes, copy_kind kind) {
    return copy_bytes(destination, source, bytes, kind, nullptr, synchronous);
}

error cudaMemcpy_ptds(void* destination, const void* source, std::size_t bytes, copy_kind kind) {
    return copy_bytes(destination, source, bytes, kind, of_this_thread(nullptr), synchronous);
}

error cudaMemcpyAsync(void* destination, const void* source, std::size_t bytes, copy_kind kind, stream* on) {
    return copy_bytes(destination, source, bytes, kind, on, asynchronous);
}

error cudaMemcpyAsync_ptsz(void* destination, const void* source, std::size_t bytes, copy_kind kind, stream* on) {
    return copy_bytes(destination, source, bytes, kind, of_this_thread(on), asynchronous);
}

error cudaMemcpyPeer(void* destination, int destination_device, const void* source, int source_device,
                     std::size_t bytes) {
    return copy_peer(destination, destination_device, source, source_device, bytes, nullptr, synchronous);
}

error cudaMemcpyPeerAsync(void* destination, int destination_device, const void* source, int source_device,
                          std::size_t bytes, stream* on) {
    return copy_peer(destination, destination_device, source, source_device, bytes, on, asynchronous);
}

error cudaMemcpy2D(void* destination, std::size_t destination_pitch, const void* source, std::size_t source_pitch,
                   std::size_t width, std::size_t height, copy_kind kind) {
    return copy_plane(destination, destination_pitch, source, source_pitch, width, height, kind, nullptr, synchronous);
}

error cudaMemcpy2D_ptds(void* destination, std::size_t destination_pitch, const void* source, std::size_t source_pitch,
                        std::size_t width, std::size_t height, copy_kind kind) {
    return copy_plane(destination, destination_pitch, source, source_pitch, width, height, kind,
                      of_this_thread(nullptr), synchronous);
}

error cudaMemcpy2DAsync(void* destination, std::size_t destination_pitch, const void* source, std::size_t source_pitch,
                        std::size_t width, std::size_t height, copy_kind kind, stream* on) {
    return copy_plane(destination, destination_pitch, source, source_pitch, width, height, kind, on, asynchronous);
}

error cudaMemcpy2DAsync_ptsz(void* destination, std::size_t destination_pitch, const void* source,
                             std::size_t source_pitch, std::size_t width, std::size_t height, copy_kind kind,
                             stream* on) {
    return copy_plane(destination, destination_pitch, source, source_pitch, width, height, kind, of_this_thread(on),
                      asynchronous);
}

error cudaMemcpy3D(const copy_3d* what) { return copy_box(what, nullptr, synchronous); }

error cudaMemcpy3D_ptds(const copy_3d* what) { return copy_box(what, of_this_thread(nullptr), synchronous); }

error cudaMemcpy3DAsync(const copy_3d* what, stream* on) { return copy_box(what, on, asynchronous); }

error cudaMemcpy3DAsync_ptsz(const copy_3d* what, stream* on) {
    return copy_box(what, of_this_thread(on), asynchronous);
}

error cudaMemcpy3DPeer(const copy_3d_peer* what) { return copy_box(what, nullptr, synchronous); }

error cudaMemcpy3DPeer_ptds(const copy_3d_peer* what) { return copy_box(what, of_this_thread(nullptr), synchronous); }

error cudaMemcpy3DPeerAsync(const copy_3d_peer* what, stream* on) { return copy_box(what, on, asynchronous); }

error cudaMemcpy3DPeerAsync_ptsz(const copy_3d_peer* what, stream* on) {
    return copy_box(what, of_this_thread(on), asynchronous);
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
