// SPDX-License-Identifier: MIT
// Scan, step 9: any length by block sums, scanned recursively: each block does the padded tree of step 6 on 2048
// elements. (759 "Concluding Remarks, Parallel Scan": "How do we handle the 16,777,216 elements case?"; after Harris,
// Sengupta and Owens.)
#include "ladder/engine/definition/claims.hpp"
#include "ladder/scan/device/padding.hpp"
#include "ladder/scan/device/recursion.cuh"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

constexpr unsigned part = 2048;

__global__ void tree_of_part(int* output, const int* input, int* sums, std::uint64_t n) {
    extern __shared__ int temp[];
    const unsigned tid = threadIdx.x;
    const std::uint64_t first = std::uint64_t{blockIdx.x} * part;
    for (unsigned k = tid; k < part; k += blockDim.x) {
        temp[padded(k)] = first + k < n ? input[first + k] : 0;
    }
    unsigned offset = 1;
    for (unsigned d = part / 2; d > 0; d /= 2) {
        __syncthreads();
        if (tid < d) {
            temp[padded(offset * (2 * tid + 2) - 1)] += temp[padded(offset * (2 * tid + 1) - 1)];
        }
        offset *= 2;
    }
    if (tid == 0) {
        if (sums != nullptr) {
            sums[blockIdx.x] = temp[padded(part - 1)];
        }
        temp[padded(part - 1)] = 0;
    }
    for (unsigned d = 1; d < part; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (tid < d) {
            const unsigned ai = padded(offset * (2 * tid + 1) - 1);
            const unsigned bi = padded(offset * (2 * tid + 2) - 1);
            const int t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();
    for (unsigned k = tid; k < part; k += blockDim.x) {
        if (first + k < n) {
            output[first + k] = temp[padded(k)];
        }
    }
}

void run(const engine::stage& on) {
    if (on.n != 0) {
        const part_shape shape{"tree_of_part", tree_of_part, part, part / 2, padded(part) * sizeof(int), false};
        scan_recursively(on, shape, on.output<int>(), on.input<int>(), on.n, on.temporary<int>());
    }
}

verdict launches(const engine::evidence& e) {
    if (e.n() <= part) {
        return unseen("needs more than one block");
    }
    unsigned levels = 1;
    for (std::uint64_t n = e.n(); n > part; n = engine::divide_up(n, part)) {
        ++levels;
    }
    std::vector<std::uint64_t> grids;
    for (const auto& launch : e.step.launches) {
        grids.push_back(launch.grid[0]);
    }
    return seen(e.step.correct && grids.size() == 2 * levels - 1,
                std::to_string(e.n()) + " elements: launches of " + list(grids) + " blocks");
}

// Neither a power of two nor a multiple of a part.
std::uint64_t odd_size(std::uint64_t n) { return n < 1000 ? n : n - n / 8 - 100; }

void run_whole_parts(const engine::stage& on) {
    engine::stage less = on;
    less.n = on.n / part * part;
    run(less);
}

verdict filled_up(const engine::evidence& e) {
    if (e.n() % part == 0 || e.n() < part) {
        return unseen("needs a whole part and a rest");
    }
    return seen(e.step.correct, std::to_string(e.n()) + " elements in " + std::to_string(e.blocks()) +
                                    " blocks, of which the last has " + std::to_string(e.n() % part) + " and " +
                                    std::to_string(part - e.n() % part) + " zeros");
}

verdict twice_over_memory(const engine::evidence& e) {
    if (e.n() < 4 * part) {
        return unseen("needs many blocks");
    }
    const auto c = engine::total(e.step.launches);
    const double passes = static_cast<double>(c.global_bytes_moved()) / static_cast<double>(8 * e.n());
    return seen(passes > 1.8 && passes < 2.1, number(passes, 2) + "x the bytes that have to be read and written");
}

verdict fewer_sectors(const engine::evidence& e, const step_result& other) {
    const auto here = engine::total(e.step.launches).global_bytes_moved();
    const auto before = engine::total(other.launches).global_bytes_moved();
    return seen(here < before, std::to_string(here) + " bytes moved, " + std::to_string(before) + " in step 8");
}

} // namespace

engine::step_definition not_a_power_of_two() {
    return {.about = {"9n", "block sums, not a power of two", "ladder/scan/09_block_sums.cu",
                      "the last block fills its part up with zeros", "759, Concluding Remarks, Parallel Scan"},
            .data = exclusive,
            .run = run,
            .size = odd_size,
            .scratch_bytes = [](std::uint64_t n) { return sums_of(n, part) * sizeof(int); },
            .least_bytes = engine::read_and_written,
            .claims = {
                {"how would you implement the case when the number of elements is not a power of 2?",
                 "759, Concluding Remarks, Parallel Scan",
                 engine::launched(filled_up).refuted_by(engine::mutant("whole parts of 2048 only", run_whole_parts))}}};
}

engine::step_definition block_sums() {
    return {.about = {"9", "block sums, recursively", "ladder/scan/09_block_sums.cu",
                      "scan each block's part, scan the sums of the parts, add to each part what comes before it",
                      "759, Concluding Remarks, Parallel Scan"},
            .data = exclusive,
            .run = run,
            .scratch_bytes = [](std::uint64_t n) { return sums_of(n, part) * sizeof(int); },
            .least_bytes = engine::read_and_written,
            .claims = {
                {"we only looked at up to 2048 elements; how do we handle 16,777,216? By a launch for each level of "
                 "sums, and another to add them",
                 "759, Concluding Remarks, Parallel Scan",
                 engine::launched(launches).refuted_by(engine::step_in_place("8"))},
                {"every element is read and written twice", "Harris, Sengupta and Owens (2007)",
                 engine::counted(twice_over_memory).refuted_by(engine::step_in_place("8"))},
                {"fewer bytes moved: contiguous parts instead of growing strides", "beyond the lectures",
                 engine::compared("8", fewer_sectors)},
                {"faster than step 8", "beyond the lectures", engine::faster_than("8")},
            }};
}

} // namespace warpfold::ladder::scan
