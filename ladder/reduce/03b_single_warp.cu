// SPDX-License-Identifier: MIT
// sum_warp of 587: what remains when only one warp is active, without barriers or conditions, volatile. Differs from
// step 5 in that there is no first add during the load. (587 "Single Warp Optimization".)
// As the lecture has it, and so right only by luck from Volta on, as step 5.
// Mended: the slide reads past the scratch with blocks of fewer than 64 threads (here it has 64 elements at least).
#include "ladder/reduce/definition/published.hpp"
#include "ladder/reduce/device/dispatch.cuh"
#include "ladder/reduce/device/last_warp.cuh"
#include "ladder/reduce/device/scratch.cuh"
#include "ladder/reduce/steps.hpp"

namespace warpfold::ladder::reduce {

template <class T, class Op>
__global__ void sum_warp(const T* input, T* partial, std::uint64_t n, unsigned size) {
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
        last_warp_in_lockstep<64, T, Op>(scratch, tid);
    }
    if (tid == 0) {
        partial[blockIdx.x] = scratch[0];
    }
}

namespace {

struct single_warp_round {
    template <class T, class Op>
    static void round(const launch_context& c, const T* in, std::uint64_t n, T* out) {
        const unsigned size = padded(c.device.block, 64);
        launch(c, "sum_warp", sum_warp<T, Op>, size * sizeof(T), in, out, n, size);
    }
};

verdict more_additions(const engine::evidence& e, const step_result& other) {
    if (e.block() < 2) {
        return unseen("a block of one thread has no inactive one");
    }
    const std::uint64_t bytes = e.blocks() * e.element_bytes();
    const auto& here = e.first().total;
    const auto& before = other.launches.front().total;
    return seen(here.shared_load_bytes > before.shared_load_bytes &&
                    here.shared_store_bytes > before.shared_store_bytes,
                std::to_string(here.shared_load_bytes / bytes) + " elements of shared memory read and " +
                    std::to_string(here.shared_store_bytes / bytes) + " sums and elements written a block, " +
                    std::to_string(before.shared_load_bytes / bytes) + " and " +
                    std::to_string(before.shared_store_bytes / bytes) + " in sum_unroll");
}

verdict fewer_instructions_a_block(const engine::evidence& e, const step_result& other) {
    const auto here = e.first().total.warp_instructions / e.blocks();
    const auto before = other.launches.front().total.warp_instructions / e.blocks();
    return seen(here < before,
                std::to_string(here) + " instructions of warps a block, " + std::to_string(before) + " in sum_unroll");
}

verdict six_barriers_fewer(const engine::evidence& e, const step_result& other) {
    const double here = engine::barriers_per_warp(e.first());
    const double before = engine::barriers_per_warp(other.launches.front());
    return seen(before - here == 6, number(here, 0) + " barriers a warp, " + number(before, 0) + " in sum_unroll");
}

} // namespace

reduction single_warp() {
    return {
        .about = {"sum_warp", "587's single warp, volatile", "ladder/reduce/03b_single_warp.cu",
                  "one warp left: no barriers and no conditions", "587, Single Warp Optimization", false, "sum_unroll"},
        .luck = lockstep_luck,
        .blocks = one_each,
        .height = height_one_each,
        .rounds = rounds_of<single_warp_round>(),
        .claims = {
            {"this does incur more additions and shared memory accesses", "587, Single Warp Optimization",
             engine::compared("sum_unroll", more_additions)},
            {"remove individual tid check to reduce instruction count", "587, Single Warp Optimization",
             engine::compared("sum_unroll", fewer_instructions_a_block)},
            {"sum_warp further removes unnecessary barriers", "587, Experimental Results: Further Optimizations",
             engine::compared("sum_unroll", six_barriers_fewer)},
            {"threads in one warp always execute the same instruction: they are synchronized without __syncthreads()",
             "587, When Only One Warp Remains Active", lockstep_is_enough().refuted_by(engine::step_in_place("5"))},
            {"sum_warp is faster than sum_unroll", "587, Experimental Results: Further Optimizations",
             engine::faster_than("sum_unroll",
                                 published::t4_speedup(published::t4_sum_unroll, published::t4_sum_warp))},
        }};
}

} // namespace warpfold::ladder::reduce
