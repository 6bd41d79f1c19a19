// SPDX-License-Identifier: MIT
// Scan, step 18: run-length encoding. The inclusive scan of the flags of where runs begin numbers the runs from 1.
#include <algorithm>

#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/engine/definition/library_workspace.hpp"
#include "ladder/scan/applications/applications.hpp"
#include "warpfold/scan.cuh"

namespace warpfold::ladder::scan {

namespace {

struct run_begins {
    const int* input;

    __device__ unsigned operator()(int value, std::uint64_t k) const { return k == 0 || value != input[k - 1] ? 1 : 0; }
};

__global__ void store_starts(unsigned* starts, int* encoded, const int* input, const unsigned* run, std::uint64_t n) {
    const std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (k < n && (k == 0 || run[k] != run[k - 1])) {
        starts[run[k] - 1] = static_cast<unsigned>(k);
        encoded[run[k]] = input[k];
    }
    if (k == n - 1) {
        encoded[0] = static_cast<int>(run[k]);
    }
}

__global__ void store_lengths(int* encoded, const unsigned* starts, std::uint64_t n) {
    const std::uint64_t r = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const unsigned runs = static_cast<unsigned>(encoded[0]);
    if (r < runs) {
        const std::uint64_t end = r + 1 < runs ? starts[r + 1] : n;
        encoded[1 + runs + r] = static_cast<int>(end - starts[r]);
    }
}

// One thread a run goes through the elements of its run.
__global__ void walk_runs(int* encoded, const int* input, const unsigned* starts, std::uint64_t n) {
    const std::uint64_t r = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const unsigned runs = static_cast<unsigned>(encoded[0]);
    if (r < runs) {
        std::uint64_t end = starts[r] + 1;
        while (end < n && input[end] == input[starts[r]]) {
            ++end;
        }
        encoded[1 + runs + r] = static_cast<int>(end - starts[r]);
    }
}

unsigned blocks(const engine::stage& on) { return static_cast<unsigned>(engine::divide_up(on.n, threads)); }

unsigned* find_starts(const engine::stage& on) {
    static engine::kept_workspace memory;
    const gpu target = memory.target(on, scan_workspace<int, unsigned>(on.n));
    unsigned* const run = on.temporary<unsigned>();
    unsigned* const starts = run + on.n;
    warpfold::transform_inclusive_scan(target, on.input<int>(), on.n, run, run_begins{on.input<int>()});
    engine::launch(on, "store_starts", store_starts, blocks(on), threads, 0, starts, on.output<int>(), on.input<int>(),
                   run, on.n);
    return starts;
}

void run(const engine::stage& on) {
    if (on.n == 0) {
        WARPFOLD_CUDA_CHECK(cudaMemsetAsync(on.out, 0, sizeof(int), on.stream));
        return;
    }
    const unsigned* const starts = find_starts(on);
    engine::launch(on, "store_lengths", store_lengths, blocks(on), threads, 0, on.output<int>(), starts, on.n);
}

void run_by_walking(const engine::stage& on) {
    const unsigned* const starts = find_starts(on);
    engine::launch(on, "walk_runs", walk_runs, blocks(on), threads, 0, on.output<int>(), on.input<int>(), starts, on.n);
}

// A warp loads the count, and two starts a run.
verdict no_walk(const engine::evidence& e) {
    const auto& lengths = e.step.launches.back();
    const double loads = static_cast<double>(lengths.total.global_load_requests) /
                         static_cast<double>(std::uint64_t{lengths.grid[0]} * lengths.block[0] / 32);
    const auto encoded = engine::view<std::int32_t>(e.result);
    const auto runs = static_cast<std::ptrdiff_t>(encoded[0]);
    if (runs == 0) {
        return unseen("needs a run");
    }
    const std::int32_t longest = *std::max_element(encoded.begin() + 1 + runs, encoded.end());
    return seen(loads <= 3, number(loads, 2) + " loads a warp for the lengths; the longest run has " +
                                std::to_string(longest) + " elements");
}

} // namespace

engine::step_definition run_length_encoding() {
    return {
        .about = {"18", "run-length encoding", "ladder/scan/applications/18_run_lengths.cu",
                  "the inclusive scan of the flags of where runs begin is the number of the run",
                  "Parallel patterns, Why?"},
        .data = runs_of_numbers,
        .run = run,
        .scratch_bytes = [](std::uint64_t n) { return 2 * n * sizeof(unsigned); },
        .claims = {
            {"lengths are differences of neighbouring starts: no thread goes through its run", "beyond the lectures",
             engine::counted(no_walk).refuted_by(engine::mutant("a thread that goes through its run", run_by_walking))},
        }};
}

} // namespace warpfold::ladder::scan
