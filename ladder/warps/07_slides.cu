// SPDX-License-Identifier: MIT
// Two things of the slides as they stand there: the tree's example of sixteen values, row by row, and the last warp without
// volatile. (759 "Parallel Reduction: Interleaved Addressing", "Reduction #5: Unroll the Last Warp"; Kharagpur "Reduction 5:
// warpReduce"; 380 "Final Optimized Kernel", the first of the two.)
#include <array>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/warps/steps.hpp"

namespace warpfold::ladder::warps {

namespace {

constexpr unsigned values = 16;
constexpr unsigned steps = 4; // strides 1, 2, 4, 8

// rows[k]: shared memory after the step with stride 2^k; by threads whose number the stride divides, or by the first ones.
template <bool Packed>
__global__ void rows_of_a_tree(int* rows, const int* input) {
    __shared__ int sdata[values];
    const unsigned tid = threadIdx.x;
    sdata[tid] = input[tid];
    __syncthreads();
    for (unsigned s = 1; s < values; s *= 2) {
        const unsigned index = Packed ? 2 * s * tid : tid;
        if (Packed ? index < values : tid % (2 * s) == 0) {
            sdata[index] += sdata[index + s];
        }
        __syncthreads();
        rows[tid] = sdata[tid];
        rows += values;
        __syncthreads();
    }
}

// As printed on the slides.
constexpr std::array<std::int32_t, values> printed{10, 1, 8, -1, 0, -2, 3, 5, -2, -3, 2, 7, 0, 11, 0, 2};
constexpr std::array<std::array<std::int32_t, values>, steps> printed_rows{{
    {11, 1, 7, -1, -2, -2, 8, 5, -5, -3, 9, 7, 11, 11, 2, 2},
    {18, 1, 7, -1, 6, -2, 8, 5, 4, -3, 9, 7, 13, 11, 2, 2},
    {24, 1, 7, -1, 6, -2, 8, 5, 17, -3, 9, 7, 13, 11, 2, 2},
    {41, 1, 7, -1, 6, -2, 8, 5, 17, -3, 9, 7, 13, 11, 2, 2},
}};

engine::sample of_the_slide(std::uint64_t n, std::uint64_t /*seed*/) {
    std::vector<std::int32_t> right;
    for (int tree = 0; tree < 2; ++tree) {
        for (const auto& row : printed_rows) {
            right.insert(right.end(), row.begin(), row.end());
        }
    }
    return {n, {engine::bytes_of(std::vector<std::int32_t>(printed.begin(), printed.end()))}, engine::bytes_of(right)};
}

void run_rows(const engine::stage& on) {
    engine::launch(on, "rows_of_a_tree", rows_of_a_tree<false>, 1, values, 0, on.output<int>(), on.input<int>());
    engine::launch(on, "rows_of_a_tree", rows_of_a_tree<true>, 1, values, 0, on.output<int>() + steps * values,
                   on.input<int>());
}

verdict as_printed(const engine::evidence& e) {
    const auto all = engine::view<std::int32_t>(e.result);
    std::vector<double> first;
    for (unsigned k = 0; k < steps; ++k) {
        first.push_back(all[k * values]);
    }
    return seen(e.step.correct, "the first value after each step: " + list(first, 0));
}

__device__ void warp_reduce(float* sdata, unsigned tid) { // no volatile, as Kharagpur has it
    sdata[tid] += sdata[tid + 32];
    sdata[tid] += sdata[tid + 16];
    sdata[tid] += sdata[tid + 8];
    sdata[tid] += sdata[tid + 4];
    sdata[tid] += sdata[tid + 2];
    sdata[tid] += sdata[tid + 1];
}

__global__ void not_volatile(const float* input, float* partial, std::uint64_t n) {
    __shared__ float sdata[threads];
    const unsigned tid = threadIdx.x;
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + tid;
    sdata[tid] = i < n ? input[i] : 0.0f;
    __syncthreads();
    for (unsigned s = threads / 2; s > 32; s >>= 1) {
        if (tid < s) {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }
    if (tid < 32) {
        warp_reduce(sdata, tid);
    }
    if (tid == 0) {
        partial[blockIdx.x] = sdata[0];
    }
}

verdict must_be_volatile(const engine::evidence& e) {
    const auto& c = e.step.launches[0].total;
    const std::string stores = std::to_string(c.shared_store_requests / e.step.launches[0].grid[0]) +
                               " stores of warps a block, where 12 are written: ";
    return seen(!e.step.correct, stores + (e.step.correct ? "it came out right" : e.step.difference));
}

constexpr const char* source = "ladder/warps/07_slides.cu";

} // namespace

engine::step_definition sixteen_values() {
    return {.about = {"sixteen", "the slides' sixteen values", source, "both interleaved trees, row by row",
                      "759, Parallel Reduction: Interleaved Addressing"},
            .data = of_the_slide,
            .run = run_rows,
            .size = [](std::uint64_t) { return std::uint64_t{values}; },
            .claims = {{"10 1 8 -1 0 -2 3 5 -2 -3 2 7 0 11 0 2 comes to 41, row by row as printed",
                        "759, Parallel Reduction: Interleaved Addressing", as_printed}}};
}

engine::step_definition without_volatile() {
    return {.about = {"not volatile", "the last warp without volatile", source,
                      "what the compiler makes of additions whose stores nobody seems to read",
                      "Kharagpur, Reduction 5: warpReduce"},
            .data = partial_sums,
            .run = [](const engine::stage& on) { run_tree(on, "not_volatile", not_volatile); },
            .least_bytes = [](std::uint64_t n) { return n * sizeof(float); },
            .expected = outcome::by_luck,
            .lesson = "the compiler may leave out stores that the thread itself does not read, and nothing orders the "
                      "lanes",
            .finds = "race in shared memory",
            .claims = {{"for this to be correct, we must use the volatile keyword",
                        "759, Reduction #5: Unroll the Last Warp", engine::counted(must_be_volatile)}}};
}

} // namespace warpfold::ladder::warps
