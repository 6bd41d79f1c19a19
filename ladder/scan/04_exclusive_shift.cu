// SPDX-License-Identifier: MIT
// Scan, step 4: the exclusive scan by a shift: the first element is set to zero and the others move right by one as they
// are loaded. (Parallel patterns "A Parallel Scan Algorithm", Iteration #3.)
#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

constexpr unsigned most_threads = 1024;

__global__ void scan_shifted(int* output, const int* input, unsigned n) {
    __shared__ int buffer[2][most_threads];
    const unsigned tid = threadIdx.x;
    unsigned from = 0;
    buffer[from][tid] = tid > 0 && tid < n ? input[tid - 1] : 0;
    __syncthreads();
    for (unsigned stride = 1; stride < n; stride *= 2) {
        const unsigned to = 1 - from;
        int value = buffer[from][tid];
        if (tid >= stride) {
            value += buffer[from][tid - stride];
        }
        buffer[to][tid] = value;
        __syncthreads();
        from = to;
    }
    if (tid < n) {
        output[tid] = buffer[from][tid];
    }
}

void run(const engine::stage& on) {
    if (on.n != 0) {
        engine::launch(on, "scan_shifted", scan_shifted, 1, static_cast<unsigned>(on.n), 0, on.output<int>(),
                       on.input<int>(), static_cast<unsigned>(on.n));
    }
}

verdict last_is_not_read(const engine::evidence& e) {
    const auto loaded = e.step.launches[0].total.global_load_bytes / sizeof(int);
    return seen(loaded == e.n() - 1, std::to_string(loaded) + " of " + std::to_string(e.n()) + " elements loaded");
}

verdict one_sector_more(const engine::evidence& e, const step_result& other) {
    if (e.n() < 64) {
        return unseen("needs two warps or more");
    }
    const auto sectors = [](const step_result& s) {
        const auto& c = s.launches[0].total;
        return static_cast<double>(c.global_load_sectors) / static_cast<double>(c.global_load_requests);
    };
    return seen(sectors(e.step) > sectors(other) && sectors(e.step) <= 5,
                number(sectors(e.step), 2) + " sectors a load, " + number(sectors(other), 2) +
                    " in step 2: all but the first warp load "
                    "from an address that is not aligned");
}

} // namespace

engine::step_definition exclusive_shift() {
    return {.about = {"4", "exclusive, by a shift", "ladder/scan/04_exclusive_shift.cu",
                      "zero first, the others one to the right, then as before",
                      "Parallel patterns, A Parallel Scan Algorithm"},
            .data = exclusive,
            .run = run,
            .size = engine::at_most(most_threads),
            .least_bytes = engine::read_and_written,
            .claims = {
                {"the exclusive scan is [I, a0, a0 + a1, ...]: it does without the last element",
                 "Parallel patterns, Scan / Parallel Prefix Sum",
                 engine::counted(last_is_not_read).refuted_by(engine::step_in_place("2"))},
                {"misaligned, consecutive words: addresses fall within at most 5 segments instead of 4",
                 "380, Access Patterns vs. Memory Throughput", engine::compared("2", one_sector_more)},
            }};
}

} // namespace warpfold::ladder::scan
