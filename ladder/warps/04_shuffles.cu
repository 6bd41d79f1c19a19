// SPDX-License-Identifier: MIT
// The four variants of the shuffle, and a warp's reduction by them against one through shared memory, in the lecture's shape:
// 26 blocks of 1024 threads. (380 "Shuffle (SHFL)", "Variants", "Reduce", "EXAMPLE: REDUCTION VIA SHARED MEMORY".)
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/warps/steps.hpp"

namespace warpfold::ladder::warps {

namespace {

constexpr unsigned all_lanes = 0xffffffff;
constexpr unsigned variants = 4; // idx, up, down, bfly

// out[n k + i] is what lane i gets by variant k: from lane 5, from two below, from three above, from the lane i ^ 1.
__global__ void exchange_by_shuffles(const float* input, float* output, std::uint64_t n) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    const float x = i < n ? input[i] : 0.0f;
    const float got[variants] = {__shfl_sync(all_lanes, x, 5), __shfl_up_sync(all_lanes, x, 2),
                                 __shfl_down_sync(all_lanes, x, 3), __shfl_xor_sync(all_lanes, x, 1)};
    if (i < n) {
        for (unsigned k = 0; k < variants; ++k) {
            output[k * n + i] = got[k];
        }
    }
}

engine::sample shuffled(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers<float>(n, seed);
    const auto value = [&](std::uint64_t i) { return i < n ? in[i] : 0.0f; };
    std::vector<float> right;
    for (unsigned k = 0; k < variants; ++k) {
        for (std::uint64_t i = 0; i < n; ++i) {
            const std::uint64_t lane = i % 32;
            const std::uint64_t first = i - lane;
            const std::uint64_t from = k == 0   ? 5
                                       : k == 1 ? (lane < 2 ? lane : lane - 2) // who has none keeps his own
                                       : k == 2 ? (lane > 28 ? lane : lane + 3)
                                                : lane ^ 1;
            right.push_back(value(first + from));
        }
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right), engine::value_type::float32};
}

constexpr unsigned wide_block = 1024;
constexpr unsigned times_timed = 4096; // the lecture's
constexpr unsigned blocks_timed = 26;  // the lecture's; with fewer no time is of interest
constexpr unsigned times_counted = 4;

// The lecture's loop: all lanes of a warp end with its sum; times over, each on what the last one left, less that. An odd
// number of rounds leaves the sum of the warp.
__global__ void reduce_by_shuffles(const float* input, float* output, std::uint64_t n, unsigned times) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * wide_block + threadIdx.x;
    const float own = i < n ? input[i] : 0.0f;
    float x = own;
#pragma unroll 1
    for (unsigned k = 0; k < times; ++k) {
        x = k % 2 == 0 ? own : x - x + own; // begins again; no compiler knows that it is the same
#pragma unroll
        for (unsigned mask = 16; mask > 0; mask >>= 1) {
            x += __shfl_xor_sync(all_lanes, x, static_cast<int>(mask));
        }
    }
    if (i < n) {
        output[i] = x;
    }
}

// The same through shared memory, with the lecture's barriers of the warp.
__global__ void reduce_by_memory(const float* input, float* output, std::uint64_t n, unsigned times) {
    __shared__ float shmem[wide_block];
    const std::uint64_t i = std::uint64_t{blockIdx.x} * wide_block + threadIdx.x;
    const unsigned lane = threadIdx.x % 32;
    float* const warp = shmem + threadIdx.x - lane;
    const float own = i < n ? input[i] : 0.0f;
    float v = own;
#pragma unroll 1
    for (unsigned k = 0; k < times; ++k) {
        v = k % 2 == 0 ? own : v - v + own;
        warp[lane] = v;
        __syncwarp();
#pragma unroll
        for (unsigned mask = 16; mask > 0; mask >>= 1) {
            v += warp[lane ^ mask];
            __syncwarp();
            warp[lane] = v;
            __syncwarp();
        }
    }
    if (i < n) {
        output[i] = v;
    }
}

engine::sample sums_of_warps(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers<float>(n, seed);
    std::vector<float> right(n);
    for (std::uint64_t first = 0; first < n; first += 32) {
        float sum = 0;
        for (std::uint64_t i = first; i < std::min(first + 32, n); ++i) {
            sum += in[i];
        }
        std::fill(right.begin() + static_cast<std::ptrdiff_t>(first),
                  right.begin() + static_cast<std::ptrdiff_t>(std::min(first + 32, n)), sum);
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right), engine::value_type::float32};
}

