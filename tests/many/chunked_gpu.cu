// SPDX-License-Identifier: MIT
// Calls on chunked data over ranks that are threads, which share the GPUs that there are.
#include "warpfold/chunked.cuh"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/many/chunked.hpp"
#include "warpfold/ranks.cuh"
#include "warpfold/thread_communicator.hpp"

namespace warpfold {

namespace {

template <class Work>
void with_gpus(int ranks, const Work& work) {
    int devices = 1;
    ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
    thread_ranks group(ranks, std::chrono::seconds(100));
    group.run([&](thread_communicator& comm) {
        ASSERT_EQ(cudaSetDevice(comm.rank() % devices), cudaSuccess);
        work(gpu{}.over(comm));
    });
}

TEST(ChunkedOnGpus, CallsGiveTheWholeArraysResult) {
    with_gpus(3, [](const auto& on) {
        unsigned seed = 0;
        for (const std::uint64_t n : {0, 1, 64, 509}) {
            tests::check_chunked(on, n, ++seed);
        }
    });
}

TEST(ChunkedOnGpus, RanksShareFiles) {
    const std::string path = testing::TempDir() + "chunked_on_gpus." + std::to_string(::getpid());
    with_gpus(3, [&](const auto& on) { tests::check_chunked_file(on, path); });
}

TEST(ChunkedOnGpus, FaultsReachEveryRank) {
    with_gpus(2, [](const auto& on) { tests::check_chunked_faults(on); });
}

} // namespace

} // namespace warpfold
