// SPDX-License-Identifier: MIT
// Step 2: the active threads packed into the first warps by a strided index, which brings bank conflicts. (759
// "Reduction #2", Kharagpur "Reduction 2", 587 sum_idx.)
// Mended: 759 and Kharagpur compare a signed index with blockDim.x and read past the scratch unless the block is a
// power of two (587 asks index + stride < M).
#include "ladder/reduce/definition/published.hpp"
#include "ladder/reduce/device/dispatch.cuh"
#include "ladder/reduce/device/scratch.cuh"
#include "ladder/reduce/steps.hpp"

namespace warpfold::ladder::reduce {

template <class T, class Op>
__global__ void sum_idx(const T* input, T* partial, std::uint64_t n) {
    T* const scratch = shared_scratch<T>();
    const Op op;
    const unsigned size = blockDim.x;
    const unsigned tid = threadIdx.x;
    const std::uint64_t i = std::uint64_t{blockIdx.x} * size + tid;

    scratch[tid] = i < n ? input[i] : Op::identity();
    __syncthreads();

    for (unsigned stride = 1; stride < size; stride *= 2) {
        const unsigned index = 2 * stride * tid;
        if (index + stride < size) {
            scratch[index] = op(scratch[index], scratch[index + stride]);
        }
        __syncthreads();
    }
    if (tid == 0) {
        partial[blockIdx.x] = scratch[0];
    }
}

namespace {

struct strided_index_round {
    template <class T, class Op>
    static void round(const launch_context& c, const T* in, std::uint64_t n, T* out) {
        launch(c, "sum_idx", sum_idx<T, Op>, c.device.block * sizeof(T), in, out, n);
    }
};

bool active_in_front(unsigned tid, unsigned stride, unsigned size) { return 2 * stride * tid + stride < size; }

verdict first_threads_active(const engine::evidence& e) {
    const auto wanted = rising_strides(e.block(), active_in_front);
    const auto here = active_threads(e);
    return seen(here == each(wanted, &iteration::threads) && active_warps(e) == each(wanted, &iteration::warps),
                "active threads per stride: " + list(here) + "; in warps: " + list(active_warps(e)));
}

verdict packed(const engine::evidence& e) {
    const auto here = active_warps(e);
    return seen(here == each(rising_strides(e.block(), active_in_front), &iteration::warps),
                "warps with active threads per stride: " + list(here));
}

verdict less_divergence(const engine::evidence& e, const step_result& other) {
    if (e.block() < 64) {
        return unseen("needs blocks of two whole warps");
    }
    const auto here = engine::total(e.step).divergent_branches;
    const auto before = engine::total(other).divergent_branches;
    return seen(here < before, std::to_string(here) + " divergent branches, " + std::to_string(before) + " in step 1");
}

verdict two_way_conflict(const engine::evidence& e) {
    const double degree = conflict_degrees(e).front();
    return seen(degree == 2, number(degree, 2) + " passes at stride 1 where one would do");
}

verdict larger_strides_conflict(const engine::evidence& e) {
    const auto degrees = conflict_degrees(e);
    bool holds = true; // the last stride has one thread, which cannot conflict
    for (std::size_t k = 1; k + 1 < degrees.size(); ++k) {
        holds = holds && degrees[k] >= 2;
    }
    return seen(holds, "passes over passes without conflicts, per stride: " + list(degrees, 2));
}

} // namespace

reduction strided_index() {
    return {.about = {"2", "strided index, bank conflicts", "ladder/reduce/02_strided_index.cu",
                      "the first threads add, so that whole warps are active or idle; their addresses are strided",
                      "759, Reduction #2; 587, sum_idx"},
            .blocks = one_each,
            .height = height_one_each,
            .rounds = rounds_of<strided_index_round>(),
            .claims = {
                {"the first M/(2 stride) threads should be active", "587, Pack Active Threads",
                 engine::counted(first_threads_active).refuted_by(engine::step_in_place("1"))},
                {"as few warps as possible have active threads now", "587, Pack Active Threads",
                 engine::counted(packed).refuted_by(engine::step_in_place("1"))},
                {"sum_idx reduces warp divergence", "587, Experimental Results: One Reduction Round",
                 engine::compared("1", less_divergence)},
                {"at stride 1 both operands of a warp are in 16 banks: two-way bank conflicts",
                 "587, Shared Memory Bank Conflicts; Kharagpur, Shared Memory Bank Conflict",
                 counted_power_of_two(64, two_way_conflict).refuted_by(engine::step_in_place("3"))},
                {"larger strides do not help to remove bank conflicts", "587, Shared Memory Bank Conflicts",
                 counted_power_of_two(64, larger_strides_conflict).refuted_by(engine::step_in_place("3"))},
                {"faster than step 1",
                 "759, Performance for 4M element reduction (kernel 2); Kharagpur, Reduction 3: Analysis; 380, "
                 "Performance for 4M element reduction",
                 engine::faster_than("1", published::step_speedup(2))},
                {"sum_idx is faster than sum_mod", "587, Experimental Results: One Reduction Round",
                 engine::faster_than("1", published::t4_speedup(published::t4_sum_mod, published::t4_sum_idx))},
            }};
}

} // namespace warpfold::ladder::reduce
