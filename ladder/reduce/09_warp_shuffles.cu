// SPDX-License-Identifier: MIT
// Step 9: warp shuffles instead of shared memory. Each warp reduces in registers; shared memory takes one value a warp.
// (380 "And More..." and "Shuffle (SHFL)".)
// Mended: the slide's __shfl_xor without _sync is gone from the language; warps with fewer than 32 threads read from
// lanes that exist only.
#include "ladder/reduce/device/dispatch.cuh"
#include "ladder/reduce/device/scratch.cuh"
#include "ladder/reduce/device/shuffles.cuh"
#include "ladder/reduce/device/unrolled_tree.cuh"
#include "ladder/reduce/steps.hpp"

namespace warpfold::ladder::reduce {

template <class T, class Op>
__global__ void shuffle(const T* input, T* partial, std::uint64_t n) {
    const T mine = block_reduce<T, Op>(add_at_grid_stride<T, Op>(input, n), shared_scratch<T>());
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = mine;
    }
}

namespace {

struct warp_shuffles_round {
    template <class T, class Op>
    static void round(const launch_context& c, const T* in, std::uint64_t n, T* out) {
        launch(c, "shuffle", shuffle<T, Op>, 32 * sizeof(T), in, out, n);
    }
};

verdict one_value_a_warp(const engine::evidence& e) {
    const auto stored = e.first().total.shared_store_bytes / e.element_bytes() / e.blocks();
    return seen(stored == e.warps(), std::to_string(stored) + " elements stored in shared memory by a block of " +
                                         std::to_string(e.warps()) + " warps");
}

verdict shuffles_without_conflicts(const engine::evidence& e) {
    const auto conflicts = engine::bank_conflicts(engine::total(e.step));
    return seen(conflicts == 0, std::to_string(conflicts) + " bank conflicts, " +
                                    std::to_string(engine::total(e.step).shuffles) + " shuffles");
}

} // namespace

reduction warp_shuffles() {
    return {.about = {"9", "warp shuffles", "ladder/reduce/09_warp_shuffles.cu",
                      "lanes read each other's registers; shared memory takes one value a warp", "380, Shuffle (SHFL)"},
            .blocks = many_each,
            .height = height_shuffles,
            .rounds = rounds_of<warp_shuffles_round>(),
            .claims = {
                {"threads can read other threads' registers: no shared memory is needed, except for one value a warp",
                 "380, Shuffle (SHFL)", engine::counted(one_value_a_warp).refuted_by(engine::step_in_place("8"))},
                {"no bank conflicts", "beyond the lectures",
                 engine::counted(shuffles_without_conflicts).refuted_by(engine::step_in_place("2"))},
                {"one barrier of the block is left", "beyond the lectures",
                 engine::counted(one_barrier_a_warp).refuted_by(engine::step_in_place("8"))},
                {"faster than step 8", "380, Reduce",
                 engine::faster_than("8", "the lecture shows a diagram without figures")},
            }};
}

} // namespace warpfold::ladder::reduce
