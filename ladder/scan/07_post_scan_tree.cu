// SPDX-License-Identifier: MIT
// Scan, step 7: the reduction tree with the inclusive post-scan step, after Brent and Kung. Nothing is cleared or
// swapped: the way down adds each finished total to the one half a stride further. (Parallel patterns "Parallel Scan -
// Reduction Step", "Inclusive Post Scan Step", "Work Analysis".)
#include <algorithm>

#include "ladder/engine/definition/launch.hpp"
#include "ladder/scan/definition/tree_claims.hpp"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

// Any n up to two elements a thread; `size` is the power of two above it.
__global__ void post_scan(int* output, const int* input, unsigned n, unsigned size) {
    extern __shared__ int temp[];
    const unsigned tid = threadIdx.x;
    temp[tid] = tid < n ? input[tid] : 0;
    temp[tid + blockDim.x] = tid + blockDim.x < n ? input[tid + blockDim.x] : 0;
    for (unsigned stride = 1; stride < size; stride *= 2) { // reduction step
        __syncthreads();
        const unsigned k = (tid + 1) * stride * 2 - 1;
        if (k < size) {
            temp[k] += temp[k - stride];
        }
    }
    for (unsigned stride = size / 4; stride > 0; stride /= 2) { // post-scan step
        __syncthreads();
        const unsigned k = (tid + 1) * stride * 2 - 1;
        if (k + stride < size) {
            temp[k + stride] += temp[k];
        }
    }
    __syncthreads();
    if (tid < n) {
        output[tid] = temp[tid];
    }
    if (tid + blockDim.x < n) {
        output[tid + blockDim.x] = temp[tid + blockDim.x];
    }
}

unsigned size_of(std::uint64_t n) { return std::max(2u, 1u << engine::log2_up(n)); }

void run(const engine::stage& on) {
    if (on.n != 0) {
        const unsigned size = size_of(on.n);
        engine::launch(on, "post_scan", post_scan, 1, size / 2, size * sizeof(int), on.output<int>(), on.input<int>(),
                       static_cast<unsigned>(on.n), size);
    }
}

struct additions {
    std::vector<std::uint64_t> up, down;
};

additions work_of(const engine::evidence& e) {
    const unsigned levels = engine::log2_up(size_of(e.n()));
    const auto stores = [](const counters& c) { return c.shared_store_bytes / sizeof(int); };
    return {engine::by_interval(e.step.launches[0], 1, levels, stores),
            engine::by_interval(e.step.launches[0], 1 + levels, levels - 1, stores)};
}

verdict iterations(const engine::evidence& e) {
    const double barriers = engine::barriers_per_warp(e.step.launches[0]);
    const unsigned levels = engine::log2_up(size_of(e.n()));
    return seen(barriers == 2 * levels, number(barriers - 1, 0) + " iterations: " + std::to_string(levels) +
                                            " in reduction, " + std::to_string(levels - 1) +
                                            " in post-scan, whose first, with a stride of n/2, has nothing to add to");
}

verdict total_adds(const engine::evidence& e) {
    const additions work = work_of(e);
    const std::uint64_t size = size_of(e.n());
    const auto all = engine::sum(work.up) + engine::sum(work.down);
    return seen(all == 2 * (size - 1), std::to_string(all) + " = 2n - 2 - log2 n of " + std::to_string(size) +
                                           " elements: " + list(work.up) + " up, " + list(work.down) + " down");
}

verdict no_more_than_twice(const engine::evidence& e) {
    const additions work = work_of(e);
    const auto all = engine::sum(work.up) + engine::sum(work.down);
    const std::uint64_t size = size_of(e.n());
    const double ratio = static_cast<double>(all) / static_cast<double>(size - 1);
    return seen(ratio <= 2, number(ratio, 3) + "x");
}

verdict without_swaps(const engine::evidence& e, const step_result& other) {
    const auto stores = [](const step_result& s) { return s.launches[0].total.shared_store_bytes; };
    return seen(stores(e.step) < stores(other), std::to_string(stores(e.step) / sizeof(int)) +
                                                    " elements stored in shared memory, " +
                                                    std::to_string(stores(other) / sizeof(int)) + " in step 5");
}

} // namespace

engine::step_definition post_scan_tree() {
    return {
        .about = {"7", "reduction and post-scan tree", "ladder/scan/07_post_scan_tree.cu",
                  "after the reduction each finished total is added half a stride further: inclusive, without swaps",
                  "Parallel patterns, Inclusive Post Scan Step"},
        .data = inclusive,
        .run = run,
        .size = engine::at_most(2048),
        .least_bytes = engine::read_and_written,
        .claims = {
            {"the parallel scan executes 2 log(n) parallel iterations (one less)", "Parallel patterns, Work Analysis",
             engine::counted(iterations).refuted_by(engine::step_in_place("2"))},
            {"total adds: 2(n-1)", "Parallel patterns, Work Analysis",
             engine::counted(total_adds).refuted_by(engine::step_in_place("2"))},
            {"no more than twice the adds of the efficient sequential algorithm", "Parallel patterns, Work Analysis",
             engine::counted(no_more_than_twice).refuted_by(engine::step_in_place("2"))},
            {"it does without the swaps of the down-sweep", "beyond the lectures",
             engine::compared("5", without_swaps)},
        }};
}

} // namespace warpfold::ladder::scan
