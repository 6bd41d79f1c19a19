// SPDX-License-Identifier: MIT
// Scan, step 1: sequential, by one thread. (Parallel-patterns "Sequential algorithm"; 759 "Parallel Prefix Scan".)
// Mended: the slide counts "N additions"; its loop makes N - 1 of them.
#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

__global__ void sequential_scan(int* output, const int* input, unsigned length) {
    output[0] = 0;
    for (unsigned j = 1; j < length; ++j) {
        output[j] = input[j - 1] + output[j - 1];
    }
}

// Each thread adds up all elements before its own: every total anew.
__global__ void every_total_anew(int* output, const int* input, unsigned length) {
    const unsigned j = threadIdx.x + blockIdx.x * blockDim.x;
    if (j < length) {
        int total = 0;
        for (unsigned k = 0; k < j; ++k) {
            total += input[k];
        }
        output[j] = total;
    }
}

void run_anew(const engine::stage& on) {
    engine::launch(on, "every_total_anew", every_total_anew, static_cast<unsigned>(engine::divide_up(on.n, 256)), 256,
                   0, on.output<int>(), on.input<int>(), static_cast<unsigned>(on.n));
}

void run(const engine::stage& on) {
    if (on.n != 0) {
        engine::launch(on, "sequential_scan", sequential_scan, 1, 1, 0, on.output<int>(), on.input<int>(),
                       static_cast<unsigned>(on.n));
    }
}

// Every addition loads an element of the input, and no more than that but for a few totals where the unrolled loop begins.
verdict n_additions(const engine::evidence& e) {
    const auto loads = e.first().total.global_load_bytes / sizeof(int);
    return seen(loads >= e.n() - 1 && loads < e.n() + e.n() / 100 + 5,
                std::to_string(loads) + " loads for " + std::to_string(e.n()) + " elements, one an addition");
}

verdict one_lane(const engine::evidence& e) {
    const double lanes = e.first().total.average_active_lanes();
    return seen(lanes == 1, "lanes of 32 at work: " + number(lanes, 0));
}

} // namespace

engine::step_definition sequential() {
    return {.about = {"1", "sequential, one thread", "ladder/scan/01_sequential.cu",
                      "each total is the one before and one element more", "Parallel patterns, Sequential algorithm"},
            .data = exclusive,
            .run = run,
            .size = engine::at_most(4096),
            .least_bytes = engine::read_and_written,
            .claims = {
                {"n additions", "Parallel patterns, Sequential algorithm",
                 engine::counted(n_additions).refuted_by(engine::mutant("every total added up anew", run_anew))},
                {"not the type of procedure ideally suited for parallel computing",
                 "759, Concluding Remarks, Parallel Scan",
                 engine::counted(one_lane).refuted_by(engine::step_in_place("2"))},
            }};
}

} // namespace warpfold::ladder::scan
