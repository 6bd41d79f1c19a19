// SPDX-License-Identifier: MIT
// A program as NCCL's documentation has it: one thread, a communicator for each device. `nccl_program race` writes what the
// call reads, in another stream and without an order.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <nccl.h>

#include "tests/runtime/programs/check.hpp"

namespace {

constexpr int count = 1000;

__global__ void add(float* data, float value) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) {
        data[i] += value;
    }
}

} // namespace

int main(int argc, char** argv) {
    const bool race = argc > 1 && std::string_view(argv[1]) == "race";
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
        CUDA(cudaMalloc(&data[d], count * sizeof(float)));
        CUDA(cudaMemsetAsync(data[d], 0, count * sizeof(float), streams[d]));
        add<<<8, 128, 0, streams[d]>>>(data[d], static_cast<float>(d + 1));
        CUDA(cudaGetLastError());
    }
    CHECK(ncclGroupStart() == ncclSuccess);
    for (int d = 0; d < devices; ++d) {
        CHECK(ncclAllReduce(data[d], data[d], count, ncclFloat, ncclSum, comms[d], streams[d]) == ncclSuccess);
    }
    CHECK(ncclGroupEnd() == ncclSuccess);
    cudaStream_t other = nullptr;
    if (race) {
        // The call is over then. Of two operations that run at the same moment the checks may miss the race.
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        CUDA(cudaSetDevice(1));
        CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    }
    for (int d = 0; d < devices; ++d) {
        CUDA(cudaSetDevice(d));
        add<<<8, 128, 0, race && d == 1 ? other : streams[d]>>>(data[d], 1.0f);
        CUDA(cudaGetLastError());
    }
    for (int d = 0; d < devices; ++d) {
        std::vector<float> got(count);
        CUDA(cudaSetDevice(d));
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaMemcpy(got.data(), data[d], count * sizeof(float), cudaMemcpyDeviceToHost));
        CHECK(race || got[count - 1] == static_cast<float>(devices * (devices + 1) / 2 + 1));
        CUDA(cudaFree(data[d]));
        CUDA(cudaStreamDestroy(streams[d]));
        CHECK(ncclCommDestroy(comms[d]) == ncclSuccess);
    }
    std::printf("%d devices\n", devices);
    return 0;
}
