// SPDX-License-Identifier: MIT
// Managed memory and managed variables, used by host and device in turn.
#include "tests/runtime/programs/check.hpp"

__managed__ int counter = 5;
__managed__ float values[4] = {1, 2, 3, 4};

__global__ void add(int* data, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        data[i] += i;
    }
    if (i == 0) {
        counter += 1;
        values[2] = -values[2];
    }
}

int main() {
    CHECK(counter == 5 && values[3] == 4.0f);
    counter = 10;
    constexpr int n = 10000;
    int* data = nullptr;
    CUDA(cudaMallocManaged(&data, n * sizeof(int)));
    for (int i = 0; i < n; ++i) {
        data[i] = 1;
    }
#if CUDART_VERSION >= 13000
    const cudaMemLocation here{cudaMemLocationTypeDevice, 0};
    CUDA(cudaMemPrefetchAsync(data, n * sizeof(int), here, 0, nullptr));
#else
    CUDA(cudaMemPrefetchAsync(data, n * sizeof(int), 0, nullptr));
#endif
    add<<<(n + 255) / 256, 256>>>(data, n);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) {
        CHECK(data[i] == i + 1);
    }
    CHECK(counter == 11);
    CHECK(values[2] == -3.0f);
    int direct = 0;
    CUDA(cudaMemcpyFromSymbol(&direct, counter, sizeof direct));
    CHECK(direct == 11);
    CUDA(cudaFree(data));
    return 0;
}
