// SPDX-License-Identifier: MIT
// The best number of blocks for a reduction whose threads add many elements each: kernel 7 with blocks of 128 threads, by the size of
// its grid. (759 "Algorithm Cascading", "Kernel 7, Comments", "What About Cost?".)
// The tree has its barriers here, since the grid is the subject; the kernel as the slides have it is reduce's step 7.
#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/occupancy/definition/sweep.hpp"
#include "ladder/occupancy/steps.hpp"
#include "measure/device.hpp"
#include "measure/flush.hpp"

namespace warpfold::ladder::occupancy {

namespace {

constexpr unsigned block = 128; // as on the slide

// One sum a block, of a power of two of threads, 128 at most.
__global__ void add_at_grid_stride(int* out, const int* in, std::uint64_t n) {
    __shared__ int sums[block];
    const std::uint64_t grid_size = std::uint64_t{blockDim.x} * 2 * gridDim.x;
    int sum = 0;
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * (blockDim.x * 2) + threadIdx.x; i < n; i += grid_size) {
        sum += in[i];
        if (i + blockDim.x < n) {
            sum += in[i + blockDim.x];
        }
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            sums[threadIdx.x] += sums[threadIdx.x + stride];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = sums[0];
    }
}

constexpr std::array<unsigned, 4> grids_of_the_step{64, 256, 1024, 4096};
constexpr unsigned most_blocks = 16384;

// The slide's example: 1024 elements, 32 blocks of 4 threads.
constexpr std::uint64_t elements_of_the_example = 1024;
constexpr unsigned blocks_of_the_example = 32;
constexpr unsigned threads_of_the_example = 4;

engine::sample sums(std::uint64_t n, std::uint64_t seed) {
    if (n == 0) {
        return {};
    }
    const auto in = engine::numbers(n, seed);
    std::int32_t sum = 0;
    std::int32_t of_the_example = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
        sum += in[i];
        of_the_example += i < elements_of_the_example ? in[i] : 0;
    }
    std::vector<std::int32_t> right(grids_of_the_step.size(), sum);
    right.push_back(of_the_example);
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

void run_grids(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    int* const partial = on.temporary<int>();
    int* out = on.output<int>();
    for (const unsigned blocks : grids_of_the_step) {
        engine::launch(on, "add_at_grid_stride", add_at_grid_stride, blocks, block, 0, partial, on.input<int>(), on.n);
        engine::launch(on, "add_at_grid_stride", add_at_grid_stride, 1, block, 0, out++, partial, blocks);
    }
    engine::launch(on, "add_at_grid_stride", add_at_grid_stride, blocks_of_the_example, threads_of_the_example, 0,
                   partial, on.input<int>(), std::min(on.n, elements_of_the_example));
    engine::launch(on, "add_at_grid_stride", add_at_grid_stride, 1, block, 0, out, partial, blocks_of_the_example);
}

constexpr std::uint64_t measured_elements = std::uint64_t{1} << 25; // with 64 to 256 blocks 4096 to 1024 a thread

struct by_grid {
    unsigned blocks = 0;
    double seconds = 0; // of both launches
    [[nodiscard]] double elements_a_thread() const {
        return static_cast<double>(measured_elements) / (static_cast<double>(blocks) * block);
    }
};

using grid_times = std::vector<by_grid>;

// The fastest of five, the L2 cache emptied before each.
const std::vector<by_grid>& measured_grids(std::uint64_t l2_bytes) {
    static const std::vector<by_grid> all = [&] {
        const measure::stream on;
        const measure::event begin;
        const measure::event end;
        const measure::device_memory in(measured_elements * sizeof(int));
        const measure::device_memory partial((most_blocks + 1) * sizeof(int));
        WARPFOLD_CUDA_CHECK(cudaMemsetAsync(in.data(), 1, in.bytes(), on.handle()));
        measure::l2_flush flush(l2_bytes);
        auto* const sums_of_blocks = static_cast<int*>(partial.data());
        std::vector<by_grid> taken;
        for (unsigned blocks = 16; blocks <= most_blocks; blocks *= 2) {
            double best = std::numeric_limits<double>::max();
            for (int sample = 0; sample < 5; ++sample) {
                flush.run(on);
                begin.record(on.handle());
                add_at_grid_stride<<<blocks, block, 0, on.handle()>>>(
                    sums_of_blocks, static_cast<const int*>(in.data()), measured_elements);
                add_at_grid_stride<<<1, block, 0, on.handle()>>>(sums_of_blocks + most_blocks, sums_of_blocks, blocks);
                end.record(on.handle());
                end.synchronize();
                WARPFOLD_CUDA_CHECK(cudaGetLastError());
                best = std::min(best, end.seconds_since(begin));
            }
            taken.push_back({blocks, best});
        }
        return taken;
    }();
    return all;
}

std::string in_words(const by_grid& one) {
    return std::to_string(one.blocks) + " blocks " + number(one.seconds * 1e6, 1) + " us";
}

grid_times measure_grids(const engine::evidence& e) { return measured_grids(e.report.device.l2_bytes); }

verdict few_blocks_are_best(const engine::evidence& /*e*/, const grid_times& all) {
    const by_grid best = *std::min_element(all.begin(), all.end(),
                                           [](const by_grid& a, const by_grid& b) { return a.seconds < b.seconds; });
    std::string others;
    for (const by_grid& one : all) {
        others += one.blocks == 64 || one.blocks == 256 ? "; " + in_words(one) : "";
    }
    return seen(best.blocks >= 64 && best.blocks <= 256, "2^25 ints, blocks of 128 threads: best " + in_words(best) +
                                                             ", " + number(best.elements_a_thread(), 0) +
                                                             " elements a thread" + others);
}

// A warp of the example has four threads, each of which loads two numbers at a time.
verdict as_in_the_example(const engine::evidence& e) {
    if (e.n() < elements_of_the_example) {
        return unseen("the example has 1024 elements");
    }
    const auto& launch = e.step.launches[2 * grids_of_the_step.size()];
    const double warps = static_cast<double>(launch.grid[0]) * std::max(launch.block[0] / 32, 1u);
    const double loads = static_cast<double>(launch.total.global_load_requests) / warps;
    return seen(loads == 8, number(loads / 2, 1) + " times two loads of each thread, " +
                                std::to_string(std::uint64_t{launch.grid[0]} * launch.block[0]) + " threads");
}

// Lanes of warps times the instructions that they execute, idle or not, over n.
double cost(const softgpu::observe::launch_record& launch, std::uint64_t n) {
    return 32 * static_cast<double>(launch.total.warp_instructions) / static_cast<double>(n);
}

verdict cost_is_linear(const engine::evidence& e) {
    const auto& few = e.step.launches.front();
    const auto& many = e.step.launches[2 * (grids_of_the_step.size() - 1)];
    if (e.n() < 16 * std::uint64_t{grids_of_the_step.front()} * block) {
        return unseen("needs 16 elements a thread of the smallest grid");
    }
    return seen(cost(many, e.n()) > 2 * cost(few, e.n()),
                "threads times instructions of each: " + number(cost(few, e.n()), 1) + " n with " +
                    std::to_string(std::uint64_t{few.grid[0]} * block) + " threads, " + number(cost(many, e.n()), 1) +
                    " n with " + std::to_string(std::uint64_t{many.grid[0]} * block));
}

const grid_times of_an_h200{{64, 771.6e-6}, {256, 199.3e-6}, {2048, 43.1e-6}};

} // namespace

