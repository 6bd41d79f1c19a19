// SPDX-License-Identifier: MIT
// CUB's DeviceReduce on 2^20 elements and on awkward lengths.
#include <cub/device/device_reduce.cuh>
#include <vector>

#include "tests/runtime/programs/check.hpp"

template <class T, class Reduce>
static T on_device(const std::vector<T>& host, Reduce reduce) {
    T *in = nullptr, *out = nullptr;
    CUDA(cudaMalloc(&in, host.size() * sizeof(T)));
    CUDA(cudaMalloc(&out, sizeof(T)));
    CUDA(cudaMemcpy(in, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    std::size_t bytes = 0;
    void* scratch = nullptr;
    CUDA(reduce(nullptr, bytes, in, out, static_cast<int>(host.size())));
    CUDA(cudaMalloc(&scratch, bytes));
    CHECK(bytes > 0);
    CUDA(reduce(scratch, bytes, in, out, static_cast<int>(host.size())));
    T result{};
    CUDA(cudaMemcpy(&result, out, sizeof(T), cudaMemcpyDeviceToHost));
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
    CUDA(cudaFree(scratch));
    return result;
}

int main() {
    const auto sum = [](auto&&... a) { return cub::DeviceReduce::Sum(a...); };
    const auto max = [](auto&&... a) { return cub::DeviceReduce::Max(a...); };
    for (const std::size_t n :
         {std::size_t{1}, std::size_t{31}, std::size_t{1000}, std::size_t{4097}, std::size_t{1} << 20}) {
        std::vector<int> host(n);
        int expected_sum = 0, expected_max = -1000000;
        for (std::size_t i = 0; i < n; ++i) {
            host[i] = static_cast<int>(i * 7919 % 1009) - 400;
            expected_sum += host[i];
            expected_max = host[i] > expected_max ? host[i] : expected_max;
        }
        CHECK(on_device(host, sum) == expected_sum);
        CHECK(on_device(host, max) == expected_max);
    }
    std::vector<double> reals(1 << 16, 0.25);
    CHECK(on_device(reals, sum) == 16384.0);
    return 0;
}
