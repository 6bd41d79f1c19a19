// SPDX-License-Identifier: MIT
// Step 1: interleaved addressing with the divergent modulo branch. Thread t adds its neighbour at the stride if t is a
// multiple of twice the stride; the stride doubles. (759 "Reduction #1", Kharagpur "Reduction 1", 380 "Reduction #1",
// 587 sum_mod, parallel-patterns "Step 2: Reduction".)
// Mended: 759 and 380 read past the array unless its length is a multiple of the block; 759, 380 and Kharagpur read
// past the scratch unless the block is a power of two (587 asks tid + stride < M).
#include <algorithm>

#include "ladder/reduce/definition/published.hpp"
#include "ladder/reduce/device/dispatch.cuh"
#include "ladder/reduce/device/scratch.cuh"
#include "ladder/reduce/steps.hpp"

namespace warpfold::ladder::reduce {

template <class T, class Op>
__global__ void sum_mod(const T* input, T* partial, std::uint64_t n) {
    T* const scratch = shared_scratch<T>();
    const Op op;
    const unsigned size = blockDim.x;
    const unsigned tid = threadIdx.x;
    const std::uint64_t i = std::uint64_t{blockIdx.x} * size + tid;

    scratch[tid] = i < n ? input[i] : Op::identity();
    __syncthreads();

    for (unsigned stride = 1; stride < size; stride *= 2) {
        if (tid % (2 * stride) == 0 && tid + stride < size) {
            scratch[tid] = op(scratch[tid], scratch[tid + stride]);
        }
        __syncthreads();
    }
    if (tid == 0) {
        partial[blockIdx.x] = scratch[0];
    }
}

namespace {

struct interleaved_modulo_round {
    template <class T, class Op>
    static void round(const launch_context& c, const T* in, std::uint64_t n, T* out) {
        launch(c, "sum_mod", sum_mod<T, Op>, c.device.block * sizeof(T), in, out, n);
    }
};

bool active_by_modulo(unsigned tid, unsigned stride, unsigned size) {
    return tid % (2 * stride) == 0 && tid + stride < size;
}

verdict active_threads_halve(const engine::evidence& e) {
    const auto wanted = rising_strides(e.block(), active_by_modulo);
    const auto here = active_threads(e);
    const auto warps = active_warps(e);
    return seen(here == each(wanted, &iteration::threads) && warps == each(wanted, &iteration::warps),
                "active threads per stride: " + list(here) + "; in warps: " + list(warps));
}

verdict every_warp_diverges(const engine::evidence& e) {
    const auto here = divergent_warps(e);
    bool holds = true;
    for (std::size_t k = 0; k < std::min<std::size_t>(5, here.size()); ++k) {
        holds = holds && here[k] == e.warps();
    }
    return seen(holds, "divergent warps per stride, of " + std::to_string(e.warps()) + ": " + list(here));
}

verdict half_at_most(const engine::evidence& e) {
    const auto here = active_threads(e);
    const std::uint64_t most = here.empty() ? 0 : *std::max_element(here.begin(), here.end());
    return seen(2 * most <= e.block(), std::to_string(most) + " of " + std::to_string(e.block()) + " threads at most");
}

verdict quarter_on_average(const engine::evidence& e) {
    double sum_of_all = 0;
    const auto here = active_threads(e);
    if (here.empty()) {
        return unseen("a block of one thread has no tree");
    }
    for (const auto threads : here) {
        sum_of_all += static_cast<double>(threads);
    }
    const double share = sum_of_all / static_cast<double>(here.size()) / e.block();
    return seen(share < 0.25, number(100 * share, 1) + " % of the threads on average over the strides");
}

verdict whole_warps_disabled(const engine::evidence& e) {
    const auto here = active_warps(e);
    if (here.size() < 6) {
        return unseen("needs blocks of more than 32 threads");
    }
    bool holds = true;
    for (std::size_t k = 5; k < here.size(); ++k) {
        holds = holds && here[k] < e.warps();
    }
    return seen(holds, "warps with active threads per stride: " + list(here));
}

verdict no_divergence_later(const engine::evidence& e) {
    const auto here = divergent_warps(e);
    if (here.size() < 6) {
        return unseen("needs blocks of more than 32 threads");
    }
    const bool holds = std::all_of(here.begin() + 5, here.end(), [](std::uint64_t warps) { return warps == 0; });
    return seen(holds, "divergent warps per stride: " + list(here) + "; a warp with one active thread diverges too");
}

verdict log_steps(const engine::evidence& e) {
    const double iterations = engine::barriers_per_warp(e.first()) - 1;
    return seen(iterations == log2_up(e.block()),
                number(iterations, 0) + " iterations for " + std::to_string(e.block()) + " elements");
}

verdict one_operation_an_element(const engine::evidence& e) {
    const double loads =
        static_cast<double>(e.first().total.global_load_bytes) / static_cast<double>(e.element_bytes());
    std::uint64_t additions = 0;
    for (const auto threads : active_threads(e)) {
        additions += threads;
    }
    const double room = static_cast<double>(e.blocks()) * e.block(); // with zeros where there is no element
    const double operations = static_cast<double>(additions) * static_cast<double>(e.blocks()) / std::max(loads, room);
    return seen(operations > 0.9 && operations <= 1,
                number(operations, 3) + " operations for each element" + (room > loads ? " or zero" : "") + " loaded");
}

// On whole numbers that overflow nowhere, in every order of three of them.
template <template <class> class Op>
bool has_identity_and_any_order() {
    constexpr Op<std::int64_t> op;
    constexpr std::int64_t values[] = {-7, -1, 0, 1, 3, 12};
    bool holds = true;
    for (const auto a : values) {
        holds = holds && op(a, op.identity()) == a && op(op.identity(), a) == a;
        for (const auto b : values) {
            holds = holds && op(a, b) == op(b, a);
            for (const auto c : values) {
                holds = holds && op(op(a, b), c) == op(a, op(b, c));
            }
        }
    }
    return holds;
}

// What a reduction must not use: not associative, not commutative, and with an identity on one side alone.
template <class T>
struct difference {
    WARPFOLD_HOST_DEVICE static constexpr T identity() { return T{0}; }
    WARPFOLD_HOST_DEVICE constexpr T operator()(T a, T b) const { return a - b; }
};

struct subtraction {
    template <class T, class Op>
    static void round(const launch_context& c, const T* in, std::uint64_t n, T* out) {
        launch(c, "sum_mod", sum_mod<T, difference<T>>, c.device.block * sizeof(T), in, out, n);
    }
};

verdict operations_as_asked_for(const engine::evidence& e) {
    const bool laws = has_identity_and_any_order<sum>() && has_identity_and_any_order<product>() &&
                      has_identity_and_any_order<minimum>() && has_identity_and_any_order<maximum>() &&
                      has_identity_and_any_order<largest_magnitude>() && !has_identity_and_any_order<difference>();
    return seen(laws && e.step.correct,
                std::string(e.step.correct ? "as the loop on the host has it" : e.step.difference) +
                    "; identities: sum " + std::to_string(sum<int>::identity()) + ", product " +
                    std::to_string(product<int>::identity()) + ", min " + std::to_string(minimum<int>::identity()) +
                    ", max " + std::to_string(maximum<int>::identity()) + ", a user's own (largest magnitude) " +
                    std::to_string(largest_magnitude<int>::identity()));
}

verdict one_less_additions(const engine::evidence& e) {
    std::uint64_t additions = 0;
    for (const auto threads : active_threads(e)) {
        additions += threads;
    }
    return seen(additions == e.block() - 1, std::to_string(additions) + " operations for the " +
                                                std::to_string(e.block()) + " elements of a block");
}

} // namespace

reduction interleaved_modulo() {
    return {
        .about = {"1", "interleaved addressing, modulo branch", "ladder/reduce/01_interleaved_modulo.cu",
                  "a tree in shared memory; threads that are multiples of twice the stride add",
                  "759, Reduction #1; 587, sum_mod"},
        .blocks = one_each,
        .height = height_one_each,
        .rounds = rounds_of<interleaved_modulo_round>(),
        .claims = {
            {"active threads shrink by stride, from half of the block's down to one", "587, Warp Divergence Example",
             engine::counted(active_threads_halve).refuted_by(engine::step_in_place("2"))},
            {"warp divergence for stride <= 16: all warps have both active and inactive threads",
             "587, Warp Divergence Example",
             counted_power_of_two(32, every_warp_diverges).refuted_by(engine::step_in_place("2"))},
            {"no more than half of threads will be executing at any time", "380, Some Observations",
             engine::counted(half_at_most).refuted_by(load_as_iteration())},
            {"on average, less than 1/4 of the threads will be activated", "380, Some Observations",
             engine::counted(quarter_on_average).refuted_by({.what = "blocks of 8 threads", .n = 4096, .block = 8})},
            {"after the 5th iteration, entire warps in each block will be disabled", "380, Some Observations",
             engine::counted(whole_warps_disabled).refuted_by(reversed_iterations())},
            {"after the 5th iteration there is no divergence", "380, Some Observations",
             engine::counted(no_divergence_later).refuted_by(engine::step_in_place("2"))},
            {"very low arithmetic intensity: 1 flop per element loaded", "759, What is Our Optimization Goal?",
             counted_power_of_two(32, one_operation_an_element).refuted_by(engine::step_in_place("sum_warp"))},
            {"the operation is associative and commutative and has a well-defined identity value: 0 for sum, 1 for "
             "product, the smallest possible value for max, the largest for min",
             "parallel-patterns, What is it?",
             engine::check(operations_as_asked_for)
                 .refuted_by(
                     mutant_of("subtraction in its place", {.blocks = one_each, .rounds = rounds_of<subtraction>()}))},
            {"only log2(M) parallel steps are needed for M numbers", "587, Parallel Reduction",
             engine::counted(log_steps).refuted_by(engine::step_in_place("sum_warp"))},
            {"N-1 operations: no more than a sequential algorithm performs",
             "parallel-patterns, A parallel reduction tree algorithm performs N-1 Operations in log(N) steps; 759, "
             "Parallel Reduction Complexity",
             engine::counted(one_less_additions).refuted_by(engine::step_in_place("sum_warp"))},
            {"decompose into multiple kernels: each subsequent stage operates on as many entries as the previous one "
             "had "
             "blocks",
             "759, Multiple Kernel Calls; 759, Problem: Global Synchronization; 380, Solution: Kernel Decomposition",
             engine::launched([](const engine::evidence& e) {
                 return launches_shrink_by(e, e.block());
             }).refuted_by(engine::launches_exchanged(0, 1))},
        }};
}

} // namespace warpfold::ladder::reduce