engine::step_definition best_grid() {
    return {
        .about = {"grids", "how many blocks", "ladder/occupancy/07_grids.cu",
                  "a reduction whose threads add many elements each, in grids of 64 to 4096 blocks",
                  "759, Algorithm Cascading"},
        .data = sums,
        .run = run_grids,
        .size = engine::at_most(1u << 22),
        .scratch_bytes = [](std::uint64_t) { return most_blocks * sizeof(int); },
        .claims = {{"on G80, best performance with 64-256 blocks of 128 threads, 1024-4096 elements per thread",
                    "759, Algorithm Cascading",
                    engine::measured(measure_grids, few_blocks_are_best)
                        .refuted_by(engine::figures_in_place("the times of an H200", of_an_h200))},
                   {"1024 elements, 32 blocks of 4 threads: a thread has to add two numbers, then two numbers, then "
                    "two numbers, then two more",
                    "759, Kernel 7, Comments",
                    engine::counted(as_in_the_example)
                        .refuted_by(engine::launches_exchanged(0, 2 * grids_of_the_step.size()))},
                   {"N threads cost O(N log N), which is not cost efficient; O(N / log N) threads cost O(N)",
                    "759, What About Cost?",
                    engine::counted(cost_is_linear)
                        .refuted_by(engine::launches_exchanged(0, 2 * (grids_of_the_step.size() - 1)))}}};
}

extra_table grid_table(const device_description& device) {
    extra_table table{"a reduction of 2^25 ints in blocks of 128 threads, by the size of its grid",
                      {"blocks", "elements a thread", "time us", "GB/s"},
                      {}};
    for (const by_grid& one : measured_grids(device.l2_bytes)) {
        table.rows.push_back({std::to_string(one.blocks), number(one.elements_a_thread(), 0),
                              number(one.seconds * 1e6, 1),
                              number(measured_elements * sizeof(int) / one.seconds * 1e-9, 0)});
    }
    return table;
}

} // namespace warpfold::ladder::occupancy
