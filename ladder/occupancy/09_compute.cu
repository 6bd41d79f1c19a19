// SPDX-License-Identifier: MIT
// Little's law where a kernel computes: the more there is to do with each word, the fewer have to be under way. (Parallel
// patterns "How about memory?": "But less if the kernel is compute bound!".)
#include <algorithm>
#include <limits>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/occupancy/device/chains.cuh"
#include "ladder/occupancy/steps.hpp"
#include "measure/device.hpp"

namespace warpfold::ladder::occupancy {

namespace {

// x / 2 + 1 four times a round, on eight chains that begin 2 apart: of whole numbers that is exact for a few rounds.
constexpr unsigned chains = 8;
constexpr unsigned times_a_round = 4;
__device__ float work_on(float first, unsigned rounds) {
    float x[chains];
#pragma unroll
    for (unsigned k = 0; k < chains; ++k) {
        x[k] = first + static_cast<float>(2 * k);
    }
#pragma unroll 1
    for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
        for (unsigned u = 0; u < times_a_round; ++u) {
#pragma unroll
            for (unsigned k = 0; k < chains; ++k) {
                x[k] = float32_chain::once(x[k], 0, 1.0f);
            }
        }
    }
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k < chains; ++k) {
        sum += x[k];
    }
    return sum;
}

__global__ void copy_and_compute(float* out, const float* in, std::uint64_t n, unsigned rounds) {
    const std::uint64_t stride = std::uint64_t{blockDim.x} * gridDim.x;
#pragma unroll 1
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
        out[i] = work_on(in[i], rounds);
    }
}

constexpr unsigned rounds_of_the_step = 1;
constexpr unsigned block = 256;

engine::sample worked_on(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers<float>(n, seed);
    std::vector<float> right;
    for (const float first : in) {
        float sum = 0;
        for (unsigned k = 0; k < chains; ++k) {
            float x = first + static_cast<float>(2 * k);
            for (unsigned u = 0; u < times_a_round * rounds_of_the_step; ++u) {
                x = x / 2 + 1;
            }
            sum += x;
        }
        right.push_back(sum);
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right), engine::value_type::float32};
}

// How much more than one block on each multiprocessor eight bring.
double gain_of_more_threads(unsigned multiprocessors, unsigned rounds) {
    constexpr std::uint64_t n = std::uint64_t{1} << 23;
    const measure::device_memory in(n * sizeof(float));
    const measure::device_memory out(n * sizeof(float));
    WARPFOLD_CUDA_CHECK(cudaMemset(in.data(), 0, in.bytes()));
    const measure::stream on;
    const measure::event begin;
    const measure::event end;
    const auto seconds = [&](unsigned blocks) {
        double best = std::numeric_limits<double>::max();
        for (int sample = 0; sample < 3; ++sample) {
            begin.record(on.handle());
            copy_and_compute<<<blocks, block, 0, on.handle()>>>(static_cast<float*>(out.data()),
                                                                static_cast<const float*>(in.data()), n, rounds);
            end.record(on.handle());
            end.synchronize();
            WARPFOLD_CUDA_CHECK(cudaGetLastError());
            best = std::min(best, end.seconds_since(begin));
        }
        return best;
    };
    return seconds(multiprocessors) / seconds(8 * multiprocessors);
}

using gains = std::vector<double>;
gains measure_gains(const engine::evidence& e) {
    const auto multiprocessors = static_cast<unsigned>(std::max(e.report.device.multiprocessors, 1));
    gains all;
    for (const unsigned rounds : {0u, 1u, 4u, 16u, 64u}) { // of 32 multiply-adds
        all.push_back(gain_of_more_threads(multiprocessors, rounds));
    }
    return all;
}

verdict less_is_needed(const engine::evidence& /*e*/, const gains& all) {
    return seen(all.back() < 0.6 * all.front(),
                "eight times the threads are faster by, with 0, 32, 128, 512, 2048 multiply-adds for each word: " +
                    list(all, 2) + "x");
}

} // namespace

engine::step_definition compute_bound() {
    return {
        .about = {"compute", "a kernel that computes", "ladder/occupancy/09_compute.cu",
                  "a word at a time, and multiply-adds between its load and its store",
                  "Parallel patterns, How about memory?"},
        .data = worked_on,
        .run =
            [](const engine::stage& on) {
                if (on.n != 0) {
                    engine::launch(on, "copy_and_compute", copy_and_compute, on.multiprocessors, block, 0,
                                   on.output<float>(), on.input<float>(), on.n, rounds_of_the_step);
                }
            },
        .least_bytes = [](std::uint64_t n) { return 2 * n * sizeof(float); },
        .claims = {{"100 KB in flight, but less if the kernel is compute bound", "Parallel patterns, How about memory?",
                    engine::measured(measure_gains, less_is_needed)
                        .refuted_by(engine::figures_in_place("as much gain with arithmetic", gains(5, 3.65)))}}};
}

} // namespace warpfold::ladder::occupancy
