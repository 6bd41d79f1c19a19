// SPDX-License-Identifier: MIT
// Scan, step 19: histogram by sorting. The count of a value is the difference between where it ends and where it begins
// among the sorted values.
#include "ladder/engine/definition/claims.hpp"
#include "ladder/scan/applications/split.cuh"

namespace warpfold::ladder::scan {

namespace {

constexpr unsigned value_bits = 8;

// begins[v]: how many values are below v, for v from 0 to byte_values. Thread k finds those between its neighbours.
__global__ void find_begins(unsigned* begins, const unsigned* sorted, std::uint64_t n) {
    const std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (k > n) {
        return;
    }
    const unsigned upto = k < n ? sorted[k] : byte_values;
    for (unsigned v = k == 0 ? 0 : sorted[k - 1] + 1; v <= upto; ++v) {
        begins[v] = static_cast<unsigned>(k);
    }
}

__global__ void differences(unsigned* counts, const unsigned* begins) {
    counts[threadIdx.x] = begins[threadIdx.x + 1] - begins[threadIdx.x];
}

__global__ void add_up(unsigned* counts, const unsigned* values, std::uint64_t n) {
    const std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (k < n) {
        atomicAdd(&counts[values[k]], 1);
    }
}

void run(const engine::stage& on) {
    static engine::kept_workspace memory;
    const gpu target = memory.target(on, scan_workspace<unsigned>(on.n));
    unsigned* const begins = on.temporary<unsigned>();
    unsigned* const sorted = begins + byte_values + 1;
    if (on.n != 0) {
        sort_by_bits(on, target, split, on.input<unsigned>(), sorted, sorted + on.n, value_bits);
    }
    engine::launch(on, "find_begins", find_begins, static_cast<unsigned>(engine::divide_up(on.n + 1, threads)), threads,
                   0, begins, sorted, on.n);
    engine::launch(on, "differences", differences, 1, byte_values, 0, on.output<unsigned>(), begins);
}

void run_with_atomics(const engine::stage& on) {
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(on.out, 0, byte_values * sizeof(unsigned), on.stream));
    engine::launch(on, "add_up", add_up, static_cast<unsigned>(engine::divide_up(on.n, threads)), threads, 0,
                   on.output<unsigned>(), on.input<unsigned>(), on.n);
}

// The library's scans count tiles with atomics, one or two a tile.
verdict without_atomics(const engine::evidence& e) {
    if (e.n() < 4096) {
        return unseen("needs many values");
    }
    const auto c = engine::total(e.step);
    return seen(c.atomic_lanes < e.n() / 8,
                std::to_string(c.atomic_lanes) + " atomic operations for " + std::to_string(e.n()) + " values");
}

} // namespace

engine::step_definition histogram_by_sort() {
    return {.about = {"19", "histogram by sorting", "ladder/scan/applications/19_histogram.cu",
                      "sort, find where each value begins, and take differences", "Parallel patterns, Why?"},
            .data = numbers_to_count,
            .run = run,
            .scratch_bytes = [](std::uint64_t n) { return (byte_values + 1 + n) * sizeof(unsigned) + sort_scratch(n); },
            .claims = {
                {"a value is counted without an atomic operation on its bin", "beyond the lectures",
                 engine::counted(without_atomics)
                     .refuted_by(engine::mutant("an atomic operation for every value", run_with_atomics))},
            }};
}

} // namespace warpfold::ladder::scan
