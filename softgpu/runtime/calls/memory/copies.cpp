// SPDX-License-Identifier: MIT
// cudaMemcpy and the calls like it.
#include "softgpu/runtime/memory/copies.hpp"
#include "softgpu/runtime/abi/copy.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/enqueue.hpp"

namespace softgpu::runtime {
namespace {

copy_3d plane_copy(void* destination, std::size_t destination_pitch, const void* source, std::size_t source_pitch,
                   std::size_t width, std::size_t height, copy_kind kind) {
    copy_3d p = linear_copy(destination, source, width, kind);
    p.destination = {destination, destination_pitch, width, height};
    p.source = {const_cast<void*>(source), source_pitch, width, height};
    p.extent.height = height;
    return p;
}

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

void copy_plane(context& gpu, locked& lock, void* destination, std::size_t destination_pitch, const void* source,
                std::size_t source_pitch, std::size_t width, std::size_t height, copy_kind kind, stream& on,
                host_order order) {
    require_kind(kind);
    if (width == 0 || height == 0) {
        return;
    }
    require(destination_pitch >= width && source_pitch >= width, error::invalid_pitch_value);
    require(destination_pitch <= largest_pitch && source_pitch <= largest_pitch);
    enqueue_copy(gpu, lock, plane_copy(destination, destination_pitch, source, source_pitch, width, height, kind), on,
                 order);
}

void copy_3d_box(context& gpu, locked& lock, const copy_3d& p, stream& on, host_order order) {
    const extent& size = p.extent;
    if (is_empty(size)) {
        return;
    }
    require_box(p);
    enqueue_copy(gpu, lock, p, on, order);
}

copy_3d without_devices(const copy_3d_peer& p) {
    require_device(p.source_device);
    require_device(p.destination_device);
    return {.source_array = p.source_array,
            .source_position = p.source_position,
            .source = p.source,
            .destination_array = p.destination_array,
            .destination_position = p.destination_position,
            .destination = p.destination,
            .extent = p.extent,
            .kind = copy_kind::device_to_device};
}

// The synchronous forms. `on` is the default stream that the call uses.
error copy_now(void* destination, const void* source, std::size_t bytes, copy_kind kind, stream* on) {
    return call([&](context& gpu, locked& lock) {
        gpu.require_usable();
        enqueue_copy(gpu, lock, destination, source, bytes, kind, gpu.checked(on), host_order::synchronous);
    });
}

error copy_plane_now(void* destination, std::size_t destination_pitch, const void* source, std::size_t source_pitch,
                     std::size_t width, std::size_t height, copy_kind kind, stream* on) {
    return call([&](context& gpu, locked& lock) {
        gpu.require_usable();
        copy_plane(gpu, lock, destination, destination_pitch, source, source_pitch, width, height, kind,
                   gpu.checked(on), host_order::synchronous);
    });
}

error copy_box_now(const copy_3d* what, stream* on) {
    return call([&](context& gpu, locked& lock) {
        require(what != nullptr);
        gpu.require_usable();
        copy_3d_box(gpu, lock, *what, gpu.checked(on), host_order::synchronous);
    });
}

error copy_box_now(const copy_3d_peer* what, stream* on) {
    return call([&](context& gpu, locked& lock) {
        require(what != nullptr);
        gpu.require_usable();
        copy_3d_box(gpu, lock, without_devices(*what), gpu.checked(on), host_order::synchronous);
    });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaMemcpy(void* destination, const void* source, std::size_t bytes, copy_kind kind) {
    return copy_now(destination, source, bytes, kind, nullptr);
}

error cudaMemcpy_ptds(void* destination, const void* source, std::size_t bytes, copy_kind kind) {
    return copy_now(destination, source, bytes, kind, of_this_thread(nullptr));
}

error cudaMemcpyAsync(void* destination, const void* source, std::size_t bytes, copy_kind kind, stream* on) {
    return call([&](context& gpu, locked& lock) {
        gpu.require_usable();
        enqueue_copy(gpu, lock, destination, source, bytes, kind, gpu.checked(on), host_order::asynchronous);
    });
}

error cudaMemcpyAsync_ptsz(void* destination, const void* source, std::size_t bytes, copy_kind kind, stream* on) {
    return cudaMemcpyAsync(destination, source, bytes, kind, of_this_thread(on));
}

error cudaMemcpyPeer(void* destination, int destination_device, const void* source, int source_device,
                     std::size_t bytes) {
    return call([&](context& gpu, locked& lock) {
        require_device(destination_device);
        require_device(source_device);
        gpu.require_usable();
        enqueue_copy(gpu, lock, destination, source, bytes, copy_kind::device_to_device, gpu.checked(nullptr),
                     host_order::synchronous);
    });
}

error cudaMemcpyPeerAsync(void* destination, int destination_device, const void* source, int source_device,
                          std::size_t bytes, stream* on) {
    return call([&](context& gpu, locked& lock) {
        require_device(destination_device);
        require_device(source_device);
        gpu.require_usable();
        enqueue_copy(gpu, lock, destination, source, bytes, copy_kind::device_to_device, gpu.checked(on),
                     host_order::asynchronous);
    });
}

error cudaMemcpy2D(void* destination, std::size_t destination_pitch, const void* source, std::size_t source_pitch,
                   std::size_t width, std::size_t height, copy_kind kind) {
    return copy_plane_now(destination, destination_pitch, source, source_pitch, width, height, kind, nullptr);
}

error cudaMemcpy2D_ptds(void* destination, std::size_t destination_pitch, const void* source, std::size_t source_pitch,
                        std::size_t width, std::size_t height, copy_kind kind) {
    return copy_plane_now(destination, destination_pitch, source, source_pitch, width, height, kind,
                          of_this_thread(nullptr));
}

error cudaMemcpy2DAsync(void* destination, std::size_t destination_pitch, const void* source, std::size_t source_pitch,
                        std::size_t width, std::size_t height, copy_kind kind, stream* on) {
    return call([&](context& gpu, locked& lock) {
        gpu.require_usable();
        copy_plane(gpu, lock, destination, destination_pitch, source, source_pitch, width, height, kind,
                   gpu.checked(on), host_order::asynchronous);
    });
}

error cudaMemcpy2DAsync_ptsz(void* destination, std::size_t destination_pitch, const void* source,
                             std::size_t source_pitch, std::size_t width, std::size_t height, copy_kind kind,
                             stream* on) {
    return cudaMemcpy2DAsync(destination, destination_pitch, source, source_pitch, width, height, kind,
                             of_this_thread(on));
}

error cudaMemcpy3D(const copy_3d* what) { return copy_box_now(what, nullptr); }

error cudaMemcpy3D_ptds(const copy_3d* what) { return copy_box_now(what, of_this_thread(nullptr)); }

error cudaMemcpy3DAsync(const copy_3d* what, stream* on) {
    return call([&](context& gpu, locked& lock) {
        require(what != nullptr);
        gpu.require_usable();
        copy_3d_box(gpu, lock, *what, gpu.checked(on), host_order::asynchronous);
    });
}

error cudaMemcpy3DAsync_ptsz(const copy_3d* what, stream* on) { return cudaMemcpy3DAsync(what, of_this_thread(on)); }

error cudaMemcpy3DPeer(const copy_3d_peer* what) { return copy_box_now(what, nullptr); }

error cudaMemcpy3DPeer_ptds(const copy_3d_peer* what) { return copy_box_now(what, of_this_thread(nullptr)); }

error cudaMemcpy3DPeerAsync(const copy_3d_peer* what, stream* on) {
    return call([&](context& gpu, locked& lock) {
        require(what != nullptr);
        gpu.require_usable();
        copy_3d_box(gpu, lock, without_devices(*what), gpu.checked(on), host_order::asynchronous);
    });
}

error cudaMemcpy3DPeerAsync_ptsz(const copy_3d_peer* what, stream* on) {
    return cudaMemcpy3DPeerAsync(what, of_this_thread(on));
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