template <class Kernel>
auto reduced_by(const char* name, Kernel kernel) {
    return [=](const engine::stage& on) {
        if (on.n != 0) {
            // Where a card is predicted as well: it is the same work as there.
            const bool as_timed =
                (!on.software || std::getenv("SOFTGPU_PREDICT") != nullptr) && on.n >= blocks_timed * wide_block;
            engine::launch(on, name, kernel, static_cast<unsigned>(engine::divide_up(on.n, wide_block)), wide_block, 0,
                           on.input<float>(), on.output<float>(), on.n, as_timed ? times_timed : times_counted);
        }
    };
}

verdict four_variants(const engine::evidence& e) {
    const auto& launch = e.step.launches[0];
    const std::uint64_t warps = std::uint64_t{launch.grid[0]} * (threads / 32);
    return seen(launch.total.shuffles == variants * warps && launch.total.shared_load_requests == 0,
                number(static_cast<double>(launch.total.shuffles) / static_cast<double>(warps), 0) +
                    " shuffles a warp, " + std::to_string(launch.total.shared_load_requests) +
                    " loads from shared memory");
}

verdict five_shuffles(const engine::evidence& e, const step_result& other) {
    const auto& here = e.step.launches[0].total;
    const auto& there = other.launches[0].total;
    return seen(here.shared_load_requests == 0 && here.shuffles == there.shared_load_requests,
                std::to_string(here.shuffles) + " shuffles, in the place of " +
                    std::to_string(there.shared_load_requests) + " loads and " +
                    std::to_string(there.shared_store_requests) + " stores of shared memory");
}

verdict barriers_of_the_warp(const engine::evidence& e) {
    if (e.found == nullptr) {
        return unseen("needs the checks of the software GPU");
    }
    const auto& c = e.step.launches[0].total;
    return seen(e.found->none() && c.warp_barriers != 0 && c.barriers == 0,
                number(static_cast<double>(c.warp_barriers) / static_cast<double>(c.shared_load_requests), 1) +
                    " __syncwarp for each load, " + std::to_string(c.barriers) + " barriers of the block; " +
                    e.found->in_words());
}

constexpr const char* source = "ladder/warps/04_shuffles.cu";
constexpr const char* variants_slide = "380, Variants";

} // namespace

engine::step_definition shuffle_variants() {
    return {.about = {"shuffles", "idx, up, down and bfly", source, "lanes read other lanes' registers",
                      "380, Shuffle (SHFL)"},
            .data = shuffled,
            .run = [](const engine::stage& on) { run_tree(on, "exchange_by_shuffles", exchange_by_shuffles); },
            .least_bytes = [](std::uint64_t n) { return (1 + variants) * n * sizeof(float); },
            .claims = {{"4 variants (idx, up, down, bfly), no shared memory is needed", variants_slide,
                        engine::counted(four_variants).refuted_by(engine::step_in_place("by memory"))}}};
}

engine::step_definition warp_sums_by_memory() {
    return {.about = {"by memory", "warps' sums in shared memory", source,
                      "26 blocks of 1024 threads, 4096 times on a GPU", "380, EXAMPLE: REDUCTION VIA SHARED MEMORY"},
            .data = sums_of_warps,
            .run = reduced_by("reduce_by_memory", reduce_by_memory),
            .size = engine::at_most(blocks_timed * wide_block),
            .least_bytes = engine::read_and_written,
            .claims = {{"re-converge threads and perform memory fence", "380, __syncwarp",
                        engine::counted(barriers_of_the_warp).refuted_by(engine::step_in_place("lockstep"))}}};
}

engine::step_definition warp_sums_by_shuffles() {
    return {
        .about = {"by shuffles", "warps' sums by shuffles", source, "the same, register to register", "380, Reduce"},
        .data = sums_of_warps,
        .run = reduced_by("reduce_by_shuffles", reduce_by_shuffles),
        .size = engine::at_most(blocks_timed * wide_block),
        .least_bytes = engine::read_and_written,
        .claims = {{"do not use shared memory for last 5 steps, but use warp shuffle instructions", "380, And More...",
                    engine::compared("by memory", five_shuffles)},
                   {"launch 26 blocks of 1024 threads, run the reduction 4096 times: faster than shared memory",
                    "380, Reduce", engine::faster_than("by memory")}}};
}

} // namespace warpfold::ladder::warps
