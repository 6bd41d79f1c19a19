// SPDX-License-Identifier: MIT
// Cooperative groups inside a block: reductions and scans over tiles of every width, groups of lanes that a branch
// brought together, groups by a label, and votes of a tile.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "tests/runtime/programs/device_array.hpp"

namespace cg = cooperative_groups;

constexpr int threads = 96;
constexpr int blocks = 3;

__host__ __device__ static int value_of(int k) { return k * 37 % 101 - 20; }

// By thread: the sum and the greatest of its tile, the sum of those before it in its tile, and how many of its tile
// have an odd value.
template <int Width>
__global__ void tiles(int* sum, int* most, int* before, int* odd) {
    const auto tile = cg::tiled_partition<Width>(cg::this_thread_block());
    const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int mine = value_of(k);
    sum[k] = cg::reduce(tile, mine, cg::plus<int>());
    most[k] = cg::reduce(tile, mine, cg::greater<int>());
    before[k] = cg::exclusive_scan(tile, mine, cg::plus<int>());
    odd[k] = __popc(tile.ballot(mine % 2 != 0));
}

// Lanes whose value is odd add up what they have, as one group or as several: which of them find themselves together is
// open. The first of each group adds its sum to the total.
__global__ void coalesced(int* total) {
    const int mine = value_of(static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x));
    if (mine % 2 != 0) {
        const cg::coalesced_group odd = cg::coalesced_threads();
        const int sum = cg::reduce(odd, mine, cg::plus<int>());
        if (odd.thread_rank() == 0) {
            atomicAdd(total, sum);
        }
    }
}

// Lanes of a warp with the same label, and the two halves of a predicate.
__global__ void labelled(int* sums, int* ranks) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const auto alike = cg::labeled_partition(warp, k % 5);
    sums[k] = cg::reduce(alike, value_of(k), cg::plus<int>());
    const auto half = cg::binary_partition(warp, k % 3 == 0);
    ranks[k] = static_cast<int>(half.thread_rank());
}

template <int Width>
static void check_tiles() {
    constexpr int n = threads * blocks;
    device_array<int> sum(n), most(n), before(n), odd(n);
    tiles<Width><<<blocks, threads>>>(sum.data(), most.data(), before.data(), odd.data());
    CUDA(cudaGetLastError());
    const std::vector<int> sums = sum.host(), mosts = most.host(), befores = before.host(), odds = odd.host();
    for (int k = 0; k < n; ++k) {
        const int begin = k / Width * Width;
        int all = 0, greatest = value_of(begin), earlier = 0, odd_ones = 0;
        for (int j = begin; j < begin + Width; ++j) {
            earlier = j == k ? all : earlier;
            all += value_of(j);
            greatest = value_of(j) > greatest ? value_of(j) : greatest;
            odd_ones += value_of(j) % 2 != 0;
        }
        CHECK(sums[k] == all);
        CHECK(mosts[k] == greatest);
        CHECK(befores[k] == earlier);
        CHECK(odds[k] == odd_ones);
    }
}

int main() {
    constexpr int n = threads * blocks;
    check_tiles<1>();
    check_tiles<4>();
    check_tiles<16>();
    check_tiles<32>();

    device_array<int> total(std::vector<int>{0}), first(n), second(n);
    coalesced<<<blocks, threads>>>(total.data());
    CUDA(cudaGetLastError());
    labelled<<<blocks, threads>>>(first.data(), second.data());
    CUDA(cudaGetLastError());
    const std::vector<int> sums = first.host(), ranks = second.host();
    int all = 0;
    for (int k = 0; k < n; ++k) {
        const int begin = k / 32 * 32;
        int alike = 0, rank = 0;
        for (int j = begin; j < begin + 32; ++j) {
            alike += j % 5 == k % 5 ? value_of(j) : 0;
            rank += j < k && (j % 3 == 0) == (k % 3 == 0);
        }
        all += value_of(k) % 2 != 0 ? value_of(k) : 0;
        CHECK(sums[k] == alike);
        CHECK(ranks[k] == rank);
    }
    CHECK(total.host()[0] == all);
    return 0;
}
