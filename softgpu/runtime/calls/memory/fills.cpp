// SPDX-License-Identifier: MIT
// cudaMemset and the calls like it.

#include "softgpu/runtime/abi/copy.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/enqueue.hpp"
#include "softgpu/runtime/memory/copies/copies.hpp"

namespace softgpu::runtime {
namespace {

using enum host_order;

error fill_bytes(void* pointer, int value, std::size_t bytes, stream* handle, host_order order) {
    return call(handle, [&](context& gpu, locked& lock) {
        gpu.require_usable();
        stream& on = gpu.checked(handle);
        if (bytes != 0) {
            require_accessible(gpu, pointer, bytes, true);
            enqueue_fill(gpu, lock,
                         {.base = pointer, .pitch = bytes, .value = static_cast<unsigned>(value), .width = bytes}, on,
                         order);
        }
    });
}

error fill_rows(const pitched_pointer& p, int value, const extent& size, stream* handle, host_order order) {
    return call(handle, [&](context& gpu, locked& lock) {
        gpu.require_usable();
        stream& on = gpu.checked(handle);
        if (is_empty(size)) {
            return;
        }
        require(p.pitch >= size.width && p.pitch <= largest_pitch);
        const block_of_rows rows{p.pointer, p.pitch, p.height != 0 ? p.height : size.height};
        require(size.depth == 1 || rows.slice_rows >= size.height);
        require_accessible(gpu, p.pointer, span_of(rows, size), true);
        enqueue_fill(gpu, lock,
                     {.base = p.pointer,
                      .pitch = p.pitch,
                      .value = static_cast<unsigned>(value),
                      .width = size.width,
                      .height = size.height,
                      .depth = size.depth,
                      .slice_rows = rows.slice_rows},
                     on, order);
    });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaMemset(void* pointer, int value, std::size_t bytes) {
    return fill_bytes(pointer, value, bytes, nullptr, synchronous);
}

error cudaMemset_ptds(void* pointer, int value, std::size_t bytes) {
    return fill_bytes(pointer, value, bytes, of_this_thread(nullptr), synchronous);
}

error cudaMemsetAsync(void* pointer, int value, std::size_t bytes, stream* on) {
    return fill_bytes(pointer, value, bytes, on, asynchronous);
}

error cudaMemsetAsync_ptsz(void* pointer, int value, std::size_t bytes, stream* on) {
    return fill_bytes(pointer, value, bytes, of_this_thread(on), asynchronous);
}

error cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height) {
    return fill_rows({pointer, pitch, width, height}, value, {width, height, 1}, nullptr, synchronous);
}

error cudaMemset2D_ptds(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height) {
    return fill_rows({pointer, pitch, width, height}, value, {width, height, 1}, of_this_thread(nullptr), synchronous);
}

error cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                        stream* on) {
    return fill_rows({pointer, pitch, width, height}, value, {width, height, 1}, on, asynchronous);
}

error cudaMemset2DAsync_ptsz(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                             stream* on) {
    return fill_rows({pointer, pitch, width, height}, value, {width, height, 1}, of_this_thread(on), asynchronous);
}

error cudaMemset3D(pitched_pointer pointer, int value, extent size) {
    return fill_rows(pointer, value, size, nullptr, synchronous);
}

error cudaMemset3D_ptds(pitched_pointer pointer, int value, extent size) {
    return fill_rows(pointer, value, size, of_this_thread(nullptr), synchronous);
}

error cudaMemset3DAsync(pitched_pointer pointer, int value, extent size, stream* on) {
    return fill_rows(pointer, value, size, on, asynchronous);
}

error cudaMemset3DAsync_ptsz(pitched_pointer pointer, int value, extent size, stream* on) {
    return fill_rows(pointer, value, size, of_this_thread(on), asynchronous);
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
