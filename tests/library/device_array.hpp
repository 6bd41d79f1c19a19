// SPDX-License-Identifier: MIT
// Arrays on the device, for the tests.
#pragma once

#include <cstddef>
#include <vector>

#include <cuda_runtime.h>

#include "tests/library/gpu_test.hpp"

namespace warpfold::tests {

// An array on the device, `skip` elements behind an address aligned to 256 bytes, and nothing behind it.
template <class T>
struct on_device {
    explicit on_device(const std::vector<T>& data, std::size_t skipped = 0) : skip(skipped), count(data.size()) {
        CUDA(cudaMalloc(&base, (count + skip) * sizeof(T) + 1));
        CUDA(cudaMemcpy(base + skip, data.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
    // `n` elements of bytes 0x77.
    explicit on_device(std::size_t n) : skip(0), count(n) {
        CUDA(cudaMalloc(&base, n * sizeof(T) + 1));
        CUDA(cudaMemset(base, 0x77, n * sizeof(T)));
    }
    on_device(const on_device&) = delete;
    on_device& operator=(const on_device&) = delete;
    ~on_device() { (void)cudaFree(base); }
    [[nodiscard]] T* data() const { return base + skip; }
    [[nodiscard]] std::vector<T> read() const {
        std::vector<T> data(count);
        CUDA(cudaMemcpy(data.data(), base + skip, count * sizeof(T), cudaMemcpyDeviceToHost));
        return data;
    }

    T* base = nullptr;
    std::size_t skip, count;
};

} // namespace warpfold::tests
