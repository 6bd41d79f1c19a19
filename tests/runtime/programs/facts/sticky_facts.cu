// SPDX-License-Identifier: MIT
// Prints what calls return after a kernel has failed; the argument chooses how it fails. As for api_facts.cu, a GPU's
// output is in data/.
#include <cassert>
#include <cstdio>
#include <string>

#include <cuda_runtime.h>

static void show(const char* call, cudaError_t result) {
    std::printf("%s -> %s (peek %s)\n", call, cudaGetErrorName(result), cudaGetErrorName(cudaPeekAtLastError()));
}
#define SHOW(call) show(#call, call)

__device__ int symbol = 3;
__global__ void illegal_address(int* p) { p[threadIdx.x] = 1; }
__global__ void misaligned(char* p) { *reinterpret_cast<volatile int*>(p + 1) = 1; }
__global__ void trap() { asm volatile("trap;"); }
__global__ void assertion(int x) { assert(x == 1); }
__global__ void nothing() {}

int main(int argc, char** argv) {
    const std::string how = argc > 1 ? argv[1] : "illegal_address";
    int* device = nullptr;
    int host[4] = {};
    cudaEvent_t event{}, fresh{};
    cudaStream_t stream{}, second{};
    void* p = nullptr;
    int value = 0;
    unsigned flags = 0;
    cudaDeviceProp properties{};
    cudaFuncAttributes attributes{};
    cudaPointerAttributes pointer{};
    SHOW(cudaMalloc(&device, 64));
    SHOW(cudaEventCreate(&event));
    SHOW(cudaStreamCreate(&stream));
    nothing<<<1, 1>>>();
    SHOW(cudaDeviceSynchronize());
    if (how == "illegal_address") {
        illegal_address<<<1, 32>>>(reinterpret_cast<int*>(0x1000));
    } else if (how == "misaligned") {
        misaligned<<<1, 1>>>(reinterpret_cast<char*>(device));
    } else if (how == "trap") {
        trap<<<1, 1>>>();
    } else if (how == "assertion") {
        assertion<<<1, 1>>>(2);
    } else {
        return 2;
    }
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaGetLastError());
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaMalloc(&p, 4));
    SHOW(cudaMalloc(nullptr, 4));
    SHOW(cudaFree(device));
    SHOW(cudaFree(nullptr));
    SHOW(cudaMallocHost(&p, 4));
    SHOW(cudaMallocManaged(&p, 4));
    SHOW(cudaMallocAsync(&p, 4, nullptr));
    SHOW(cudaMemcpy(host, device, 4, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpyAsync(host, device, 4, cudaMemcpyDeviceToHost, stream));
    SHOW(cudaMemset(device, 0, 4));
    SHOW(cudaMemcpyToSymbol(symbol, host, 4));
    SHOW(cudaGetSymbolAddress(&p, symbol));
    SHOW(cudaEventRecord(event));
    SHOW(cudaEventQuery(event));
    SHOW(cudaEventSynchronize(event));
    SHOW(cudaEventCreate(&fresh));
    SHOW(cudaStreamCreate(&second));
    SHOW(cudaStreamQuery(stream));
    SHOW(cudaStreamSynchronize(stream));
    SHOW(cudaStreamWaitEvent(stream, event, 0));
    SHOW(cudaStreamGetFlags(stream, &flags));
    SHOW(cudaFuncGetAttributes(&attributes, nothing));
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, nothing, 32, 0));
    SHOW(cudaPointerGetAttributes(&pointer, device));
    nothing<<<1, 1>>>();
    SHOW(cudaGetLastError());
    nothing<<<0, 1>>>();
    SHOW(cudaGetLastError());
    SHOW(cudaGetDevice(&value));
    SHOW(cudaGetDeviceCount(&value));
    SHOW(cudaSetDevice(0));
    SHOW(cudaSetDevice(77));
    SHOW(cudaGetDeviceProperties(&properties, 0));
    SHOW(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
    SHOW(cudaRuntimeGetVersion(&value));
    SHOW(cudaEventDestroy(event));
    SHOW(cudaStreamDestroy(stream));
    SHOW(cudaDeviceReset());
    SHOW(cudaGetLastError());
    return 0;
}
