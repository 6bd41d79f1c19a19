// SPDX-License-Identifier: MIT
// CUB's scan of values of 4 and 8 bytes: its blocks look back at what others wrote, flag and value in one access.
// GCC takes this for true of CUB's dispatch where it optimises little.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#include <cstdint>
#include <cstdio>
#include <vector>

#include <cub/device/device_scan.cuh>

template <class T>
static bool scan(std::size_t n) {
    std::vector<T> data(n);
    for (std::size_t k = 0; k < n; ++k) {
        data[k] = static_cast<T>(k * 2654435761u);
    }
    T* in = nullptr;
    T* out = nullptr;
    void* room = nullptr;
    std::size_t bytes = 0;
    cudaMalloc(&in, n * sizeof(T));
    cudaMalloc(&out, n * sizeof(T));
    cudaMemcpy(in, data.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    cub::DeviceScan::InclusiveSum(room, bytes, in, out, n);
    cudaMalloc(&room, bytes);
    cub::DeviceScan::InclusiveSum(room, bytes, in, out, n);
    std::vector<T> got(n);
    const cudaError_t error = cudaMemcpy(got.data(), out, n * sizeof(T), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    cudaFree(room);
    if (error != cudaSuccess) {
        std::printf("%zu elements of %zu bytes: %s\n", n, sizeof(T), cudaGetErrorString(error));
        return false;
    }
    T sum = 0;
    for (std::size_t k = 0; k < n; ++k) {
        sum += data[k];
        if (got[k] != sum) {
            std::printf("%zu elements of %zu bytes: wrong at %zu\n", n, sizeof(T), k);
            return false;
        }
    }
    return true;
}

int main() {
    bool right = true;
    for (const std::size_t n : {std::size_t{1}, std::size_t{1023}, std::size_t{100003}, std::size_t{1} << 22}) {
        right = scan<std::uint32_t>(n) && right;
        right = scan<std::uint64_t>(n) && right;
    }
    return right ? 0 : 1;
}
