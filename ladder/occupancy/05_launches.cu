// SPDX-License-Identifier: MIT
// A launch as the one barrier that a whole grid has, and what it costs. (759 "Problem: Global Synchronization"; 380 the
// same: "kernel launch has negligible HW overhead, low SW overhead".)
#include <algorithm>
#include <chrono>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/occupancy/definition/figures.hpp"
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

launch_overhead measure_launch() {
    using clock = std::chrono::steady_clock;
    constexpr int many = 1000;
    const measure::stream on;
    const measure::event begin;
    const measure::event end;
    launch_overhead best;
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
        best.host = sample == 0 ? enqueued : std::min(best.host, enqueued);
        best.device = sample == 0 ? taken : std::min(best.device, taken);
    }
    return best;
}

} // namespace

const launch_overhead& measured_launch() {
    static const launch_overhead all = measure_launch();
    return all;
}

namespace {

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

// All eight in one launch, without a barrier between them.
__global__ void pass_on_at_once(std::int32_t* to, const std::int32_t* from, std::uint64_t n) {
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    if (i < n) {
        to[i] = from[i];
        for (unsigned k = 0; k < launches_in_a_row; ++k) {
            to[i] = to[(i + distance) % n] + 1;
        }
    }
}
void run_at_once(const engine::stage& on) {
    engine::launch(on, "pass_on_at_once", pass_on_at_once, static_cast<unsigned>(engine::divide_up(on.n, 256)), 256, 0,
                   on.output<std::int32_t>(), on.input<std::int32_t>(), on.n);
}

verdict ordered(const engine::evidence& e) {
    const std::uint64_t found = engine::right_words(e);
    return seen(found == e.n(), std::to_string(found) + " of " + std::to_string(e.n()) +
                                    " words have passed through other blocks eight times, in " +
                                    std::to_string(e.step.launches.size()) + " launches");
}

// Of the time of a kernel: less than this share is negligible.
constexpr double negligible_share = 0.05;

verdict negligible(const engine::evidence& e) {
    const auto& t = launch_of(e);
    const double kernel = e.step.cold ? e.step.cold->median / launches_in_a_row : 0;
    const double share = t.device / kernel;
    const std::string figure = number(t.device * 1e6, 2) + " us from one empty kernel to the next, " +
                               number(t.host * 1e6, 2) + " us of the host for each: " + number(100 * share, 1) +
                               " % of a kernel of this step, which takes " + number(kernel * 1e6, 1) + " us";
    return share < negligible_share
               ? seen(true, figure)
               : holds_only_for("kernels of more than " + number(t.device / negligible_share * 1e6, 0) + " us", figure);
}

// Many small kernels, the host waiting for each of them or for the last; seconds of one.
struct waiting_times {
    double for_each = 0, at_the_end = 0;
};
waiting_times measure_waiting(const engine::evidence& /*e*/) {
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
    return {seconds[1], seconds[0]};
}

verdict waiting_is_slow(const engine::evidence& /*e*/, const waiting_times& t) {
    return seen(t.for_each > 1.5 * t.at_the_end, number(t.for_each * 1e6, 2) +
                                                     " us a kernel with cudaDeviceSynchronize() after each, " +
                                                     number(t.at_the_end * 1e6, 2) + " us with one at the end");
}

const auto short_kernels = [] {
    auto plant = h200_with("an H200's launches of kernels that take 10 us", [](figures&) {});
    plant.change = [of_figures = plant.change](engine::altered_evidence& e) {
        of_figures(e);
        e.step.cold = timing{.median = 8e-5, .low = 7.9e-5, .high = 8.1e-5, .samples = 31};
    };
    return plant;
}();

constexpr const char* section = "759, Problem: Global Synchronization";

} // namespace

engine::step_definition launches() {
    return {
        .about = {"launches", "a launch as a barrier of the grid", "ladder/occupancy/05_launches.cu",
                  "eight kernels in a row, each reads what other blocks wrote", section},
        .data = passed_on,
        .run = run_launches,
        .scratch_bytes = [](std::uint64_t n) { return n * sizeof(std::int32_t); },
        .least_bytes = [](std::uint64_t n) { return launches_in_a_row * 2 * n * sizeof(std::int32_t); },
        .claims = {{"a kernel launch serves as a global synchronization point", section,
                    engine::launched(ordered).refuted_by(
                        engine::mutant("all eight passes in one launch", run_at_once))},
                   {"kernel launch has negligible overhead", section,
                    timed(engine::check(negligible).refuted_by(short_kernels))},
                   {"do not synchronize a lot: it has a large performance penalty", "Parallel patterns, Rules of Thumb",
                    engine::measured(measure_waiting, waiting_is_slow)
                        .refuted_by(engine::figures_in_place("equal times", waiting_times{4e-6, 4e-6}))}}};
}

} // namespace warpfold::ladder::occupancy
