// SPDX-License-Identifier: MIT
// Scan, step 13: stream compaction. The exclusive scan of the flags of what is kept gives each kept element its place.
#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/engine/definition/library_workspace.hpp"
#include "ladder/scan/applications/applications.hpp"
#include "warpfold/scan.cuh"

namespace warpfold::ladder::scan {

namespace {

struct flag {
    WARPFOLD_HD int operator()(int value) const { return kept(value) ? 1 : 0; }
};

__global__ void scatter(int* count, int* output, const int* input, const int* place, std::uint64_t n) {
    const std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (k < n && kept(input[k])) {
        output[place[k]] = input[k];
    }
    if (k == n - 1) {
        *count = place[k] + flag{}(input[k]);
    }
}

// Each kept element takes the next place of a counter: in no order.
__global__ void take_places(int* count, int* output, const int* input, std::uint64_t n) {
    const std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (k < n && kept(input[k])) {
        output[atomicAdd(count, 1)] = input[k];
    }
}

void run(const engine::stage& on) {
    int* const out = on.output<int>();
    if (on.n == 0) {
        WARPFOLD_CUDA_CHECK(cudaMemsetAsync(out, 0, sizeof(int), on.stream));
        return;
    }
    static engine::kept_workspace memory;
    const gpu target = memory.target(on, scan_workspace<int>(on.n));
    int* const place = on.temporary<int>();
    warpfold::transform_exclusive_scan(target, on.input<int>(), on.n, place, flag{});
    engine::launch(on, "scatter", scatter, static_cast<unsigned>(engine::divide_up(on.n, threads)), threads, 0, out,
                   out + 1, on.input<int>(), place, on.n);
}

void run_with_a_counter(const engine::stage& on) {
    int* const out = on.output<int>();
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(out, 0, sizeof(int), on.stream));
    engine::launch(on, "take_places", take_places, static_cast<unsigned>(engine::divide_up(on.n, threads)), threads, 0,
                   out, out + 1, on.input<int>(), on.n);
}

verdict places_without_a_counter(const engine::evidence& e) {
    const auto taken = e.step.launches.back().total.atomic_lanes;
    return seen(taken == 0, std::to_string(taken) + " atomic operations for " +
                                std::to_string(engine::view<std::int32_t>(e.result)[0]) + " places");
}

} // namespace

engine::step_definition stream_compaction() {
    return {.about = {"13", "stream compaction", "ladder/scan/applications/13_compaction.cu",
                      "the exclusive scan of the flags is the place of each element that is kept",
                      "Parallel patterns, Other Examples"},
            .data = kept_numbers,
            .run = run,
            .scratch_bytes = [](std::uint64_t n) { return n * sizeof(int); },
            .claims = {
                {"allocating memory to parallel threads: the scan gives each its place, so that no two threads meet at "
                 "a counter",
                 "Parallel patterns, Other Examples",
                 engine::counted(places_without_a_counter)
                     .refuted_by(engine::mutant("a counter that gives out places", run_with_a_counter))},
            }};
}

} // namespace warpfold::ladder::scan
