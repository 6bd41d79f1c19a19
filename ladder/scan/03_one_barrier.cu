// SPDX-License-Identifier: MIT
// Scan, step 3a: in place with one barrier an iteration, which does not do: a thread may overwrite its element before
// its neighbour has read it. (Parallel patterns "How to handle dependencies in that implementation?")
#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

constexpr unsigned most_threads = 1024;

__global__ void scan_with_one_barrier(int* output, const int* input, unsigned n) {
    __shared__ int xy[most_threads];
    const unsigned tid = threadIdx.x;
    xy[tid] = tid < n ? input[tid] : 0;
    for (unsigned stride = 1; stride < n; stride *= 2) {
        __syncthreads();
        if (tid >= stride) {
            xy[tid] += xy[tid - stride];
        }
    }
    __syncthreads();
    if (tid < n) {
        output[tid] = xy[tid];
    }
}

void run(const engine::stage& on) {
    if (on.n != 0) {
        engine::launch(on, "scan_with_one_barrier", scan_with_one_barrier, 1, static_cast<unsigned>(on.n), 0,
                       on.output<int>(), on.input<int>(), static_cast<unsigned>(on.n));
    }
}

} // namespace

engine::step_definition one_barrier() {
    return {.about = {"3a", "in place, one barrier", "ladder/scan/03_one_barrier.cu",
                      "the same without the second buffer, and without what has to take its place",
                      "Parallel patterns, How to handle dependencies in that implementation?"},
            .data = inclusive,
            .run = run,
            .size = engine::at_most(most_threads),
            .least_bytes = engine::read_and_written,
            .expected = outcome::by_luck,
            .lesson =
                "a thread may overwrite the input of another; only the order in which warps happen to run saves it",
            .finds = "race in shared memory",
            .claims = {
                {"during every iteration, each thread can overwrite the input of another thread",
                 "Parallel patterns, How to handle dependencies in that implementation?",
                 engine::races("race in shared memory", "3")},
            }};
}

} // namespace warpfold::ladder::scan
