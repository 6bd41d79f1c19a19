// SPDX-License-Identifier: MIT
// A shared library with kernels and variables of its own: loaded, used, closed and loaded again by plugin_host.cu.
#include "tests/runtime/programs/builds/plugin.hpp"

#include <cuda_runtime.h>

__device__ int runs = 5;
__constant__ int scale;
__managed__ int managed_runs = 11;

template <class T>
__global__ void multiply(T* p, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        p[i] *= scale;
    }
    if (i == 0) {
        runs += 1;
        managed_runs += 1;
    }
}

extern "C" plugin_run run;
extern "C" int run(int factor) {
    constexpr int n = 100;
    int* p = nullptr;
    if (cudaMemcpyToSymbol(scale, &factor, sizeof factor) != cudaSuccess ||
        cudaMallocManaged(&p, n * sizeof(int)) != cudaSuccess) {
        return -1;
    }
    for (int i = 0; i < n; ++i) {
        p[i] = i;
    }
    multiply<<<2, 64>>>(p, n);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        return -2;
    }
    for (int i = 0; i < n; ++i) {
        if (p[i] != i * factor) {
            return -3;
        }
    }
    int seen = 0;
    if (cudaFree(p) != cudaSuccess || cudaMemcpyFromSymbol(&seen, runs, sizeof seen) != cudaSuccess) {
        return -4;
    }
    return 1000 * seen + managed_runs;
}
