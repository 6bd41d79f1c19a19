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

void run(const engine::stage& on) {
    if (on.n != 0) {
        engine::launch(on, "sequential_scan", sequential_scan, 1, 1, 0, on.output<int>(), on.input<int>(),
                       static_cast<unsigned>(on.n));
    }
}

verdict n_less_one_additions(const engine::evidence& e) {
    // Every element but the first is the result of an addition.
    const auto additions = e.step.launches[0].total.global_store_bytes / sizeof(int) - 1;
    return seen(additions == e.n() - 1,
                std::to_string(additions) + " additions for " + std::to_string(e.n()) + " elements");
}

verdict one_lane(const engine::evidence& e) {
    const double lanes = e.step.launches[0].total.average_active_lanes();
    return seen(lanes == 1, number(lanes, 0) + " lane of 32 at work");
}

} // namespace

engine::step_definition sequential() {
    return {.about = {"1", "sequential, one thread", "ladder/scan/01_sequential.cu",
                      "each total is the one before and one element more", "Parallel patterns, Sequential algorithm"},
            .data = exclusive,
            .run = run,
            .size = engine::at_most(4096),
            .least_bytes = read_and_written,
            .claims = {
                {"n additions (one less)", "Parallel patterns, Sequential algorithm",
                 engine::counted(n_less_one_additions)},
                {"not the type of procedure ideally suited for parallel computing",
                 "759, Concluding Remarks, Parallel Scan", engine::counted(one_lane)},
            }};
}

} // namespace warpfold::ladder::scan
