// SPDX-License-Identifier: MIT
// Step 6: completely unrolled by a template over the block size, chosen at run time by a switch. (759 "Reduction #6"
// and "Invoking Template Kernels", Kharagpur "Reduction 6", 380.)
// Mended: the slides stop at 512 threads and take powers of two only (here a block counts as the next power of two);
// with blocks of fewer than 64 threads they read past the scratch. The last warp is step 5's, right only by luck.
#include "ladder/reduce/definition/published.hpp"
#include "ladder/reduce/device/dispatch.cuh"
#include "ladder/reduce/device/last_warp.cuh"
#include "ladder/reduce/device/scratch.cuh"
#include "ladder/reduce/device/unrolled_tree.cuh"
#include "ladder/reduce/steps.hpp"

namespace warpfold::ladder::reduce {

template <unsigned size, class T, class Op>
__global__ void unroll_completely(const T* input, T* partial, std::uint64_t n) {
    T* const scratch = shared_scratch<T>();
    const Op op;
    const unsigned tid = threadIdx.x;
    const std::uint64_t i = std::uint64_t{blockIdx.x} * (blockDim.x * 2) + tid;

    T mine = i < n ? input[i] : Op::identity();
    if (i + blockDim.x < n) {
        mine = op(mine, input[i + blockDim.x]);
    }
    scratch[tid] = mine;
    fill_padding<T, Op>(scratch, padded(size, 64));
    __syncthreads();

    unrolled_tree_to_64<size, T, Op>(scratch, tid);
    if (tid < 32) {
        last_warp_in_lockstep<size, T, Op>(scratch, tid);
    }
    if (tid == 0) {
        partial[blockIdx.x] = scratch[0];
    }
}

namespace {

struct completely_unrolled_round {
    template <class T, class Op>
    static void round(const launch_context& c, const T* in, std::uint64_t n, T* out) {
        with_block_size(c.device.block, [&]<unsigned size>() {
            launch(c, "unroll_completely", unroll_completely<size, T, Op>, padded(size, 64) * sizeof(T), in, out, n);
        });
    }
};

verdict fewer_instructions(const engine::evidence& e, const step_result& other) {
    const auto here = engine::total(e.step).thread_instructions;
    const auto before = engine::total(other).thread_instructions;
    const auto n = static_cast<double>(e.n());
    return seen(here < before, number(static_cast<double>(here) / n, 2) + " instructions an element, " +
                                   number(static_cast<double>(before) / n, 2) + " in step 5");
}

verdict fewer_branches(const engine::evidence& e, const step_result& other) {
    const auto here = engine::total(e.step).branches;
    const auto before = engine::total(other).branches;
    return seen(here < before, std::to_string(here) + " branches, " + std::to_string(before) + " in step 5");
}

} // namespace

reduction completely_unrolled() {
    return {.about = {"6", "completely unrolled by template", "ladder/reduce/06_completely_unrolled.cu",
                      "the block size is a template parameter, so that no loop is left; a switch chooses at run time",
                      "759, Reduction #6; Kharagpur, Reduction 6"},
            .luck = lockstep_luck,
            .blocks = two_each,
            .height = height_two_each,
            .rounds = rounds_of<completely_unrolled_round>(),
            .claims = {
                {"evaluated at compile time, results in a very efficient inner loop: fewer instructions",
                 "759, Reduction #6: Completely Unrolled", engine::compared("5", fewer_instructions)},
                {"could completely unroll the reduction: fewer branches",
                 "759, Complete Unrolling; Kharagpur, Reduction 6: Complete Unrolling",
                 engine::compared("5", fewer_branches)},
                {"when you got to one warp you don't have to synchronize", "759, Reduction #6: Completely Unrolled",
                 lockstep_is_enough().refuted_by(engine::step_in_place("5"))},
                {"faster than step 5",
                 "759, Performance for 4M element reduction (kernel 6); Kharagpur, Reduction 6: Analysis; 380, "
                 "Performance for 4M element reduction",
                 engine::faster_than("5", published::step_speedup(6))},
            }};
}

} // namespace warpfold::ladder::reduce
