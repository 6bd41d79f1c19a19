// SPDX-License-Identifier: MIT
// Cooperative groups: tiles of more than one warp. From compute capability 8.0 on they keep their barriers and messages in
// memory that is reserved behind the program's own; before, in memory that the program gives them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "tests/runtime/programs/device_array.hpp"

namespace cg = cooperative_groups;

constexpr int threads = 512;
constexpr int blocks = 5;

__host__ __device__ static int value_of(int k) { return k * 37 % 101 - 20; }

struct answers {
    int* mirrored; // what the thread at the other end of the tile has written
    int* sum;
    int* before;
    int* first; // what the first thread of the tile has
    int* any;
};

// The block's own shared memory is full, so that whatever the tiles write into it is seen. Every warp comes to its tile's
// barriers in its own time.
template <int Width, class Block>
__device__ void use_tile(const Block& block, int* mine, const answers& out) {
    const auto tile = cg::tiled_partition<Width>(block);
    const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int begin = static_cast<int>(threadIdx.x) / Width * Width;
    const int rank = static_cast<int>(tile.thread_rank());
    mine[threadIdx.x] = value_of(k);
    tile.sync();
    out.mirrored[k] = mine[begin + Width - 1 - rank];
    tile.sync();
    out.sum[k] = cg::reduce(tile, mine[threadIdx.x], cg::plus<int>());
    out.before[k] = cg::exclusive_scan(tile, mine[threadIdx.x], cg::plus<int>());
    out.first[k] = tile.shfl(mine[threadIdx.x], 0);
    out.any[k] = tile.any(mine[threadIdx.x] == 80);
}

template <int Width>
__global__ void tiles(answers out) {
    __shared__ int mine[threads];
#if __CUDA_ARCH__ >= 800
    use_tile<Width>(cg::this_thread_block(), mine, out);
#else
    __shared__ cg::block_tile_memory<threads> given;
    use_tile<Width>(cg::this_thread_block(given), mine, out);
#endif
}

// No shared memory of its own.
__global__ void barrier_only(int* passed) {
#if __CUDA_ARCH__ >= 800
    const auto block = cg::this_thread_block();
#else
    __shared__ cg::block_tile_memory<threads> given;
    const auto block = cg::this_thread_block(given);
#endif
    const auto tile = cg::tiled_partition<64>(block);
    int* const mine = passed + (blockIdx.x * blockDim.x + threadIdx.x) / 64;
    for (int round = 1; round <= 3; ++round) {
        if (tile.thread_rank() == 63) {
            *mine = round;
        }
        tile.sync();
        if (*mine != round) {
            *mine = -1000;
        }
        tile.sync();
    }
}

template <int Width>
static void check_tiles() {
    constexpr int n = threads * blocks;
    device_array<int> mirrored(n), sum(n), before(n), first(n), any(n);
    tiles<Width><<<blocks, threads>>>({mirrored.data(), sum.data(), before.data(), first.data(), any.data()});
    CUDA(cudaGetLastError());
    const std::vector<int> ends = mirrored.host(), sums = sum.host(), befores = before.host(), firsts = first.host(),
                           anys = any.host();
    for (int begin = 0; begin < n; begin += Width) {
        int all = 0;
        bool found = false;
        for (int k = begin; k < begin + Width; ++k) {
            CHECK(befores[k] == all);
            all += value_of(k);
            found = found || value_of(k) == 80;
        }
        for (int k = begin; k < begin + Width; ++k) {
            CHECK(ends[k] == value_of(2 * begin + Width - 1 - k));
            CHECK(sums[k] == all);
            CHECK(firsts[k] == value_of(begin));
            CHECK((anys[k] != 0) == found);
        }
    }
}

int main() {
    check_tiles<64>();
    check_tiles<128>();
    check_tiles<256>();
    check_tiles<512>();
    device_array<int> passed(std::vector<int>(threads * blocks / 64, 0));
    barrier_only<<<blocks, threads>>>(passed.data());
    CUDA(cudaGetLastError());
    for (const int round : passed.host()) {
        CHECK(round == 3);
    }
    return 0;
}
