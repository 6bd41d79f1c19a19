// SPDX-License-Identifier: MIT
// Cooperative groups: blocks and tiles of a warp, and the occupancy that a cooperative launch needs.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "tests/runtime/programs/check.hpp"

namespace cg = cooperative_groups;

// Each block leaves its sum.
__global__ void sum(const int* in, int n, int* partial) {
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    const cg::thread_block_tile<8> eight = cg::tiled_partition<8>(warp);
    __shared__ int per_warp[32];
    int mine = 0;
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
         i += static_cast<int>(gridDim.x * blockDim.x)) {
        mine += in[i];
    }
    // Eight lanes by hand, the four groups of eight by the library.
    for (int step = 4; step > 0; step /= 2) {
        mine += eight.shfl_down(mine, step);
    }
    mine = cg::reduce(warp, eight.thread_rank() == 0 ? mine : 0, cg::plus<int>());
    if (warp.thread_rank() == 0) {
        per_warp[warp.meta_group_rank()] = mine;
    }
    block.sync();
    if (block.thread_rank() == 0) {
        int all = 0;
        for (unsigned w = 0; w < warp.meta_group_size(); ++w) {
            all += per_warp[w];
        }
        partial[blockIdx.x] = all;
    }
}

int main() {
    constexpr int threads = 128;
    int blocks = 0, supported = 0;
    CUDA(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    CHECK(supported == 1);
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum, threads, 0));
    CHECK(blocks > 0);
    int n = 100000;
    int *in = nullptr, *partial = nullptr;
    CUDA(cudaMallocManaged(&in, n * sizeof(int)));
    CUDA(cudaMallocManaged(&partial, 64 * sizeof(int)));
    long long expected = 0;
    for (int i = 0; i < n; ++i) {
        in[i] = i % 17 - 3;
        expected += in[i];
    }
    for (const int grid : {1, 2, 7, 16}) {
        void* arguments[] = {&in, &n, &partial};
        CUDA(cudaLaunchCooperativeKernel(sum, grid, threads, arguments));
        CUDA(cudaDeviceSynchronize());
        long long all = 0;
        for (int b = 0; b < grid; ++b) {
            all += partial[b];
        }
        CHECK(all == expected);
    }
    void* arguments[] = {&in, &n, &partial};
    CHECK(cudaLaunchCooperativeKernel(sum, 1000000, threads, arguments) == cudaErrorCooperativeLaunchTooLarge);
    return 0;
}
