// SPDX-License-Identifier: MIT
// Step 7: many adds a thread (algorithm cascading, Brent's theorem). Few blocks, whose threads add elements at the
// stride of the whole grid before the tree begins. (759 "Reduction #7", Kharagpur "Reduction 7", 380 "Final Optimized
// Kernel".)
// Mended: the slides read past the array in the last pair (380 says so itself) and accumulate in shared memory; n was
// 32 bits wide. The last warp is step 5's, right only by luck.
#include "ladder/reduce/definition/published.hpp"
#include "ladder/reduce/device/dispatch.cuh"
#include "ladder/reduce/device/last_warp.cuh"
#include "ladder/reduce/device/scratch.cuh"
#include "ladder/reduce/device/shuffles.cuh"
#include "ladder/reduce/device/unrolled_tree.cuh"
#include "ladder/reduce/steps.hpp"

namespace warpfold::ladder::reduce {

template <unsigned size, class T, class Op>
__global__ void add_many(const T* input, T* partial, std::uint64_t n) {
    T* const scratch = shared_scratch<T>();
    const unsigned tid = threadIdx.x;

    scratch[tid] = add_at_grid_stride<T, Op>(input, n);
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

struct many_adds_round {
    template <class T, class Op>
    static void round(const launch_context& c, const T* in, std::uint64_t n, T* out) {
        with_block_size(c.device.block, [&]<unsigned size>() {
            launch(c, "add_many", add_many<size, T, Op>, padded(size, 64) * sizeof(T), in, out, n);
        });
    }
};

verdict few_blocks(const engine::evidence& e) {
    const auto tiling = divide_up(e.n(), 2 * std::uint64_t{e.block()});
    if (tiling <= 1) {
        return unseen("one block takes the whole array");
    }
    return seen(
        e.blocks() < tiling,
        std::to_string(e.blocks()) + " blocks, where two elements a thread take " + std::to_string(tiling) +
            "; for 16 n: " +
            std::to_string(many_each({.block = e.block(), .resident_blocks = e.resident_blocks}, 16 * e.n(), 0)));
}

verdict log_n_each(const engine::evidence& e) {
    if (e.blocks() == 1) {
        return unseen("the array is too short: one block takes it");
    }
    const double elements = elements_per_thread(e);
    return seen(elements >= log2_up(e.n()),
                number(elements, 1) + " elements a thread; log2(n) = " + std::to_string(log2_up(e.n())));
}

verdict coalesced(const engine::evidence& e) {
    if (e.block() * e.element_bytes() % 128 != 0) {
        return unseen("needs blocks of whole 128-byte lines");
    }
    if (e.report.request.offset % 128 != 0) {
        return unseen("the array begins within a 128-byte line");
    }
    const auto& c = e.first().total;
    const std::uint64_t least = divide_up(e.n() * e.element_bytes(), 32);
    return seen(c.global_load_sectors == least,
                number(static_cast<double>(c.global_load_sectors) / static_cast<double>(c.global_load_requests), 2) +
                    " sectors a request of " +
                    number(static_cast<double>(c.global_load_bytes) / static_cast<double>(c.global_load_requests), 0) +
                    " bytes; " + std::to_string(c.global_load_sectors) + " in all, " + std::to_string(least) +
                    " at least");
}

verdict fewer_launches(const engine::evidence& e, const step_result& other) {
    const std::string figure = count_of(e.step.launches.size(), "launch", "launches") + ", " +
                               std::to_string(other.launches.size()) + " in step 6";
    return e.step.launches.size() == other.launches.size()
               ? no_difference(figure)
               : seen(e.step.launches.size() < other.launches.size(), figure);
}

// As many elements a thread, one after the other instead of at the stride of the grid.
template <class T>
__global__ void add_in_a_row(const T* input, T* partial, std::uint64_t n) {
    const std::uint64_t threads = std::uint64_t{blockDim.x} * gridDim.x;
    const std::uint64_t each = (n + threads - 1) / threads;
    const std::uint64_t begin = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) * each;
    T mine = 0;
    for (std::uint64_t i = begin; i < begin + each && i < n; ++i) {
        mine = sum<T>{}(mine, input[i]);
    }
    mine = block_reduce<T, sum<T>>(mine, shared_scratch<T>());
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = mine;
    }
}

struct in_a_row {
    template <class T, class Op>
    static void round(const launch_context& c, const T* in, std::uint64_t n, T* out) {
        launch(c, "add_in_a_row", add_in_a_row<T>, 32 * sizeof(T), in, out, n);
    }
};

} // namespace

reduction many_adds() {
    return {.about = {"7", "many adds per thread", "ladder/reduce/07_many_adds.cu",
                      "few blocks; each thread adds log2(n) elements or more before the tree begins",
                      "759, Reduction #7; Kharagpur, Reduction 7"},
            .luck = lockstep_luck,
            .blocks = many_each,
            .height = height_many_each,
            .rounds = rounds_of<many_adds_round>(),
            .claims = {
                {"reduce the number of blocks and have a thread do more work", "759, Kernel 7, Comments",
                 engine::launched(few_blocks).refuted_by(engine::step_in_place("6"))},
                {"each thread should sum O(log n) elements", "759, Algorithm Cascading",
                 engine::launched(log_n_each).refuted_by(engine::step_in_place("6"))},
                {"gridSize loop stride to maintain coalescing", "759, Reduction #7: Multiple Adds / Thread",
                 engine::counted(coalesced).refuted_by(mutant_of(
                     "each thread's elements in a row", {.blocks = many_each, .rounds = rounds_of<in_a_row>()}))},
                {"reduces levels in tree of recursive kernel invocations", "759, Algorithm Cascading",
                 engine::launched_with("6", fewer_launches)},
                {"instructions are executed in lockstep within a warp, so no synchronisation is needed",
                 "759, Final Kernel…", lockstep_is_enough().refuted_by(engine::step_in_place("5"))},
                {"faster than step 6",
                 "759, Performance for 4M element reduction (kernel 7); Kharagpur, Reduction 7: Analysis; 380, "
                 "Performance for 4M element reduction",
                 engine::faster_than("6", published::step_speedup(7))},
                {"strive for peak bandwidth: very low arithmetic intensity", "759, What is Our Optimization Goal?",
                 share_of_reading(0.7, 2, "62.7 of 86.4 GB/s on the G80, 73 GB/s for 2^25 ints")},
                {"algorithmic optimizations more than code optimizations", "759, Sources of Efficiency Improvement",
                 algorithm_before_code("11.84x by the algorithm, 2.54x by the code on the G80, 30.04x in all")},
            }};
}

} // namespace warpfold::ladder::reduce
