// SPDX-License-Identifier: MIT
// Step 5: the last warp unrolled, with volatile and without synchronisation: six iterations without barrier, loop or
// condition. (759 "Reduction #5", Kharagpur "Reduction 5".)
// As the lectures have it, and so right only by luck: from Volta on the threads of a warp need not run in lockstep, and
// nothing orders the write of one lane before the read of another. Step 8 says what it takes.
// Mended: the slides read past the scratch with blocks of fewer than 64 threads (here it has 64 elements at least);
// Kharagpur leaves out volatile.
#include "ladder/reduce/definition/published.hpp"
#include "ladder/reduce/device/dispatch.cuh"
#include "ladder/reduce/device/last_warp.cuh"
#include "ladder/reduce/device/scratch.cuh"
#include "ladder/reduce/steps.hpp"

namespace warpfold::ladder::reduce {

template <class T, class Op>
__global__ void unroll_last_warp(const T* input, T* partial, std::uint64_t n, unsigned size) {
    T* const scratch = shared_scratch<T>();
    const Op op;
    const unsigned tid = threadIdx.x;
    const std::uint64_t i = std::uint64_t{blockIdx.x} * (blockDim.x * 2) + tid;

    T mine = i < n ? input[i] : Op::identity();
    if (i + blockDim.x < n) {
        mine = op(mine, input[i + blockDim.x]);
    }
    scratch[tid] = mine;
    fill_padding<T, Op>(scratch, size);
    __syncthreads();

    for (unsigned stride = size / 2; stride > 32; stride /= 2) {
        if (tid < stride) {
            scratch[tid] = op(scratch[tid], scratch[tid + stride]);
        }
        __syncthreads();
    }
    if (tid < 32) {
        last_warp_in_lockstep<64, T, Op>(scratch, tid);
    }
    if (tid == 0) {
        partial[blockIdx.x] = scratch[0];
    }
}

namespace {

struct last_warp_unrolled_round {
    template <class T, class Op>
    static void round(const launch_context& c, const T* in, std::uint64_t n, T* out) {
        const unsigned size = padded(c.device.block, 64);
        launch(c, "unroll_last_warp", unroll_last_warp<T, Op>, size * sizeof(T), in, out, n, size);
    }
};

verdict six_barriers_less(const engine::evidence& e, const step_result& other) {
    const double here = engine::barriers_per_warp(e.first());
    const double before = engine::barriers_per_warp(other.launches.front());
    return seen(before - here == std::min(6u, log2_up(e.block())),
                number(here, 0) + " barriers a warp, " + number(before, 0) + " in step 4");
}

verdict saves_in_all_warps(const engine::evidence& e, const step_result& other) {
    if (e.warps() < 2) {
        return unseen("the block has one warp");
    }
    const auto& here = e.first().total;
    const auto& before = other.launches.front().total;
    const bool all_warps = before.barriers >= here.barriers + e.blocks() * e.warps() * std::min(6u, log2_up(e.block()));
    const double threads = static_cast<double>(e.blocks()) * e.block();
    return seen(all_warps && here.thread_instructions < before.thread_instructions,
                number(static_cast<double>(here.thread_instructions) / threads, 1) + " instructions a thread, " +
                    number(static_cast<double>(before.thread_instructions) / threads, 1) +
                    " in step 4; every warp leaves out the same barriers");
}

verdict fewer_divergent_branches(const engine::evidence& e, const step_result& other) {
    if (e.block() < 2) {
        return unseen("a block of one thread has no iteration");
    }
    const auto here = e.first().total.divergent_branches;
    const auto before = other.launches.front().total.divergent_branches;
    return seen(here < before, std::to_string(here) + " divergent branches, " + std::to_string(before) + " in step 4");
}

} // namespace

reduction last_warp_unrolled() {
    return {.about = {"5", "last warp unrolled, volatile", "ladder/reduce/05_last_warp_unrolled.cu",
                      "one warp left: six iterations unrolled, without barrier, loop or condition",
                      "759, Reduction #5; Kharagpur, Reduction 5"},
            .luck = lockstep_luck,
            .blocks = two_each,
            .height = height_two_each,
            .rounds = rounds_of<last_warp_unrolled_round>(),
            .claims = {
                {"when s <= 32 we don't need to __syncthreads(): no barrier in the last 6 iterations",
                 "759, Unrolling the Last Warp; Kharagpur, Reduction 5: Unrolling the Last Warp",
                 engine::compared("4", six_barriers_less)},
                {"this saves useless work in all warps, not just the last one",
                 "759, Reduction #5: Unroll the Last Warp", engine::compared("4", saves_in_all_warps)},
                {"we don't need \"if (tid < s)\"",
                 "759, Unrolling the Last Warp; Kharagpur, Reduction 5: Unrolling the Last Warp",
                 engine::compared("4", fewer_divergent_branches)},
                {"instructions are executed in lockstep within a warp, so no synchronisation is needed",
                 "759, Unrolling the Last Warp; Kharagpur, Reduction 5: Unrolling the Last Warp",
                 lockstep_is_enough().refuted_by(engine::step_in_place("6"))},
                {"faster than step 4",
                 "759, Performance for 4M element reduction (kernel 5); Kharagpur, Reduction 5: Analysis; 380, "
                 "Performance for 4M element reduction",
                 engine::faster_than("4", published::step_speedup(5))},
            }};
}

} // namespace warpfold::ladder::reduce
