// SPDX-License-Identifier: MIT
// cudaMemcpy and its kind. A copy runs when it is issued, so the asynchronous forms differ only in which errors of
// earlier kernels they bring to light: none.
#include <cstdint>
#include <limits>

#include "softgpu/runtime/abi/copy.hpp"
#include "softgpu/runtime/call.hpp"
#include "softgpu/runtime/transfer.hpp"

namespace softgpu::runtime {
namespace {

constexpr std::size_t largest_pitch = std::numeric_limits<int>::max();

void copy_plane(context& gpu, locked& lock, void* destination, std::size_t destination_pitch, const void* source,
                std::size_t source_pitch, std::size_t width, std::size_t height, copy_kind kind) {
    require_kind(kind);
    if (width == 0 || height == 0) {
        return;
    }
    require(destination_pitch >= width && source_pitch >= width, error::invalid_pitch_value);
    require(destination_pitch <= largest_pitch && source_pitch <= largest_pitch);
    copy_rows(gpu, lock, {destination, destination_pitch, height}, {source, source_pitch, height}, {width, height, 1},
              kind);
}

// Where a box begins inside a pitched allocation.
block_of_rows rows_at(const pitched_pointer& p, const position& at, const extent& size) {
    const std::size_t slice_rows = p.height != 0 ? p.height : size.height;
    const std::size_t offset = (at.z * slice_rows + at.y) * p.pitch + at.x;
    return {p.pointer == nullptr ? nullptr : static_cast<char*>(p.pointer) + offset, p.pitch, slice_rows};
}

void copy_box(context& gpu, locked& lock, const copy_3d& p) {
    const extent& size = p.extent;
    if (size.width == 0 || size.height == 0 || size.depth == 0) {
        return;
    }
    if (p.source_array != nullptr || p.destination_array != nullptr) {
        fail(error::not_supported, "a copy from or to a CUDA array: textures and arrays are not supported");
    }
    require_kind(p.kind);
    require(p.destination.pitch >= size.width && p.source.pitch >= size.width, error::invalid_pitch_value);
    require(p.destination.pitch <= largest_pitch && p.source.pitch <= largest_pitch);
    require(p.destination_position.x <= p.destination.pitch - size.width &&
            p.source_position.x <= p.source.pitch - size.width);
    const bool one_slice = size.depth == 1;
    require(one_slice || p.destination.height == 0 || p.destination.height >= size.height);
    require(one_slice || p.source.height == 0 || p.source.height >= size.height);
    copy_rows(gpu, lock, rows_at(p.destination, p.destination_position, size),
              rows_at(p.source, p.source_position, size), size, p.kind);
}

void require_device(int device) { require(device == 0, error::invalid_device); }

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

} // namespace

void copy_batch(void* const* destinations, const void* const* sources, const std::size_t* sizes, std::size_t count,
                const std::size_t* attribute_indices, std::size_t attribute_count, stream* on) {
    context& gpu = context::current();
    locked lock(gpu.mutex());
    require(count != 0 && destinations != nullptr && sources != nullptr && sizes != nullptr);
    require(attribute_indices != nullptr && attribute_count != 0 && attribute_count <= count &&
            attribute_indices[0] == 0);
    gpu.must_be_alive();
    require(on != nullptr && reinterpret_cast<std::uintptr_t>(on) != 1, error::invalid_resource_handle);
    gpu.checked(on);
    for (std::size_t i = 0; i < count; ++i) {
        require(sizes[i] != 0);
        copy_bytes(gpu, lock, destinations[i], sources[i], sizes[i], copy_kind::automatic);
    }
}

#pragma GCC visibility push(default)
extern "C" {

error cudaMemcpy(void* destination, const void* source, std::size_t bytes, copy_kind kind) {
    return call([&](context& gpu, locked& lock) {
        gpu.synchronize();
        copy_bytes(gpu, lock, destination, source, bytes, kind);
    });
}

error cudaMemcpyAsync(void* destination, const void* source, std::size_t bytes, copy_kind kind, stream* on) {
    return call([&](context& gpu, locked& lock) {
        gpu.must_be_alive();
        gpu.checked(on);
        copy_bytes(gpu, lock, destination, source, bytes, kind);
    });
}

error cudaMemcpyPeer(void* destination, int destination_device, const void* source, int source_device,
                     std::size_t bytes) {
    return call([&](context& gpu, locked& lock) {
        require_device(destination_device);
        require_device(source_device);
        gpu.synchronize();
        copy_bytes(gpu, lock, destination, source, bytes, copy_kind::device_to_device);
    });
}

error cudaMemcpyPeerAsync(void* destination, int destination_device, const void* source, int source_device,
                          std::size_t bytes, stream* on) {
    return call([&](context& gpu, locked& lock) {
        require_device(destination_device);
        require_device(source_device);
        gpu.must_be_alive();
        gpu.checked(on);
        copy_bytes(gpu, lock, destination, source, bytes, copy_kind::device_to_device);
    });
}

error cudaMemcpy2D(void* destination, std::size_t destination_pitch, const void* source, std::size_t source_pitch,
                   std::size_t width, std::size_t height, copy_kind kind) {
    return call([&](context& gpu, locked& lock) {
        gpu.synchronize();
        copy_plane(gpu, lock, destination, destination_pitch, source, source_pitch, width, height, kind);
    });
}

error cudaMemcpy2DAsync(void* destination, std::size_t destination_pitch, const void* source, std::size_t source_pitch,
                        std::size_t width, std::size_t height, copy_kind kind, stream* on) {
    return call([&](context& gpu, locked& lock) {
        gpu.must_be_alive();
        gpu.checked(on);
        copy_plane(gpu, lock, destination, destination_pitch, source, source_pitch, width, height, kind);
    });
}

error cudaMemcpy3D(const copy_3d* what) {
    return call([&](context& gpu, locked& lock) {
        require(what != nullptr);
        gpu.synchronize();
        copy_box(gpu, lock, *what);
    });
}

error cudaMemcpy3DAsync(const copy_3d* what, stream* on) {
    return call([&](context& gpu, locked& lock) {
        require(what != nullptr);
        gpu.must_be_alive();
        gpu.checked(on);
        copy_box(gpu, lock, *what);
    });
}

error cudaMemcpy3DPeer(const copy_3d_peer* what) {
    return call([&](context& gpu, locked& lock) {
        require(what != nullptr);
        gpu.synchronize();
        copy_box(gpu, lock, without_devices(*what));
    });
}

error cudaMemcpy3DPeerAsync(const copy_3d_peer* what, stream* on) {
    return call([&](context& gpu, locked& lock) {
        require(what != nullptr);
        gpu.must_be_alive();
        gpu.checked(on);
        copy_box(gpu, lock, without_devices(*what));
    });
}

decltype(cudaMemcpy) cudaMemcpy_ptds [[gnu::alias("cudaMemcpy")]];
decltype(cudaMemcpyAsync) cudaMemcpyAsync_ptsz [[gnu::alias("cudaMemcpyAsync")]];
decltype(cudaMemcpy2D) cudaMemcpy2D_ptds [[gnu::alias("cudaMemcpy2D")]];
decltype(cudaMemcpy2DAsync) cudaMemcpy2DAsync_ptsz [[gnu::alias("cudaMemcpy2DAsync")]];
decltype(cudaMemcpy3D) cudaMemcpy3D_ptds [[gnu::alias("cudaMemcpy3D")]];
decltype(cudaMemcpy3DAsync) cudaMemcpy3DAsync_ptsz [[gnu::alias("cudaMemcpy3DAsync")]];
decltype(cudaMemcpy3DPeer) cudaMemcpy3DPeer_ptds [[gnu::alias("cudaMemcpy3DPeer")]];
decltype(cudaMemcpy3DPeerAsync) cudaMemcpy3DPeerAsync_ptsz [[gnu::alias("cudaMemcpy3DPeerAsync")]];

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
