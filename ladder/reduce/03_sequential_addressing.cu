// SPDX-License-Identifier: MIT
// Step 3: sequential addressing. The stride falls from half the block to 1, and consecutive threads read consecutive
// words: no bank conflicts. (759 "Reduction #3", Kharagpur "Reduction 3", 587 sum_seq, 380 and parallel-patterns "A
// better implementation".)
// Mended: the slides lose elements unless the block is a power of two (here the scratch is padded to one); 380 stops at
// stride > 1 and so loses the last addition, and its variant that leaves the loop early deserts the others' barrier.
#include "ladder/reduce/definition/published.hpp"
#include "ladder/reduce/device/dispatch.cuh"
#include "ladder/reduce/device/scratch.cuh"
#include "ladder/reduce/steps.hpp"

namespace warpfold::ladder::reduce {

template <class T, class Op>
__global__ void sum_seq(const T* input, T* partial, std::uint64_t n, unsigned size) {
    T* const scratch = shared_scratch<T>();
    const Op op;
    const unsigned tid = threadIdx.x;
    const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + tid;

    scratch[tid] = i < n ? input[i] : Op::identity();
    fill_padding<T, Op>(scratch, size);
    __syncthreads();

    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
        if (tid < stride) {
            scratch[tid] = op(scratch[tid], scratch[tid + stride]);
        }
        __syncthreads();
    }
    if (tid == 0) {
        partial[blockIdx.x] = scratch[0];
    }
}

namespace {

struct sequential_addressing_round {
    template <class T, class Op>
    static void round(const launch_context& c, const T* in, std::uint64_t n, T* out) {
        const unsigned size = padded(c.device.block);
        launch(c, "sum_seq", sum_seq<T, Op>, size * sizeof(T), in, out, n, size);
    }
};

bool active_below_stride(unsigned tid, unsigned stride, unsigned /*size*/) { return tid < stride; }

verdict no_conflicts(const engine::evidence& e) {
    const auto conflicts = engine::bank_conflicts(engine::total(e.step));
    return seen(conflicts == 0, std::to_string(conflicts) + " bank conflicts in all launches");
}

verdict last_five_diverge(const engine::evidence& e) {
    const auto here = divergent_warps(e);
    return seen(here == each(falling_strides(e.block(), active_below_stride), &iteration::divergent_warps),
                "divergent warps per stride, the largest first: " + list(here));
}

verdict same_active_threads(const engine::evidence& e, const step_result& other) {
    const auto before = active_threads(e.of(other));
    const auto here = active_threads(e);
    return seen(here == before, "active threads per iteration: " + list(here) + "; in step 2: " + list(before));
}

verdict half_idle_first(const engine::evidence& e) {
    if (e.block() < 2) {
        return unseen("a block of one thread has no iteration");
    }
    const auto threads = active_threads(e).front();
    return seen(2 * threads == e.block(),
                std::to_string(threads) + " of " + std::to_string(e.block()) + " threads add");
}

verdict warps_shut_down(const engine::evidence& e) {
    const auto warps = active_warps(e);
    std::size_t until_one = 0;
    while (until_one < warps.size() && warps[until_one] > 1) {
        ++until_one;
    }
    return seen(until_one + 1 == log2_up(e.block()) - 5, "warps with active threads per iteration: " + list(warps));
}

// In all three kernels: what their threads store in shared memory.
verdict same_work(const engine::evidence& e, const step_result& packed) {
    const step_result* const modulo = e.other("1");
    if (modulo == nullptr || modulo->launches.empty()) {
        return unseen("needs step 1 in the same run");
    }
    const auto results = [&](const step_result& s) { return engine::total(s).shared_store_bytes / e.element_bytes(); };
    return seen(results(e.step) == results(packed) && results(packed) == results(*modulo),
                list(std::vector<std::uint64_t>{results(*modulo), results(packed), results(e.step)}) +
                    " results stored by sum_mod, sum_idx and sum_seq");
}

} // namespace

reduction sequential_addressing() {
    return {
        .about = {"3", "sequential addressing", "ladder/reduce/03_sequential_addressing.cu",
                  "the stride falls, consecutive threads read consecutive words: no bank conflicts",
                  "759, Reduction #3; 587, sum_seq"},
        .blocks = one_each,
        .height = height_one_each,
        .rounds = rounds_of<sequential_addressing_round>(),
        .claims = {
            {"sequential addressing is shared memory conflict free",
             "759, Parallel Reduction: Sequential Addressing; 587, Resolve Bank Conflicts via Sequential Accesses; "
             "380, A better implementation",
             engine::counted(no_conflicts).refuted_by(engine::step_in_place("2"))},
            {"only the last 5 iterations will have divergence",
             "380, A better implementation; parallel-patterns, Better Reduction Step",
             engine::counted(last_five_diverge).refuted_by(engine::step_in_place("1"))},
            {"same active threads as sum_idx although stride updates differently",
             "587, Resolve Bank Conflicts via Sequential Accesses",
             counted_power_of_two(1, engine::compared("2", same_active_threads))
                 .refuted_by(engine::step_in_place("sum_warp"))},
            {"all three kernels complete the same amount of computations",
             "587, Experimental Results: One Reduction Round",
             counted_power_of_two(1, engine::compared("2", same_work)).refuted_by(engine::step_in_place("sum_warp"))},
            {"half of the threads are idle on first loop iteration",
             "759, Idle Threads…; Kharagpur, Reduction 3: Analysis",
             counted_power_of_two(2, half_idle_first).refuted_by(load_as_iteration())},
            {"entire warps will be shut down as iterations progress: log2(M) - 5 iterations to all but one, 4 for 512 "
             "threads",
             "380, A better implementation",
             counted_power_of_two(64, warps_shut_down).refuted_by(engine::step_in_place("1"))},
            {"faster than step 2",
             "759, Performance for 4M element reduction (kernel 3); Kharagpur, Reduction 3: Analysis; 380, Performance "
             "for 4M element reduction",
             engine::faster_than("2", published::step_speedup(3))},
            {"sum_seq is faster than sum_idx", "587, Experimental Results: One Reduction Round",
             engine::faster_than("2", published::t4_speedup(published::t4_sum_idx, published::t4_sum_seq))},
        }};
}

} // namespace warpfold::ladder::reduce
