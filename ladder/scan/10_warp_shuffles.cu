// SPDX-License-Identifier: MIT
// Scan, step 10: warp shuffles. A warp scans 32 elements in five shuffles without shared memory or barrier; shared memory
// takes one total a warp. Beyond a block as in step 9. (380 "Shuffle (SHFL)", the variant up.)
#include "ladder/engine/definition/claims.hpp"
#include "ladder/scan/device/recursion.cuh"
#include "ladder/scan/device/shuffle_scan.cuh"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

constexpr unsigned part = 1024;

__global__ void shuffles_of_part(int* output, const int* input, int* sums, std::uint64_t n) {
    __shared__ int totals[32];
    const std::uint64_t i = std::uint64_t{blockIdx.x} * part + threadIdx.x;
    const int total = block_inclusive_scan(i < n ? input[i] : 0, totals);
    if (i < n) {
        output[i] = total;
    }
    if (sums != nullptr && threadIdx.x == part - 1) {
        sums[blockIdx.x] = total;
    }
}

void run(const engine::stage& on) {
    if (on.n != 0) {
        const part_shape shape{"shuffles_of_part", shuffles_of_part, part, part, 0, true};
        scan_recursively(on, shape, on.output<int>(), on.input<int>(), on.n, on.temporary<int>());
    }
}

verdict five_shuffles(const engine::evidence& e) {
    const auto& launch = e.step.launches[0];
    const double a_block = static_cast<double>(launch.total.shuffles) / launch.grid[0];
    return seen(a_block == 5 * 32 + 5, number(a_block, 0) +
                                           " shuffles a block of 32 warps: five in each, and five for the "
                                           "totals of the warps");
}

verdict one_value_a_warp(const engine::evidence& e, const step_result& other) {
    const auto stored = [](const step_result& s) { return s.launches[0].total.shared_store_bytes / sizeof(int); };
    const double here = static_cast<double>(stored(e.step)) / e.step.launches[0].grid[0] / part;
    const double before = static_cast<double>(stored(other)) / other.launches[0].grid[0] / 2048;
    return seen(here < 0.1, number(here, 3) + " elements stored in shared memory for each scanned, " +
                                number(before, 2) + " in step 9");
}

verdict barriers_left(const engine::evidence& e) {
    const double barriers = engine::barriers_per_warp(e.step.launches[0]);
    return seen(barriers == 2, number(barriers, 0) + " barriers a warp");
}

} // namespace

engine::step_definition warp_shuffles() {
    return {.about = {"10", "warp shuffles", "ladder/scan/10_warp_shuffles.cu",
                      "lanes read each other's registers; shared memory takes one total a warp", "380, Shuffle (SHFL)",
                      false, "9"},
            .data = inclusive,
            .run = run,
            .scratch_bytes = [](std::uint64_t n) { return sums_of(n, part) * sizeof(int); },
            .least_bytes = engine::read_and_written,
            .claims = {
                {"no shared memory is needed within a warp", "380, Shuffle (SHFL)",
                 engine::compared("9", one_value_a_warp)},
                {"use warp shuffle instructions for 5 steps: they scan a warp", "380, And More...",
                 engine::counted(five_shuffles).refuted_by(engine::step_in_place("9"))},
                {"two barriers are left", "beyond the lectures",
                 engine::counted(barriers_left).refuted_by(engine::step_in_place("9"))},
                {"faster than step 9", "beyond the lectures", engine::faster_than("9")},
            }};
}

} // namespace warpfold::ladder::scan
