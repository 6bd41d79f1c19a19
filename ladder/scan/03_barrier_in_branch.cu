// SPDX-License-Identifier: MIT
// Scan, step 3b: in place with two barriers, as on the slide: the barriers are in a loop that threads leave one after
// the other, so that not all threads of the block reach each barrier. (Parallel patterns "Possible Implementation".)
#include <stdexcept>

#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

constexpr unsigned section_size = 1024;

__global__ void work_inefficient_scan_kernel(const int* x, int* y, unsigned input_size) {
    __shared__ int xy[section_size];
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < input_size) {
        xy[threadIdx.x] = x[i];
    }
    for (unsigned stride = 1; stride <= threadIdx.x; stride *= 2) {
        __syncthreads();
        const int in1 = xy[threadIdx.x - stride];
        __syncthreads();
        xy[threadIdx.x] += in1;
    }
    __syncthreads();
    if (i < input_size) {
        y[i] = xy[threadIdx.x];
    }
}

// Not on a GPU: from Volta on a thread that has left the loop may not reach the next barrier until its warp follows, and the
// warp waits in the loop for that thread: a deadlock.
void run(const engine::stage& on) {
    if (!on.software) {
        throw std::runtime_error("not run on a GPU, where threads may wait for each other for ever");
    }
    if (on.n != 0) {
        engine::launch(on, "work_inefficient_scan_kernel", work_inefficient_scan_kernel, 1, static_cast<unsigned>(on.n),
                       0, on.input<int>(), on.output<int>(), static_cast<unsigned>(on.n));
    }
}

verdict inputs_are_there(const engine::evidence& e) {
    if (e.found == nullptr) {
        return unseen("needs the checks of the software GPU");
    }
    return seen(e.found->none(),
                std::string(e.step.correct ? "it came out right here, but nothing promises it" : e.step.difference) +
                    "; " + e.found->in_words());
}

} // namespace

engine::step_definition barrier_in_branch() {
    return {.about = {"3b", "in place, as on the slide", "ladder/scan/03_barrier_in_branch.cu",
                      "two barriers an iteration, but in a loop that some threads have left",
                      "Parallel patterns, Possible Implementation"},
            .data = inclusive,
            .run = run,
            .size = engine::at_most(section_size),
            .least_bytes = engine::read_and_written,
            .expected = outcome::by_luck,
            .lesson = "__syncthreads() has to be reached by all threads of the block, and the loop ends at another "
                      "iteration for each",
            .finds = "barrier",
            .claims = {
                {"barrier synchronisation ensures that all inputs have been properly generated",
                 "Parallel patterns, How to handle dependencies in that implementation?",
                 engine::check(inputs_are_there).refuted_by(engine::step_in_place("3a"))},
            }};
}

} // namespace warpfold::ladder::scan
