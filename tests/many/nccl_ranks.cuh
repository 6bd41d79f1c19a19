// SPDX-License-Identifier: MIT
// Ranks of NCCL that are threads, with the GPUs in turn and a stream each.
#pragma once

#include <chrono>

#include <gtest/gtest.h>

#include "warpfold/nccl.cuh"
#include "warpfold/thread_communicator.hpp"

namespace warpfold::tests {

// Calls work(threads, comm, stream) in a thread for each rank. `limit`: of the communicator of NCCL.
template <class Work>
void with_nccl_ranks(int ranks, const Work& work, time_limit limit = time_limit{0}) {
    thread_ranks group(ranks, std::chrono::seconds(100));
    int devices = 1;
    ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
    group.run([&](thread_communicator& threads) {
        ASSERT_EQ(cudaSetDevice(threads.rank() % devices), cudaSuccess);
        cudaStream_t stream = nullptr;
        ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
        {
            nccl_communicator comm(threads, stream, limit);
            work(threads, comm, stream);
        }
        EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    });
}

} // namespace warpfold::tests
