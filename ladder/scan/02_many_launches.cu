// SPDX-License-Identifier: MIT
// Scan, step 2b: Hillis and Steele beyond one block. A launch for each iteration, from one array in global memory into
// another: the end of a kernel is the barrier that all blocks need. (759 "Hillis & Steele: Kernel Function, Quick
// Remarks": "Assignment: 16 million entries array, more kernel calls in order".)
#include <algorithm>
#include <utility>

#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

constexpr unsigned threads = 256;

__global__ void one_iteration(int* to, const int* from, std::uint64_t stride, std::uint64_t n) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {
        to[i] = i < stride ? from[i] : from[i] + from[i - stride];
    }
}

unsigned iterations_of(std::uint64_t n) { return std::max(1u, engine::log2_up(n)); }

void iterate(const engine::stage& on, unsigned iterations) {
    if (on.n == 0) {
        return;
    }
    const int* from = on.input<int>();
    int* to = iterations % 2 == 1 ? on.output<int>() : on.temporary<int>(); // the last one writes the output
    int* other = iterations % 2 == 1 ? on.temporary<int>() : on.output<int>();
    for (unsigned k = 0; k < iterations; ++k) {
        engine::launch(on, "one_iteration", one_iteration, static_cast<unsigned>(engine::divide_up(on.n, threads)),
                       threads, 0, to, from, std::uint64_t{1} << k, on.n);
        from = to;
        std::swap(to, other);
    }
}

void run(const engine::stage& on) { iterate(on, iterations_of(on.n)); }

// As many iterations as a block of 1024 threads needs.
void run_ten(const engine::stage& on) { iterate(on, 10); }

verdict kernel_calls_in_order(const engine::evidence& e) {
    if (e.n() <= 1024) {
        return unseen("needs more elements than one block has threads");
    }
    return seen(e.step.correct, std::to_string(e.step.launches.size()) + " launches of " + std::to_string(e.blocks()) +
                                    " blocks for " + std::to_string(e.n()) + " elements" +
                                    (e.step.correct ? "" : ": " + e.step.difference));
}

verdict overhead(const engine::evidence& e) {
    if (e.n() <= 1024) {
        return unseen("needs more elements than one block has threads");
    }
    const auto c = engine::total(e.step);
    const double passes = static_cast<double>(c.global_bytes_moved()) / static_cast<double>(8 * e.n());
    return seen(passes > engine::log2_up(e.n()), number(passes, 1) + "x the bytes that have to be read and written");
}

} // namespace

engine::step_definition many_launches() {
    return {.about = {"2b", "Hillis and Steele, many launches", "ladder/scan/02_many_launches.cu",
                      "the same over all blocks: the end of a launch is the barrier of an iteration",
                      "759, Hillis & Steele: Kernel Function, Quick Remarks"},
            .data = inclusive,
            .run = run,
            .scratch_bytes = [](std::uint64_t n) { return n * sizeof(int); },
            .least_bytes = engine::read_and_written,
            .claims = {
                {"as is, solution only works when entire array processed by one block; for 16 million entries more "
                 "kernel calls in order",
                 "759, Hillis & Steele: Kernel Function, Quick Remarks",
                 engine::launched(kernel_calls_in_order)
                     .refuted_by(engine::mutant("the ten iterations of one block", run_ten))},
                {"log algorithm: significant overhead when N gets large",
                 "759, Hillis & Steele: Kernel Function, Quick Remarks",
                 engine::counted(overhead).refuted_by(engine::step_in_place("9"))},
            }};
}

} // namespace warpfold::ladder::scan
