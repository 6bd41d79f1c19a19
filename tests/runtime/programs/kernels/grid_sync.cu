// SPDX-License-Identifier: MIT
// A grid that synchronises within a cooperative launch.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "tests/runtime/programs/check.hpp"

namespace cg = cooperative_groups;

// Sums over the whole grid in one launch: blocks leave partial sums, and after the grid's barrier the first adds them.
__global__ void sum(const int* in, int n, int* partial, int* out) {
    const cg::grid_group grid = cg::this_grid();
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    __shared__ int per_warp[32];
    int mine = 0;
    for (int i = static_cast<int>(grid.thread_rank()); i < n; i += static_cast<int>(grid.size())) {
        mine += in[i];
    }
    mine = cg::reduce(warp, mine, cg::plus<int>());
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
    grid.sync();
    if (grid.thread_rank() == 0) {
        int all = 0;
        for (unsigned b = 0; b < gridDim.x; ++b) {
            all += partial[b];
        }
        *out = all;
    }
}

int main() {
    constexpr int threads = 128;
    int n = 100000;
    int *in = nullptr, *partial = nullptr, *out = nullptr;
    CUDA(cudaMallocManaged(&in, n * sizeof(int)));
    CUDA(cudaMallocManaged(&partial, 64 * sizeof(int)));
    CUDA(cudaMallocManaged(&out, sizeof(int)));
    long long expected = 0;
    for (int i = 0; i < n; ++i) {
        in[i] = i % 17 - 3;
        expected += in[i];
    }
    for (const int grid : {1, 2, 7, 16}) {
        *out = -1;
        void* arguments[] = {&in, &n, &partial, &out};
        CUDA(cudaLaunchCooperativeKernel(sum, grid, threads, arguments));
        CUDA(cudaDeviceSynchronize());
        CHECK(*out == expected);
    }
    return 0;
}
