// SPDX-License-Identifier: MIT
// A rank of NCCL in a process of its own: nccl_process FILE RANKS RANK [dies]. Rank 0 writes the unique id to FILE. With "dies"
// the last rank ends before its last call, and the others shall get an error.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <nccl.h>

#include "tests/runtime/programs/check.hpp"

namespace {

constexpr int count = 100000;

__global__ void fill(int* data, int value) {
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count;
         i += static_cast<int>(gridDim.x * blockDim.x)) {
        data[i] = value + i;
    }
}

ncclUniqueId shared_id(const std::string& file, int rank) {
    ncclUniqueId id{};
    if (rank == 0) {
        CHECK(ncclGetUniqueId(&id) == ncclSuccess);
        std::ofstream(file + ".writing", std::ios::binary).write(id.internal, sizeof id.internal);
        std::filesystem::rename(file + ".writing", file);
    }
    while (!std::filesystem::exists(file)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::ifstream(file, std::ios::binary).read(id.internal, sizeof id.internal);
    return id;
}

std::vector<int> read(const int* data, int n) {
    std::vector<int> values(static_cast<std::size_t>(n));
    CUDA(cudaMemcpy(values.data(), data, values.size() * sizeof(int), cudaMemcpyDeviceToHost));
    return values;
}

} // namespace

int main(int argc, char** argv) {
    CHECK(argc >= 4);
    const int ranks = std::atoi(argv[2]), rank = std::atoi(argv[3]);
    const bool dies = argc > 4 && std::string_view(argv[4]) == "dies";
    ncclComm_t comm = nullptr;
    CHECK(ncclCommInitRank(&comm, ranks, shared_id(argv[1], rank), rank) == ncclSuccess);
    cudaStream_t stream = nullptr;
    int *data = nullptr, *all = nullptr;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaMalloc(&data, count * sizeof(int)));
    CUDA(cudaMalloc(&all, static_cast<std::size_t>(ranks) * 2 * sizeof(int)));
    fill<<<4, 128, 0, stream>>>(data, rank);
    for (int round = 0; round < 3; ++round) {
        CHECK(ncclAllReduce(data, data, count, ncclInt, ncclSum, comm, stream) == ncclSuccess);
    }
    CUDA(cudaStreamSynchronize(stream));
    int factor = 1;
    for (int round = 1; round < 3; ++round) {
        factor *= ranks;
    }
    const auto sums = read(data, count);
    for (int i = 0; i < count; ++i) {
        CHECK(sums[static_cast<std::size_t>(i)] == factor * (ranks * (ranks - 1) / 2 + ranks * i));
    }
    CHECK(ncclAllGather(data, all, 2, ncclInt, comm, stream) == ncclSuccess);
    CHECK(ncclBroadcast(data, data, 7, ncclInt, ranks - 1, comm, stream) == ncclSuccess);
    // A ring, as one group: all receive before they send.
    fill<<<4, 128, 0, stream>>>(data, 100 * rank);
    CHECK(ncclGroupStart() == ncclSuccess);
    CHECK(ncclRecv(all, 1, ncclInt, (rank + ranks - 1) % ranks, comm, stream) == ncclSuccess);
    CHECK(ncclSend(data, 1, ncclInt, (rank + 1) % ranks, comm, stream) == ncclSuccess);
    CHECK(ncclGroupEnd() == ncclSuccess);
    // The same in a graph, twice.
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(ncclAllReduce(data, data, count, ncclInt, ncclMax, comm, stream) == ncclSuccess);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&executable, graph, 0));
    CUDA(cudaGraphLaunch(executable, stream));
    CUDA(cudaGraphLaunch(executable, stream));
    CUDA(cudaStreamSynchronize(stream));
    CHECK(read(all, 1)[0] == 100 * ((rank + ranks - 1) % ranks));
    CHECK(read(data, count)[9] == 100 * (ranks - 1) + 9);
    if (dies) {
        if (rank == ranks - 1) {
            ::_exit(0);
        }
        (void)ncclAllReduce(data, data, count, ncclInt, ncclSum, comm, stream);
        CHECK(cudaStreamSynchronize(stream) == cudaErrorLaunchFailure);
        ncclResult_t state = ncclSuccess;
        CHECK(ncclCommGetAsyncError(comm, &state) == ncclSuccess && state == ncclRemoteError);
        CHECK(ncclAllReduce(data, data, count, ncclInt, ncclSum, comm, stream) == ncclRemoteError);
        CHECK(ncclCommAbort(comm) == ncclSuccess);
        std::printf("rank %d: the error came\n", rank);
        return 0;
    }
    CHECK(ncclCommDestroy(comm) == ncclSuccess);
    std::printf("rank %d of %d: right\n", rank, ranks);
    return 0;
}
