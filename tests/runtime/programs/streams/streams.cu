// SPDX-License-Identifier: MIT
// An ordinary program with pinned memory, several streams, events, asynchronous copies and host callbacks.
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "tests/runtime/programs/check.hpp"

__global__ void scale(float* data, int n, float factor) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        data[i] *= factor;
    }
}

static void append(void* text) { *static_cast<std::string*>(text) += "f"; }

static void CUDART_CB callback(cudaStream_t, cudaError_t status, void* text) {
    *static_cast<std::string*>(text) += status == cudaSuccess ? "c" : "?";
}

static void in_a_thread_of_its_own(int seed) {
    float* device = nullptr;
    CUDA(cudaMalloc(&device, 256 * sizeof(float)));
    std::vector<float> host(256, static_cast<float>(seed));
    CUDA(cudaMemcpyAsync(device, host.data(), 1024, cudaMemcpyHostToDevice, cudaStreamPerThread));
    for (int i = 0; i < 10; ++i) {
        scale<<<2, 128, 0, cudaStreamPerThread>>>(device, 256, 2.0f);
        CUDA(cudaGetLastError());
    }
    CUDA(cudaMemcpyAsync(host.data(), device, 1024, cudaMemcpyDeviceToHost, cudaStreamPerThread));
    CUDA(cudaStreamSynchronize(cudaStreamPerThread));
    for (const float value : host) {
        CHECK(value == static_cast<float>(seed) * 1024.0f);
    }
    CUDA(cudaFree(device));
}

int main() {
    constexpr int n = 1 << 16;
    constexpr int parts = 4;
    float* host = nullptr;
    float* device = nullptr;
    CUDA(cudaMallocHost(&host, n * sizeof(float)));
    CUDA(cudaMalloc(&device, n * sizeof(float)));
    for (int i = 0; i < n; ++i) {
        host[i] = static_cast<float>(i);
    }
    cudaStream_t streams[parts];
    for (cudaStream_t& s : streams) {
        CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    }
    cudaEvent_t start, end, ready;
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&end));
    CUDA(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    CUDA(cudaEventRecord(start));
    for (int p = 0; p < parts; ++p) {
        const int each = n / parts;
        float* const h = host + p * each;
        float* const d = device + p * each;
        CUDA(cudaMemcpyAsync(d, h, each * sizeof(float), cudaMemcpyHostToDevice, streams[p]));
        scale<<<each / 256, 256, 0, streams[p]>>>(d, each, 2.0f);
        CUDA(cudaGetLastError());
        CUDA(cudaMemcpyAsync(h, d, each * sizeof(float), cudaMemcpyDeviceToHost, streams[p]));
    }
    std::string order;
    CUDA(cudaLaunchHostFunc(streams[0], append, &order));
    CUDA(cudaStreamAddCallback(streams[0], callback, &order, 0));
    CUDA(cudaEventRecord(ready, streams[3]));
    CUDA(cudaStreamWaitEvent(streams[0], ready, 0));
    for (cudaStream_t s : streams) {
        CUDA(cudaStreamSynchronize(s));
        CUDA(cudaStreamQuery(s));
    }
    CUDA(cudaEventRecord(end));
    CUDA(cudaEventSynchronize(end));
    CHECK(order == "fc");
    float milliseconds = -1;
    CUDA(cudaEventElapsedTime(&milliseconds, start, end));
    CHECK(milliseconds > 0);
    CHECK(cudaEventElapsedTime(&milliseconds, start, ready) == cudaErrorInvalidResourceHandle);
    CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    for (int i = 0; i < n; ++i) {
        CHECK(host[i] == 2.0f * static_cast<float>(i));
    }
    // The kernel reads and writes pinned memory itself.
    scale<<<n / 256, 256>>>(host, n, 0.5f);
    CUDA(cudaDeviceSynchronize());
    CHECK(host[n - 1] == static_cast<float>(n - 1));
    // So it does with memory that the program has registered.
    std::vector<float> own(1000, 3.0f);
    CUDA(cudaHostRegister(own.data(), own.size() * sizeof(float), cudaHostRegisterMapped));
    float* mapped = nullptr;
    CUDA(cudaHostGetDevicePointer(&mapped, own.data(), 0));
    scale<<<4, 256>>>(mapped, 1000, 5.0f);
    CUDA(cudaDeviceSynchronize());
    CHECK(own[0] == 15.0f && own[999] == 15.0f);
    CUDA(cudaHostUnregister(own.data()));
    // Stream-ordered allocation.
    void* scratch = nullptr;
    CUDA(cudaMallocAsync(&scratch, 1024, streams[1]));
    CUDA(cudaMemsetAsync(scratch, 0, 1024, streams[1]));
    CUDA(cudaFreeAsync(scratch, streams[1]));
    std::vector<std::thread> threads;
    for (int t = 1; t <= 4; ++t) {
        threads.emplace_back(in_a_thread_of_its_own, t);
    }
    for (std::thread& t : threads) {
        t.join();
    }
    for (cudaStream_t s : streams) {
        CUDA(cudaStreamDestroy(s));
    }
    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(end));
    CUDA(cudaEventDestroy(ready));
    CUDA(cudaFreeHost(host));
    CUDA(cudaFree(device));
    CUDA(cudaDeviceReset());
    return 0;
}
