// SPDX-License-Identifier: MIT
// The lectures' examples at their own sizes of blocks: trees of 128, 256, 512 and 1,024 threads, and 100,000 numbers in three
// launches. (587 "Parallel Reduction", "Experimental Results: One Reduction Round"; 380 "Some Observations", "A better
// implementation"; 759 "Multiple Kernel Calls".)
#include <algorithm>
#include <array>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/warps/steps.hpp"

namespace warpfold::ladder::warps {

namespace {

constexpr unsigned most_threads = 1024;

template <bool Falling>
__global__ void tree_of_any_size(const float* input, float* partial, std::uint64_t n) {
    __shared__ float scratch[most_threads];
    const unsigned tid = threadIdx.x;
    const unsigned size = blockDim.x; // a power of two
    const std::uint64_t i = std::uint64_t{blockIdx.x} * size + tid;
    scratch[tid] = i < n ? input[i] : 0.0f;
    __syncthreads();
#pragma unroll 1
    for (unsigned k = 1; k < size; k *= 2) {
        const unsigned stride = Falling ? size / 2 / k : k;
        if (Falling ? tid < stride : tid % (2 * stride) == 0) {
            scratch[tid] += scratch[tid + stride];
        }
        __syncthreads();
    }
    if (tid == 0) {
        partial[blockIdx.x] = scratch[0];
    }
}

void launch_tree(const engine::stage& on, tree kernel, unsigned block, const float* in, std::uint64_t n, float* out) {
    engine::launch(on, "tree_of_any_size", kernel, static_cast<unsigned>(engine::divide_up(n, block)), block, 0, in,
                   out, n);
}

// One round by modulo with each of these, and then one by a falling stride.
constexpr std::array<unsigned, 4> by_modulo{128, 256, 512, 1024};
constexpr unsigned by_falling = 512;
constexpr std::size_t of_512 = 2; // the launch by modulo

void append_sums(std::vector<float>& sums, const std::vector<float>& in, unsigned block) {
    for (std::size_t first = 0; first < in.size(); first += block) {
        float sum = 0;
        for (std::size_t i = first; i < std::min(first + block, in.size()); ++i) {
            sum += in[i];
        }
        sums.push_back(sum);
    }
}

engine::sample sums_by_size(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers<float>(n, seed);
    std::vector<float> sums;
    for (const unsigned block : by_modulo) {
        append_sums(sums, in, block);
    }
    append_sums(sums, in, by_falling);
    return {n, {engine::bytes_of(in)}, engine::bytes_of(sums), engine::value_type::float32};
}

void run_sizes(const engine::stage& on) {
    float* out = on.output<float>();
    for (const unsigned block : by_modulo) {
        launch_tree(on, tree_of_any_size<false>, block, on.input<float>(), on.n, out);
        out += engine::divide_up(on.n, block);
    }
    launch_tree(on, tree_of_any_size<true>, by_falling, on.input<float>(), on.n, out);
}

using launch_record = softgpu::observe::launch_record;

double iterations(const launch_record& launch) { return engine::barriers_per_warp(launch) - 1; }

// Of one block, iteration by iteration.
std::vector<std::uint64_t> active_threads(const launch_record& launch) {
    return engine::by_interval(launch, 1, static_cast<std::size_t>(iterations(launch)), [&](const engine::counters& c) {
        return c.shared_store_bytes / sizeof(float) / launch.grid[0];
    });
}
std::vector<std::uint64_t> active_warps(const launch_record& launch) {
    return engine::by_interval(launch, 1, static_cast<std::size_t>(iterations(launch)),
                               [&](const engine::counters& c) { return c.shared_store_requests / launch.grid[0]; });
}

std::string iterations_by_size(const engine::evidence& e) {
    std::string text;
    for (std::size_t k = 0; k < by_modulo.size(); ++k) {
        const auto& launch = e.step.launches.at(k);
        text += (k == 0 ? "" : ", ") + number(iterations(launch), 0) + " with " + std::to_string(launch.block[0]);
    }
    return text + " threads";
}

verdict seven_steps(const engine::evidence& e) {
    return seen(iterations(e.step.launches.at(0)) == 7, iterations_by_size(e));
}

verdict more_with_larger_blocks(const engine::evidence& e) {
    bool more = true;
    for (std::size_t k = 1; k < by_modulo.size(); ++k) {
        more = more && iterations(e.step.launches.at(k)) > iterations(e.step.launches.at(k - 1));
    }
    return seen(more, iterations_by_size(e));
}

verdict four_more(const engine::evidence& e) {
    const auto threads_at_work = active_threads(e.step.launches.at(of_512));
    const auto warps_at_work = active_warps(e.step.launches.at(of_512));
    const std::size_t more = threads_at_work.size() - std::min<std::size_t>(5, threads_at_work.size());
    const bool one_each = std::equal(threads_at_work.begin() + 5, threads_at_work.end(), warps_at_work.begin() + 5);
    return seen(more == 4 && one_each, std::to_string(more) + " more iterations; active threads: " +
                                           list(threads_at_work) + "; in warps: " + list(warps_at_work));
}

verdict four_to_one_warp(const engine::evidence& e) {
    const auto warps_at_work = active_warps(e.step.launches.at(by_modulo.size()));
    const auto one = std::find(warps_at_work.begin(), warps_at_work.end(), 1);
    return seen(one - warps_at_work.begin() == 3, "warps with active threads: " + list(warps_at_work) +
                                                      ": all but one shut down after " +
                                                      std::to_string(one - warps_at_work.begin() + 1) + " iterations");
}

// The lecture's: 391 blocks of 256 threads, 2 of 256, and one of 32.
constexpr std::uint64_t numbers_of_the_slide = 100'000;
constexpr std::array<unsigned, 3> blocks_of_the_slide{256, 256, 32};

engine::sample one_sum(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers<float>(n, seed, 100); // sums of them are exact
    float sum = 0;
    for (const float value : in) {
        sum += value;
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(std::vector<float>{sum}), engine::value_type::float32};
}

void run_three_calls(const engine::stage& on) {
    const float* in = on.input<float>();
    std::uint64_t left = on.n;
    float* out = on.temporary<float>();
    for (const unsigned block : blocks_of_the_slide) {
        const std::uint64_t blocks = engine::divide_up(left, block);
        launch_tree(on, tree_of_any_size<true>, block, in, left, blocks == 1 ? on.output<float>() : out);
        in = out;
        out += blocks;
        left = blocks;
    }
}

std::string shapes(const step_result& step) {
    std::string text;
    for (const auto& launch : step.launches) {
        text += (text.empty() ? "" : ", ") + std::to_string(launch.grid[0]) + " of " + std::to_string(launch.block[0]);
    }
    return "blocks and their threads: " + text;
}

verdict as_on_the_slide(const engine::evidence& e) {
    constexpr std::array<unsigned, 3> blocks{391, 2, 1};
    bool same = e.step.launches.size() == blocks.size();
    for (std::size_t k = 0; same && k < blocks.size(); ++k) {
        same = e.step.launches[k].grid[0] == blocks.at(k) && e.step.launches[k].block[0] == blocks_of_the_slide.at(k);
    }
    return seen(same, shapes(e.step));
}

std::uint64_t elements_loaded(const launch_record& launch) { return launch.total.global_load_bytes / sizeof(float); }

verdict entries_are_blocks(const engine::evidence& e) {
    bool same = elements_loaded(e.step.launches.at(0)) == e.n();
    std::vector<std::uint64_t> loaded;
    for (std::size_t k = 0; k < e.step.launches.size(); ++k) {
        loaded.push_back(elements_loaded(e.step.launches[k]));
        same = same && (k == 0 || loaded[k] == e.step.launches[k - 1].grid[0]);
    }
    return seen(same, "elements loaded by each launch: " + list(loaded));
}

verdict almost_all_idle(const engine::evidence& e) {
    const auto& last = e.step.launches.back();
    const std::uint64_t all = std::uint64_t{last.grid[0]} * last.block[0];
    return seen(8 * elements_loaded(last) <= all, std::to_string(elements_loaded(last)) + " of the " +
                                                      std::to_string(all) +
                                                      " threads of the last stage have an element");
}

constexpr const char* source = "ladder/warps/10_block_sizes.cu";
constexpr const char* calls = "759, Multiple Kernel Calls";

} // namespace

engine::step_definition block_sizes() {
    return {.about = {"block sizes", "trees of 128 to 1,024 threads", source,
                      "one round with each size, by modulo; with 512 threads by a falling stride too",
                      "587, Experimental Results: One Reduction Round"},
            .data = sums_by_size,
            .run = run_sizes,
            .claims = {
                {"for M=128, only 7 steps are needed", "587, Parallel Reduction",
                 engine::counted(seven_steps).refuted_by(engine::launches_exchanged(0, 1))},
                {"for the same N, larger M lead to more reduction steps per block",
                 "587, Experimental Results: One Reduction Round",
                 engine::counted(more_with_larger_blocks).refuted_by(engine::launches_exchanged(1, 3))},
                {"after the 5th, up to 4 more iterations (512/32=16=2^4), where each has one thread activated in a "
                 "warp",
                 "380, Some Observations", engine::counted(four_more).refuted_by(engine::launches_exchanged(2, 4))},
                {"for a 512-thread block, 4 iterations to shut down all but one warp", "380, A better implementation",
                 engine::counted(four_to_one_warp).refuted_by(engine::launches_exchanged(2, 4))}}};
}

engine::step_definition three_calls() {
    return {.about = {"three calls", "100,000 numbers in three launches", source,
                      "the launch is the barrier between the stages", calls},
            .data = one_sum,
            .run = run_three_calls,
            .size = [](std::uint64_t) { return numbers_of_the_slide; },
            .scratch_bytes = [](std::uint64_t n) { return 2 * n / 256 * sizeof(float); },
            .claims = {{"391 blocks of 256 threads, then two blocks of 256 threads, then one block of 32 threads",
                        calls, engine::launched(as_on_the_slide).refuted_by(engine::launches_exchanged(1, 2))},
                       {"each subsequent stage operates on a number of entries equal to the number of blocks in the "
                        "previous stage",
                        calls, engine::counted(entries_are_blocks).refuted_by(engine::launches_exchanged(0, 1))},
                       {"third and last stage: almost all threads idle", calls,
                        engine::counted(almost_all_idle).refuted_by(engine::launches_exchanged(0, 2))}}};
}

} // namespace warpfold::ladder::warps
