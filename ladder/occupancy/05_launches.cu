// SPDX-License-Identifier: MIT
// A launch as the one barrier that a whole grid has, and what it costs. (759 "Problem: Global Synchronization"; 380 the
// same: "kernel launch has negligible HW overhead, low SW overhead".)
#include <algorithm>
#include <chrono>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/occupancy/steps.hpp"
#include "measure/device.hpp"

namespace warpfold::ladder::occupancy {

namespace {

constexpr unsigned launches_in_a_row = 8;
constexpr std::uint64_t distance = 1031; // from another block

__global__ void pass_on(std::int32_t* to, const std::int32_t* from, std::uint64_t n) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    if (i < n) {
        to[i] = from[(i + distance) % n] + 1;
    }
}

__global__ void nothing() {}

engine::sample passed_on(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::numbers(n, seed);
    std::vector<std::int32_t> right(n);
    for (std::uint64_t i = 0; i < n; ++i) {
        right[i] = in[(i + launches_in_a_row * distance) % n] + static_cast<std::int32_t>(launches_in_a_row);
    }
    return {n, {engine::bytes_of(in)}, engine::bytes_of(right)};
}

void run_launches(const engine::stage& on) {
    if (on.n == 0) {
        return;
    }
    const std::int32_t* from = on.input<std::int32_t>();
    std::int32_t* const two[] = {on.temporary<std::int32_t>(), on.output<std::int32_t>()};
    for (unsigned k = 0; k < launches_in_a_row; ++k) { // the last goes to the output
        engine::launch(on, "pass_on", pass_on, static_cast<unsigned>(engine::divide_up(on.n, 256)), 256, 0, two[k % 2],
                       from, on.n);
        from = two[k % 2];
    }
}

verdict ordered(const engine::evidence& e) {
    return seen(e.step.correct && e.step.launches.size() == launches_in_a_row,
                std::to_string(e.step.launches.size()) +
                    " launches, each of which reads what other blocks of the one before it have written");
}

verdict negligible(const engine::evidence& /*e*/) {
    using clock = std::chrono::steady_clock;
    constexpr int many = 1000;
    const measure::stream on;
    const measure::event begin;
    const measure::event end;
    double host = 0;
    double device = 0;
    for (int sample = 0; sample < 3; ++sample) {
        on.synchronize();
        begin.record(on.handle());
        const auto start = clock::now();
        for (int k = 0; k < many; ++k) {
            nothing<<<1, 32, 0, on.handle()>>>();
        }
        const double enqueued = std::chrono::duration<double>(clock::now() - start).count() / many;
        end.record(on.handle());
        end.synchronize();
        WARPFOLD_CUDA_CHECK(cudaGetLastError());
        const double taken = end.seconds_since(begin) / many;
        host = sample == 0 ? enqueued : std::min(host, enqueued);
        device = sample == 0 ? taken : std::min(device, taken);
    }
    return seen(device < 5e-6, number(device * 1e6, 2) + " us from one empty kernel to the next, " +
                                   number(host * 1e6, 2) + " us of the host for each");
}

// Many small kernels, the host waiting for each of them or for the last.
verdict waiting_is_slow(const engine::evidence& /*e*/) {
    using clock = std::chrono::steady_clock;
    constexpr int many = 300;
    const measure::stream on;
    double seconds[2] = {};
    for (int sample = 0; sample < 3; ++sample) {
        for (const bool each : {false, true}) {
            on.synchronize();
            const auto start = clock::now();
            for (int k = 0; k < many; ++k) {
                nothing<<<1, 32, 0, on.handle()>>>();
                if (each) {
                    WARPFOLD_CUDA_CHECK(cudaDeviceSynchronize());
                }
            }
            on.synchronize();
            const double taken = std::chrono::duration<double>(clock::now() - start).count() / many;
            double& best = seconds[each ? 1 : 0];
            best = sample == 0 ? taken : std::min(best, taken);
        }
    }
    return seen(seconds[1] > 1.5 * seconds[0], number(seconds[1] * 1e6, 2) +
                                                   " us a kernel with cudaDeviceSynchronize() "
                                                   "after each, " +
                                                   number(seconds[0] * 1e6, 2) + " us with one at the end");
}

constexpr const char* section = "759, Problem: Global Synchronization";

} // namespace

engine::step_definition launches() {
    return {.about = {"launches", "a launch as a barrier of the grid", "ladder/occupancy/05_launches.cu",
                      "eight kernels in a row, each reads what other blocks wrote", section},
            .data = passed_on,
            .run = run_launches,
            .scratch_bytes = [](std::uint64_t n) { return n * sizeof(std::int32_t); },
            .least_bytes = [](std::uint64_t n) { return launches_in_a_row * 2 * n * sizeof(std::int32_t); },
            .claims = {{"a kernel launch serves as a global synchronization point", section, ordered},
                       {"a kernel launch has negligible overhead", section, timed(negligible)},
                       {"do not synchronize a lot: it has a large performance penalty",
                        "Parallel patterns, Rules of Thumb", timed(waiting_is_slow)}}};
}

} // namespace warpfold::ladder::occupancy
