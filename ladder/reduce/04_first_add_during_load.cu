// SPDX-License-Identifier: MIT
// Step 4: the first add during the load. Each thread loads two elements and stores their sum, so that half as many
// blocks do, and no thread is idle in the first addition. (759 "Reduction #4", Kharagpur "Reduction 4".)
// Mended: the slides read past the array unless its length is a multiple of two blocks.
#include "ladder/reduce/definition/published.hpp"
#include "ladder/reduce/device/dispatch.cuh"
#include "ladder/reduce/device/scratch.cuh"
#include "ladder/reduce/steps.hpp"

namespace warpfold::ladder::reduce {

template <class T, class Op>
__global__ void add_during_load(const T* input, T* partial, std::uint64_t n, unsigned size) {
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

struct first_add_during_load_round {
    template <class T, class Op>
    static void round(const launch_context& c, const T* in, std::uint64_t n, T* out) {
        const unsigned size = padded(c.device.block);
        launch(c, "add_during_load", add_during_load<T, Op>, size * sizeof(T), in, out, n, size);
    }
};

verdict half_the_blocks(const engine::evidence& e) {
    const std::uint64_t before = divide_up(e.n(), e.block());
    return seen(e.blocks() == divide_up(before, 2),
                std::to_string(e.blocks()) + " blocks, where one element a thread takes " + std::to_string(before));
}

verdict two_loads_each(const engine::evidence& e) {
    if (e.n() % (2 * std::uint64_t{e.block()}) != 0) {
        return unseen("said of whole blocks: n is no multiple of two blocks");
    }
    const double each_loads = static_cast<double>(e.first().total.global_load_bytes) /
                              static_cast<double>(e.element_bytes()) / (static_cast<double>(e.blocks()) * e.block());
    return seen(each_loads == 2, number(each_loads, 2) + " elements loaded and added by each thread");
}

verdict fewer_barriers(const engine::evidence& e, const step_result& other) {
    const double here = static_cast<double>(engine::total(e.step).barriers) / static_cast<double>(e.n());
    const double before = static_cast<double>(engine::total(other).barriers) / static_cast<double>(e.n());
    return seen(here < before, number(here, 4) + " barriers an element, " + number(before, 4) + " in step 3");
}

verdict half_idle_in_loop(const engine::evidence& e) {
    const auto threads = active_threads(e).front();
    return seen(2 * threads == e.block(), std::to_string(threads) + " of " + std::to_string(e.block()) +
                                              " threads add in the loop's first iteration");
}

} // namespace

reduction first_add_during_load() {
    return {.about = {"4", "first add during load", "ladder/reduce/04_first_add_during_load.cu",
                      "each thread adds two elements as it loads them: no thread idle, half as many blocks",
                      "759, Reduction #4; Kharagpur, Reduction 4"},
            .blocks = two_each,
            .height = height_two_each,
            .rounds = rounds_of<first_add_during_load_round>(),
            .claims = {
                {"the number of blocks you need now is half of what it used to be",
                 "759, Reduction #4: First Add During Load",
                 engine::launched(half_the_blocks).refuted_by(engine::step_in_place("3"))},
                {"two loads and first add of the reduction in each thread", "759, Reduction #4: First Add During Load",
                 engine::counted(two_loads_each).refuted_by(engine::step_in_place("3"))},
                {"half of the threads are idle on first loop iteration, still", "Kharagpur, Reduction 4: Analysis",
                 counted_power_of_two(2, half_idle_in_loop).refuted_by(load_as_iteration())},
                {"fewer barriers for each element", "beyond the lectures", engine::compared("3", fewer_barriers)},
                {"far from bandwidth bound: a likely bottleneck is instruction overhead", "759, Instruction Bottleneck",
                 share_of_reading(0, 0.7, "17 of 86.4 GB/s on the G80")},
                {"faster than step 3",
                 "759, Performance for 4M element reduction (kernel 4); Kharagpur, Reduction 4: Analysis; 380, "
                 "Performance for 4M element reduction",
                 engine::faster_than("3", published::step_speedup(4))},
            }};
}

} // namespace warpfold::ladder::reduce
