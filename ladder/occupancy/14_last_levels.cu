// SPDX-License-Identifier: MIT
// The levels of a reduction by launches: how many there are by the size of the blocks, and what the last of them cost, which have
// next to nothing to do. (759 "Algorithm Cascading", "Multiple Kernel Calls"; Kharagpur "Reduction 7".)
#include <algorithm>
#include <limits>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/occupancy/definition/figures.hpp"
#include "ladder/occupancy/steps.hpp"
#include "measure/device.hpp"

namespace warpfold::ladder::occupancy {

namespace {

constexpr unsigned sizes[] = {32, 128, 1024}; // threads of a block

__global__ void sum_of_block(int* sums, const int* in, std::uint64_t n) {
    __shared__ int values[1024];
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    values[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) {
            values[threadIdx.x] += values[threadIdx.x + s];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = values[0];
    }
}

// Each level's sums lie behind those of the level before.
void reduce_by_levels(const engine::stage& on, unsigned threads, int* out) {
    const int* from = on.input<int>();
    int* to = on.temporary<int>();
    for (std::uint64_t n = on.n;;) {
        const std::uint64_t blocks = engine::divide_up(n, threads);
        engine::launch(on, "sum_of_block", sum_of_block, static_cast<unsigned>(blocks), threads, 0,
                       blocks == 1 ? out : to, from, n);
        if (blocks == 1) {
            return;
        }
        from = to;
        to += blocks;
        n = blocks;
    }
}

engine::sample sum_by_each(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers(n, seed);
    std::int32_t sum = 0;
    for (const std::int32_t value : in) {
        sum += value;
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(std::vector<std::int32_t>(std::size(sizes), sum))};
}

void run_levels(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    unsigned place = 0;
    for (const unsigned threads : sizes) {
        reduce_by_levels(on, threads, on.output<int>() + place++);
    }
}

verdict fewer_levels(const engine::evidence& e) {
    std::vector<std::uint64_t> levels(std::size(sizes));
    for (const auto& launch : e.step.launches) {
        for (std::size_t k = 0; k < levels.size(); ++k) {
            levels[k] += launch.block[0] == sizes[k] ? 1 : 0;
        }
    }
    return seen(std::is_sorted(levels.rbegin(), levels.rend()) && levels.front() > levels.back(),
                "launches for " + std::to_string(e.n()) +
                    " elements with 32, 128 and 1024 threads a block: " + list(levels));
}

// Microseconds of one launch with so many blocks, the fastest of many.
double microseconds_of(unsigned blocks, int* sums, const int* in) {
    const measure::stream on;
    const measure::event begin;
    const measure::event end;
    constexpr int at_once = 20;
    double best = std::numeric_limits<double>::max();
    for (int sample = 0; sample < 5; ++sample) {
        begin.record(on.handle());
        for (int k = 0; k < at_once; ++k) {
            sum_of_block<<<blocks, 256, 0, on.handle()>>>(sums, in, std::uint64_t{blocks} * 256);
        }
        end.record(on.handle());
        end.synchronize();
        WARPFOLD_CUDA_CHECK(cudaGetLastError());
        best = std::min(best, end.seconds_since(begin) / at_once);
    }
    return best * 1e6;
}

// Microseconds of each level, and of them those that a launch takes that does nothing.
struct level_times {
    std::vector<double> levels;
    double overhead = 0;
};
level_times measure_level_times(const engine::evidence& e) {
    constexpr unsigned first_level = 65536;
    const measure::device_memory in(std::size_t{first_level} * 256 * sizeof(int));
    const measure::device_memory sums(std::size_t{first_level} * sizeof(int));
    WARPFOLD_CUDA_CHECK(cudaMemset(in.data(), 0, in.bytes()));
    level_times all{{}, launch_of(e).device * 1e6};
    for (const unsigned blocks : {first_level, 256u, 1u}) {
        all.levels.push_back(
            microseconds_of(blocks, static_cast<int*>(sums.data()), static_cast<const int*>(in.data())));
    }
    return all;
}

verdict overhead_at_the_end(const engine::evidence& /*e*/, const level_times& t) {
    std::vector<double> shares;
    for (const double level : t.levels) {
        shares.push_back(100 * std::min(1.0, t.overhead / level));
    }
    return seen(shares.back() > 50 && shares.front() < 50,
                "levels of 65536, 256 and 1 blocks take " + list(t.levels, 1) +
                    " us; a launch that does nothing takes " + number(t.overhead, 1) + " us: " + list(shares, 0) +
                    " % of them");
}

constexpr const char* cascading = "759, Algorithm Cascading";

} // namespace

engine::step_definition last_levels() {
    return {.about = {"levels", "levels of a reduction by launches", "ladder/occupancy/14_last_levels.cu",
                      "the same sum by blocks of 32, 128 and 1024 threads", cascading},
            .data = sum_by_each,
            .run = run_levels,
            .size = engine::at_most(1u << 20),
            .scratch_bytes = [](std::uint64_t n) { return (n / 16 + 64) * sizeof(int); },
            .claims = {{"more threads per block reduces levels in the tree of recursive kernel invocations", cascading,
                        engine::guarded(engine::check(fewer_levels).refuted_by(engine::step_in_place("launches")),
                                        [](const engine::evidence& e) {
                                            return std::string(e.n() > 1024 ? "" : "needs more than 1024 elements");
                                        })},
                       {"high kernel launch overhead in last levels with few blocks", cascading,
                        engine::measured(measure_level_times, overhead_at_the_end)
                            .refuted_by(engine::figures_in_place("launches in half a microsecond",
                                                                 level_times{{78.9, 4.4, 4.3}, 0.5}))}}};
}

} // namespace warpfold::ladder::occupancy
