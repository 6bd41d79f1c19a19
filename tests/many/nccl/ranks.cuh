// SPDX-License-Identifier: MIT
// Ranks of NCCL that are threads, with the GPUs in turn and a stream each.
#pragma once

#include <chrono>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "warpfold/nccl.cuh"
#include "warpfold/thread_communicator.hpp"

namespace warpfold::tests {

// All kernels are loaded at the start. Otherwise the first launch of one may wait for the device, and so for a held stream.
inline const int loads_at_start = setenv("CUDA_MODULE_LOADING", "EAGER", 0);

// Calls work(threads, stream) in a thread for each rank, on its GPU.
template <class Work>
void with_gpu_ranks(int ranks, const Work& work) {
    thread_ranks group(ranks, std::chrono::seconds(100));
    int devices = 1;
    ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
    if (const char* const asked = std::getenv("SOFTGPU_DEVICES")) {
        ASSERT_EQ(std::to_string(devices), asked);
    }
    group.run([&](thread_communicator& threads) {
        ASSERT_EQ(cudaSetDevice(threads.rank() % devices), cudaSuccess);
        cudaStream_t stream = nullptr;
        ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
        work(threads, stream);
        EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    });
}

// Calls work(threads, comm, stream) likewise. `limit`: of the communicator of NCCL.
template <class Work>
void with_nccl_ranks(int ranks, const Work& work, time_limit limit = time_limit{0}) {
    tests::with_gpu_ranks(ranks, [&](thread_communicator& threads, cudaStream_t stream) {
        nccl_communicator comm(threads, stream, limit);
        work(threads, comm, stream);
    });
}

} // namespace warpfold::tests
