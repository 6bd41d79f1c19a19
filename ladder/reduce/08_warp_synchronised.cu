// SPDX-License-Identifier: MIT
// Step 8: step 7 with __syncwarp between every read and write of the last warp, as it must be from Volta on: right on
// every architecture, and no volatile. (380 "And More..." and "__syncwarp".)
#include "ladder/reduce/device/dispatch.cuh"
#include "ladder/reduce/device/scratch.cuh"
#include "ladder/reduce/device/unrolled_tree.cuh"
#include "ladder/reduce/steps.hpp"

namespace warpfold::ladder::reduce {

// One addition of the last warp: each lane of `mask` reads before any of them writes, and the writes are there before
// it goes on.
template <unsigned offset, class T, class Op>
__device__ T add_and_sync(T mine, T* scratch, unsigned tid, unsigned mask) {
    mine = Op{}(mine, scratch[tid + offset]);
    __syncwarp(mask);
    scratch[tid] = mine;
    __syncwarp(mask);
    return mine;
}

template <unsigned size, class T, class Op>
__global__ void sync_warp(const T* input, T* partial, std::uint64_t n) {
    T* const scratch = shared_scratch<T>();
    const unsigned tid = threadIdx.x;

    scratch[tid] = add_at_grid_stride<T, Op>(input, n);
    fill_padding<T, Op>(scratch, padded(size, 64));
    __syncthreads();

    unrolled_tree_to_64<size, T, Op>(scratch, tid);
    if (tid < 32) {
        const unsigned mask = blockDim.x < 32 ? (1u << blockDim.x) - 1 : 0xffffffffu;
        T mine = scratch[tid];
        if constexpr (size >= 64) {
            mine = add_and_sync<32, T, Op>(mine, scratch, tid, mask);
        }
        if constexpr (size >= 32) {
            mine = add_and_sync<16, T, Op>(mine, scratch, tid, mask);
        }
        if constexpr (size >= 16) {
            mine = add_and_sync<8, T, Op>(mine, scratch, tid, mask);
        }
        if constexpr (size >= 8) {
            mine = add_and_sync<4, T, Op>(mine, scratch, tid, mask);
        }
        if constexpr (size >= 4) {
            mine = add_and_sync<2, T, Op>(mine, scratch, tid, mask);
        }
        if constexpr (size >= 2) {
            mine = add_and_sync<1, T, Op>(mine, scratch, tid, mask);
        }
        if (tid == 0) {
            partial[blockIdx.x] = mine;
        }
    }
}

namespace {

struct warp_synchronised_round {
    template <class T, class Op>
    static void round(const launch_context& c, const T* in, std::uint64_t n, T* out) {
        with_block_size(c.device.block, [&]<unsigned size>() {
            launch(c, "sync_warp", sync_warp<size, T, Op>, padded(size, 64) * sizeof(T), in, out, n);
        });
    }
};

verdict two_syncs_an_addition(const engine::evidence& e) {
    const auto here = e.first().total.warp_barriers / e.blocks();
    if (e.found == nullptr) {
        return unseen("needs the checks of the software GPU");
    }
    return seen(e.found->none() && here == 2 * std::min(6u, log2_up(e.block())),
                std::to_string(here) + " executions of __syncwarp a block; " + e.found->in_words());
}

verdict no_more_barriers(const engine::evidence& e, const step_result& other) {
    const auto here = engine::total(e.step).barriers;
    const auto before = engine::total(other).barriers;
    return seen(here == before,
                std::to_string(here) + " arrivals at barriers of the block, " + std::to_string(before) + " in step 7");
}

} // namespace

reduction warp_synchronised() {
    return {.about = {"8", "last warp with __syncwarp", "ladder/reduce/08_warp_synchronised.cu",
                      "step 7 with the lanes of the last warp synchronised: right on every architecture",
                      "380, And More...", false, "7"},
            .blocks = many_each,
            .height = height_many_each,
            .rounds = rounds_of<warp_synchronised_round>(),
            .claims = {
                {"on Volta and newer, reduction in shared memory must use warp synchronization", "380, And More...",
                 engine::counted(two_syncs_an_addition).refuted_by(engine::step_in_place("7"))},
                {"the barriers of the block stay as few", "beyond the lectures",
                 engine::compared("7", no_more_barriers).refuted_by(engine::step_in_place("6"))},
            }};
}

} // namespace warpfold::ladder::reduce
