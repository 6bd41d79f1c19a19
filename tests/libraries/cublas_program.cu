// SPDX-License-Identifier: MIT
// A program that calls cuBLAS between kernels of its own. `cublas_program race` writes what a product reads, in another stream
// and without an order.
#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

#include <cublas_v2.h>
#include <cuda_fp16.h>

#include "tests/runtime/programs/check.hpp"

namespace {

constexpr int n = 100;
constexpr int count = n * n;

__global__ void fill(float* data, float value) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) {
        data[i] = value;
    }
}
__global__ void fill(__half* data, float value) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) {
        data[i] = __float2half(value);
    }
}
__global__ void add(float* data, const float* other) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) {
        data[i] += other[i];
    }
}

#define CUBLAS(call) CHECK((call) == CUBLAS_STATUS_SUCCESS)

} // namespace

int main(int argc, char** argv) {
    const bool race = argc > 1 && std::string_view(argv[1]) == "race";
    cudaStream_t stream = nullptr, other = nullptr;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    float *a = nullptr, *b = nullptr, *c = nullptr;
    __half *x = nullptr, *y = nullptr;
    CUDA(cudaMalloc(&a, count * sizeof(float)));
    CUDA(cudaMalloc(&b, count * sizeof(float)));
    CUDA(cudaMalloc(&c, count * sizeof(float)));
    CUDA(cudaMalloc(&x, count * sizeof(__half)));
    CUDA(cudaMalloc(&y, count * sizeof(__half)));
    constexpr int blocks = (count + 127) / 128;
    fill<<<blocks, 128, 0, stream>>>(a, 2.0f);
    fill<<<blocks, 128, 0, stream>>>(b, 3.0f);
    fill<<<blocks, 128, 0, stream>>>(x, 0.5f);
    CUDA(cudaStreamSynchronize(stream)); // so that the product alone has a race

    cublasHandle_t handle = nullptr;
    CUBLAS(cublasCreate(&handle));
    CUBLAS(cublasSetStream(handle, stream));
    const float one = 1, zero = 0;
    CUBLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &one, a, n, b, n, &zero, c, n)); // 600
    if (race) {
        fill<<<blocks, 128, 0, other>>>(a, 5.0f);
    }
    add<<<blocks, 128, 0, stream>>>(c, b); // 603
    const __half half_one = __float2half(1.0f), half_zero = __float2half(0.0f);
    CUBLAS(cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &half_one, x, n, x, n, &half_zero, y, n)); // 25
    float norm = 0;
    CUBLAS(cublasSnrm2(handle, count, c, 1, &norm)); // waits
    std::vector<__half> halves(count);
    CUDA(cudaMemcpy(halves.data(), y, count * sizeof(__half), cudaMemcpyDeviceToHost));
    CHECK(race || std::abs(norm - 60300.0f) < 0.01f);
    CHECK(__half2float(halves[count - 1]) == 25.0f);
    CUBLAS(cublasDestroy(handle));
    CUDA(cudaDeviceSynchronize());
    for (void* p : {static_cast<void*>(a), static_cast<void*>(b), static_cast<void*>(c), static_cast<void*>(x),
                    static_cast<void*>(y)}) {
        CUDA(cudaFree(p));
    }
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaStreamDestroy(other));
    std::puts("right");
    return 0;
}
