// SPDX-License-Identifier: MIT
// The reduction tree of the parallel-patterns lecture: each block takes 2 x blockDim elements, straightforward, and with
// consecutive threads; and 380's, whose threads leave the loop once they are done. (Parallel patterns "First Step: Block
// Design", "Step 2: Reduction", "Better Reduction Step"; 380 "A better implementation".)
// The first two are 01_trees.cu's by modulo and by a shrinking stride once more, since the lecture has them so: two elements a
// thread in shared memory, 1024 threads, and the barrier at the beginning of the loop, on which its claims are counted.
// 380's slide begins at stride blockDim with blockDim elements and ends before stride 1: one too high at both ends.
#include <algorithm>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/warps/steps.hpp"

namespace warpfold::ladder::warps {

namespace {

constexpr unsigned block = 1024;
constexpr unsigned taken = 2 * block;
constexpr unsigned iterations = 11; // strides 1, 2, ..., 1024

__device__ void load_two(float* partial_sum, const float* input, std::uint64_t n) {
    const unsigned t = threadIdx.x;
    const std::uint64_t start = std::uint64_t{taken} * blockIdx.x;
    partial_sum[t] = start + t < n ? input[start + t] : 0.0f;
    partial_sum[block + t] = start + block + t < n ? input[start + block + t] : 0.0f;
}

__global__ void straightforward_tree(const float* input, float* partial, std::uint64_t n) {
    __shared__ float partial_sum[taken];
    const unsigned t = threadIdx.x;
    load_two(partial_sum, input, n);
#pragma unroll 1
    for (unsigned stride = 1; stride <= block; stride *= 2) {
        __syncthreads();
        if (t % stride == 0) {
            partial_sum[2 * t] += partial_sum[2 * t + stride];
        }
    }
    if (t == 0) {
        partial[blockIdx.x] = partial_sum[0];
    }
}

__global__ void better_tree(const float* input, float* partial, std::uint64_t n) {
    __shared__ float partial_sum[taken];
    const unsigned t = threadIdx.x;
    load_two(partial_sum, input, n);
#pragma unroll 1
    for (unsigned stride = block; stride > 0; stride /= 2) {
        __syncthreads();
        if (t < stride) {
            partial_sum[t] += partial_sum[t + stride];
        }
    }
    if (t == 0) {
        partial[blockIdx.x] = partial_sum[0];
    }
}

__global__ void retiring_tree(const float* input, float* partial, std::uint64_t n) {
    __shared__ float partial_sum[taken];
    const unsigned t = threadIdx.x;
    load_two(partial_sum, input, n);
#pragma unroll 1
    for (unsigned stride = block; stride > 0; stride /= 2) {
        __syncthreads();
        if (t < stride) {
            partial_sum[t] += partial_sum[t + stride];
        } else {
            break;
        }
    }
    if (t == 0) {
        partial[blockIdx.x] = partial_sum[0];
    }
}

// The sequential algorithm, on as many elements as a block takes.
__global__ void one_thread(const float* input, float* partial, std::uint64_t n) {
    const std::uint64_t begin = std::uint64_t{taken} * blockIdx.x;
    const std::uint64_t end = begin + taken < n ? begin + taken : n;
    float sum = 0;
#pragma unroll 1
    for (std::uint64_t i = begin; i < end; ++i) {
        sum += input[i];
    }
    partial[blockIdx.x] = sum;
}

engine::sample sums_of_two_thousand(std::uint64_t n, std::uint64_t seed) {
    return partial_sums(engine::numbers<float>(n, seed), taken);
}

auto launched(const char* name, tree kernel, unsigned block_threads = block) {
    return [=](const engine::stage& on) { run_tree(on, name, kernel, taken, block_threads); };
}

verdict two_for_each(const engine::evidence& e) {
    const auto& c = e.step.launches[0].total;
    return seen(e.blocks() == engine::divide_up(e.n(), taken) && c.global_load_bytes == e.n() * sizeof(float),
                std::to_string(e.blocks()) + " blocks, " + std::to_string(taken) + " elements each");
}

verdict little_traffic(const engine::evidence& e) {
    const auto& c = e.step.launches[0].total;
    return seen(c.global_store_bytes == e.blocks() * sizeof(float), std::to_string(c.global_store_bytes) +
                                                                        " bytes are stored to global memory by " +
                                                                        std::to_string(e.blocks()) + " blocks");
}

verdict much_divergence(const engine::evidence& e) {
    const auto here = divergent(e, iterations);
    return seen(std::vector<std::uint64_t>(here.begin() + 1, here.begin() + 6) == std::vector<std::uint64_t>(5, 32),
                "divergent warps of 32 with stride 1, 2, ..., 1024: " + list(here));
}

double instructions_an_addition(const step_result& step) {
    return static_cast<double>(step.launches[0].total.thread_instructions) /
           static_cast<double>(std::max<std::uint64_t>(step.n, 2) - 1);
}

verdict complex_operations(const engine::evidence& e, const step_result& tree) {
    const double here = instructions_an_addition(e.step);
    const double there = instructions_an_addition(tree);
    return seen(there > here, number(there, 1) + " instructions of the tree's threads for each addition, " +
                                  number(here, 1) + " of the loop's");
}

// One thread that does what all threads of the tree do.
verdict slower_alone(const engine::evidence& e, const step_result& tree) {
    const double more = instructions_an_addition(tree) / instructions_an_addition(e.step);
    return seen(more > 2,
                number(more, 1) + " times the loop's instructions for one thread that does what the tree's do");
}

verdict consecutive(const engine::evidence& e) {
    const auto here = active(e, iterations);
    const auto warps = warps_at_work(e, iterations);
    return seen(std::vector<std::uint64_t>(here.begin(), here.begin() + 6) ==
                        std::vector<std::uint64_t>{1024, 512, 256, 128, 64, 32} &&
                    std::vector<std::uint64_t>(warps.begin(), warps.begin() + 6) ==
                        std::vector<std::uint64_t>{32, 16, 8, 4, 2, 1},
                "active threads: " + list(here) + "; in warps: " + list(warps));
}

verdict first_steps(const engine::evidence& e) {
    const auto here = divergent(e, iterations);
    return seen(engine::sum({here.begin(), here.begin() + 5}) == 0,
                "divergent warps with stride 1024, 512, ..., 1: " + list(here));
}

verdict last_steps(const engine::evidence& e) {
    const auto all = divergent(e, iterations); // the last with the store of the sum
    const std::vector<std::uint64_t> here(all.begin() + 6, all.end());
    return seen(std::all_of(here.begin(), here.end(), [](std::uint64_t warps) { return warps >= 1; }),
                "divergent branches in the last 5 steps: " + list(here));
}

verdict earlier(const engine::evidence& e, const step_result& other) {
    const auto here = e.step.launches[0].total;
    const auto before = other.launches[0].total;
    return seen(
        here.barriers < before.barriers && here.warp_instructions < before.warp_instructions,
        std::to_string(here.barriers / e.blocks()) + " arrivals of warps at a barrier a block, " +
            std::to_string(before.barriers / e.blocks()) + " where they stay; " +
            number(100.0 * static_cast<double>(here.warp_instructions) / static_cast<double>(before.warp_instructions),
                   0) +
            " % of the instructions");
}

constexpr const char* source = "ladder/warps/05_two_each.cu";
constexpr const char* better = "Parallel patterns, Better Reduction Step";

} // namespace

engine::step_definition straightforward() {
    return {.about = {"straightforward", "two elements a thread, straightforward", source,
                      "the threads whose number the stride divides add", "Parallel patterns, Step 2: Reduction"},
            .data = sums_of_two_thousand,
            .run = launched("straightforward_tree", straightforward_tree),
            .least_bytes = floats_read,
            .claims = {{"each thread block takes 2 x blockDim input elements",
                        "Parallel patterns, First Step: Block Design",
                        engine::counted(two_for_each).refuted_by(engine::step_in_place("modulo"))},
                       {"a lot of branch divergence", "Parallel patterns, A lot of branch divergence.",
                        engine::counted(much_divergence).refuted_by(engine::step_in_place("consecutive"))},
                       {"reduces global memory traffic due to partial sum values",
                        "Parallel patterns, Straightforward Implementation",
                        engine::counted(little_traffic).refuted_by(engine::step_in_place("one path"))}}};
}

engine::step_definition one_thread_each() {
    return {
        .about = {"loop", "one thread adds what a block takes", source, "the sequential algorithm",
                  "Parallel patterns, An efficient sequential reduction algorithm"},
        .data = sums_of_two_thousand,
        .run = launched("one_thread", one_thread, 1),
        .least_bytes = floats_read,
        .claims = {{"each operation involves much more complex address calculation and intermediate result "
                    "manipulation",
                    "Parallel patterns, Be Careful!", engine::compared("straightforward", complex_operations)},
                   {"if the parallel code is executed on a single-thread hardware, it would be significantly slower "
                    "than the original sequential algorithm",
                    "Parallel patterns, Be Careful!", engine::compared("straightforward", slower_alone)}}};
}

engine::step_definition better_step() {
    return {
        .about = {"consecutive", "two elements a thread, consecutive threads", source, "the stride shrinks", better},
        .data = sums_of_two_thousand,
        .run = launched("better_tree", better_tree),
        .least_bytes = floats_read,
        .claims = {{"1024, 512, 256, 128, 64, 32 consecutive threads are active in each step", better,
                    engine::counted(consecutive).refuted_by(engine::step_in_place("straightforward"))},
                   {"no divergence in the first 5 steps: all threads in each warp are active or inactive", better,
                    engine::counted(first_steps).refuted_by(engine::step_in_place("straightforward"))},
                   {"the final 5 steps will still have divergence", better,
                    engine::counted(last_steps)
                        .refuted_by(engine::planted("the steps in the opposite order",
                                                    [](engine::altered_evidence& altered) {
                                                        auto& all = altered.step.launches.at(0).by_interval;
                                                        all.resize(1 + iterations);
                                                        std::reverse(all.begin() + 1, all.end());
                                                    }))},
                   {"faster than straightforward", better, engine::faster_than("straightforward")}}};
}

engine::step_definition retiring() {
    return {.about = {"retiring", "threads that are done leave", source, "break instead of waiting on",
                      "380, A better implementation"},
            .data = sums_of_two_thousand,
            .run = launched("retiring_tree", retiring_tree),
            .least_bytes = floats_read,
            .expected = outcome::by_luck,
            .lesson =
                "threads of one warp have left where others of it come to the barrier: right where the hardware does "
                "not wait for those",
            .finds = "barrier reached by part of the block",
            .claims = {{"if you want to fully retire warps: break", "380, A better implementation",
                        engine::compared("consecutive", earlier)},
                       {"will likely retire warps and thus blocks faster", "380, A better implementation",
                        engine::faster_than("consecutive")}}};
}

} // namespace warpfold::ladder::warps
