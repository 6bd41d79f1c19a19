// SPDX-License-Identifier: MIT
// cudaMemset and its kind.
#include <cstring>
#include <limits>

#include "softgpu/runtime/abi/copy.hpp"
#include "softgpu/runtime/call.hpp"
#include "softgpu/runtime/transfer.hpp"

namespace softgpu::runtime {
namespace {

void fill_bytes(context& gpu, locked& lock, void* pointer, int value, std::size_t bytes) {
    if (bytes != 0) {
        require_accessible(gpu, pointer, bytes, true);
        gpu.submit(lock, [&] { std::memset(pointer, value, bytes); });
    }
}

void fill_rows(context& gpu, locked& lock, const pitched_pointer& p, int value, const extent& size) {
    if (size.width == 0 || size.height == 0 || size.depth == 0) {
        return;
    }
    require(p.pitch >= size.width && p.pitch <= std::size_t{std::numeric_limits<int>::max()});
    const block_of_rows rows{p.pointer, p.pitch, p.height != 0 ? p.height : size.height};
    require(size.depth == 1 || rows.slice_rows >= size.height);
    require_accessible(gpu, p.pointer, span_of(rows, size), true);
    gpu.submit(lock, [&] {
        for (std::size_t z = 0; z < size.depth; ++z) {
            for (std::size_t y = 0; y < size.height; ++y) {
                std::memset(static_cast<char*>(p.pointer) + (z * rows.slice_rows + y) * p.pitch, value, size.width);
            }
        }
    });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaMemset(void* pointer, int value, std::size_t bytes) {
    return call([&](context& gpu, locked& lock) {
        gpu.must_be_alive();
        fill_bytes(gpu, lock, pointer, value, bytes);
    });
}

error cudaMemsetAsync(void* pointer, int value, std::size_t bytes, stream* on) {
    return call([&](context& gpu, locked& lock) {
        gpu.must_be_alive();
        gpu.checked(on);
        fill_bytes(gpu, lock, pointer, value, bytes);
    });
}

error cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height) {
    return call([&](context& gpu, locked& lock) {
        gpu.must_be_alive();
        fill_rows(gpu, lock, {pointer, pitch, width, height}, value, {width, height, 1});
    });
}

error cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                        stream* on) {
    return call([&](context& gpu, locked& lock) {
        gpu.must_be_alive();
        gpu.checked(on);
        fill_rows(gpu, lock, {pointer, pitch, width, height}, value, {width, height, 1});
    });
}

error cudaMemset3D(pitched_pointer pointer, int value, extent size) {
    return call([&](context& gpu, locked& lock) {
        gpu.must_be_alive();
        fill_rows(gpu, lock, pointer, value, size);
    });
}

error cudaMemset3DAsync(pitched_pointer pointer, int value, extent size, stream* on) {
    return call([&](context& gpu, locked& lock) {
        gpu.must_be_alive();
        gpu.checked(on);
        fill_rows(gpu, lock, pointer, value, size);
    });
}

decltype(cudaMemset) cudaMemset_ptds [[gnu::alias("cudaMemset")]];
decltype(cudaMemsetAsync) cudaMemsetAsync_ptsz [[gnu::alias("cudaMemsetAsync")]];
decltype(cudaMemset2D) cudaMemset2D_ptds [[gnu::alias("cudaMemset2D")]];
decltype(cudaMemset2DAsync) cudaMemset2DAsync_ptsz [[gnu::alias("cudaMemset2DAsync")]];
decltype(cudaMemset3D) cudaMemset3D_ptds [[gnu::alias("cudaMemset3D")]];
decltype(cudaMemset3DAsync) cudaMemset3DAsync_ptsz [[gnu::alias("cudaMemset3DAsync")]];

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
