// SPDX-License-Identifier: MIT
// A program as NCCL's documentation has it: one thread, a communicator for each device. Its argument names a fault: what a call
// has written on device 1 is used in another stream, and nothing orders the two.
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <nccl.h>

#include "tests/runtime/programs/check.hpp"
#include "warpfold/nccl.cuh"
#include "warpfold/reduce.cuh"

namespace {

constexpr int count = 1000;

__global__ void add(float* data, float value) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) {
        data[i] += value;
    }
}

__global__ void tell(volatile int* over) { *over = 1; }

// `sums` of device 1 were written in `stream`; `elsewhere` is on device 0.
void plant(std::string_view fault, float* sums, float* elsewhere, cudaStream_t stream) {
    cudaStream_t other = nullptr;
    float* pinned = nullptr;
    int* over = nullptr;
    CUDA(cudaSetDevice(1));
    CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CUDA(cudaMallocHost(&pinned, count * sizeof(float)));
    CUDA(cudaMallocHost(&over, sizeof(int)));
    std::optional<warpfold::nccl_communicator> alone;
    ncclComm_t of_one = nullptr;
    if (fault == "call") {
        const int device = 1;
        CHECK(ncclCommInitAll(&of_one, 1, &device) == ncclSuccess);
        alone.emplace(of_one, stream);
        warpfold::reduce(warpfold::gpu{stream}.over(*alone), sums, count, sums + count);
    }
    // All of it is over then, of which the checks learn nothing. Of two operations that run at the same moment they may miss
    // the race.
    *over = 0;
    tell<<<1, 1, 0, stream>>>(over);
    CUDA(cudaGetLastError());
    while (*static_cast<volatile int*>(over) == 0) {
        std::this_thread::yield();
    }
    if (fault == "kernel") {
        add<<<8, 128, 0, other>>>(sums, 1.0f);
        CUDA(cudaGetLastError());
    } else if (fault == "copy") {
        CUDA(cudaMemcpyAsync(pinned, sums, count * sizeof(float), cudaMemcpyDeviceToHost, other));
    } else if (fault == "peer") {
        CUDA(cudaMemcpyPeerAsync(elsewhere, 0, sums, 1, count * sizeof(float), other));
    } else {
        CUDA(cudaMemcpyAsync(pinned, sums + count, sizeof(float), cudaMemcpyDeviceToHost, other));
    }
    CUDA(cudaDeviceSynchronize());
    alone.reset();
    CHECK(of_one == nullptr || ncclCommDestroy(of_one) == ncclSuccess);
    CUDA(cudaStreamDestroy(other));
    CUDA(cudaFreeHost(pinned));
    CUDA(cudaFreeHost(over));
}

} // namespace

int main(int argc, char** argv) {
    int devices = 0;
    CUDA(cudaGetDeviceCount(&devices));
    const char* const asked = std::getenv("SOFTGPU_DEVICES");
    CHECK(asked == nullptr || std::to_string(devices) == asked);
    const auto n = static_cast<std::size_t>(devices);
    std::vector<ncclComm_t> comms(n);
    std::vector<cudaStream_t> streams(n);
    std::vector<float*> data(n);
    CHECK(ncclCommInitAll(comms.data(), devices, nullptr) == ncclSuccess);
    for (int d = 0; d < devices; ++d) {
        CUDA(cudaSetDevice(d));
        CUDA(cudaStreamCreateWithFlags(&streams[d], cudaStreamNonBlocking));
        CUDA(cudaMalloc(&data[d], (count + 1) * sizeof(float)));
        CUDA(cudaMemsetAsync(data[d], 0, count * sizeof(float), streams[d]));
        add<<<8, 128, 0, streams[d]>>>(data[d], static_cast<float>(d + 1));
        CUDA(cudaGetLastError());
    }
    CHECK(ncclGroupStart() == ncclSuccess);
    for (int d = 0; d < devices; ++d) {
        CHECK(ncclAllReduce(data[d], data[d], count, ncclFloat, ncclSum, comms[d], streams[d]) == ncclSuccess);
    }
    CHECK(ncclGroupEnd() == ncclSuccess);
    if (argc > 1) {
        float* elsewhere = nullptr;
        CUDA(cudaSetDevice(0));
        CUDA(cudaMalloc(&elsewhere, count * sizeof(float)));
        plant(argv[1], data[1], elsewhere, streams[1]);
        CUDA(cudaFree(elsewhere));
    }
    for (int d = 0; d < devices; ++d) {
        CUDA(cudaSetDevice(d));
        add<<<8, 128, 0, streams[d]>>>(data[d], 1.0f);
        CUDA(cudaGetLastError());
    }
    for (int d = 0; d < devices; ++d) {
        std::vector<float> got(count);
        CUDA(cudaSetDevice(d));
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaMemcpy(got.data(), data[d], count * sizeof(float), cudaMemcpyDeviceToHost));
        CHECK(argc > 1 || got[count - 1] == static_cast<float>(devices * (devices + 1) / 2 + 1));
        CUDA(cudaFree(data[d]));
        CUDA(cudaStreamDestroy(streams[d]));
        CHECK(ncclCommDestroy(comms[d]) == ncclSuccess);
    }
    std::printf("%d devices\n", devices);
    return 0;
}
