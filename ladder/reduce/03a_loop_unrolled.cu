// SPDX-License-Identifier: MIT
// sum_unroll of 587: the last six iterations of sum_seq unrolled, each with its condition and its barrier. Differs from
// step 5 in that: no first add during the load, and barriers kept. (587 "Loop Unrolling".)
// Mended: the slide reads past the scratch with blocks of fewer than 64 threads (here it has 64 elements at least).
#include "ladder/reduce/definition/published.hpp"
#include "ladder/reduce/device/dispatch.cuh"
#include "ladder/reduce/device/scratch.cuh"
#include "ladder/reduce/steps.hpp"

namespace warpfold::ladder::reduce {

template <class T, class Op>
__global__ void sum_unroll(const T* input, T* partial, std::uint64_t n, unsigned size) {
    T* const scratch = shared_scratch<T>();
    const Op op;
    const unsigned tid = threadIdx.x;
    const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + tid;

    scratch[tid] = i < n ? input[i] : Op::identity();
    fill_padding<T, Op>(scratch, size);
    __syncthreads();

    for (unsigned stride = size / 2; stride > 32; stride /= 2) {
        if (tid < stride) {
            scratch[tid] = op(scratch[tid], scratch[tid + stride]);
        }
        __syncthreads();
    }
    if (tid < 32) {
        scratch[tid] = op(scratch[tid], scratch[tid + 32]);
    }
    __syncthreads();
    if (tid < 16) {
        scratch[tid] = op(scratch[tid], scratch[tid + 16]);
    }
    __syncthreads();
    if (tid < 8) {
        scratch[tid] = op(scratch[tid], scratch[tid + 8]);
    }
    __syncthreads();
    if (tid < 4) {
        scratch[tid] = op(scratch[tid], scratch[tid + 4]);
    }
    __syncthreads();
    if (tid < 2) {
        scratch[tid] = op(scratch[tid], scratch[tid + 2]);
    }
    __syncthreads();
    if (tid < 1) {
        scratch[tid] = op(scratch[tid], scratch[tid + 1]);
    }
    __syncthreads();
    if (tid == 0) {
        partial[blockIdx.x] = scratch[0];
    }
}

namespace {

struct loop_unrolled_round {
    template <class T, class Op>
    static void round(const launch_context& c, const T* in, std::uint64_t n, T* out) {
        const unsigned size = padded(c.device.block, 64);
        launch(c, "sum_unroll", sum_unroll<T, Op>, size * sizeof(T), in, out, n, size);
    }
};

verdict less_loop_overhead(const engine::evidence& e, const step_result& other) {
    if (e.block() < 64) {
        return unseen("needs blocks of 64 threads or more");
    }
    const auto& here = e.first().total;
    const auto& before = other.launches.front().total;
    return seen(here.branches < before.branches && here.warp_instructions < before.warp_instructions,
                std::to_string(here.branches) + " branches and " + std::to_string(here.warp_instructions) +
                    " instructions of warps, " + std::to_string(before.branches) + " and " +
                    std::to_string(before.warp_instructions) + " in sum_seq");
}

verdict six_waits(const engine::evidence& e) {
    const double barriers = engine::barriers_per_warp(e.first());
    const unsigned in_loop = 1 + log2_up(padded(e.block(), 64)) - 6;
    return seen(barriers - in_loop == 6, number(barriers, 0) + " barriers a warp, " + std::to_string(in_loop) +
                                             " of them up to the last warp's turn");
}

} // namespace

reduction loop_unrolled() {
    return {.about = {"sum_unroll", "587's loop unrolling, barriers kept", "ladder/reduce/03a_loop_unrolled.cu",
                      "the last six iterations written out, with constants for the loop's variable",
                      "587, Loop Unrolling", false, "3"},
            .blocks = one_each,
            .height = height_one_each,
            .rounds = rounds_of<loop_unrolled_round>(),
            .claims = {
                {"unroll a loop to reduce loop overheads", "587, Loop Unrolling",
                 engine::compared("3", less_loop_overhead)},
                {"other warps need to wait on __syncthreads() for 6 times", "587, When Only One Warp Remains Active",
                 engine::counted(six_waits).refuted_by(engine::step_in_place("sum_warp"))},
                {"sum_unroll is faster than sum_seq", "587, Experimental Results: Further Optimizations",
                 engine::faster_than("3", published::t4_speedup(published::t4_sum_seq, published::t4_sum_unroll))},
            }};
}

} // namespace warpfold::ladder::reduce
