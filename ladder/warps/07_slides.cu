// SPDX-License-Identifier: MIT
// Two things of the slides as they stand there: the tree's example of sixteen values, row by row, and the last warp without
// volatile. (759 "Parallel Reduction: Interleaved Addressing", "Reduction #5: Unroll the Last Warp"; Kharagpur "Reduction 5:
// warpReduce"; 380 "Final Optimized Kernel", the first of the two.)
#include <algorithm>
#include <array>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/warps/steps.hpp"

namespace warpfold::ladder::warps {

namespace {

constexpr unsigned values = 16;
constexpr unsigned steps = 4; // strides 1, 2, 4, 8

enum class tree_order { modulo, packed, falling };

// rows[k]: shared memory after step k; by threads whose number the stride divides, by the first ones, or by these with a
// stride that falls.
template <tree_order Order>
__global__ void rows_of_a_tree(int* rows, const int* input) {
    __shared__ int sdata[values];
    const unsigned tid = threadIdx.x;
    sdata[tid] = input[tid];
    __syncthreads();
    for (unsigned k = 1; k < values; k *= 2) {
        const unsigned s = Order == tree_order::falling ? values / 2 / k : k;
        const unsigned index = Order == tree_order::packed ? 2 * s * tid : tid;
        const bool adds = Order == tree_order::packed   ? index < values
                          : Order == tree_order::modulo ? tid % (2 * s) == 0
                                                        : tid < s;
        if (adds) {
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

template <tree_order First, tree_order Second>
void run_rows(const engine::stage& on) {
    engine::launch(on, "rows_of_a_tree", rows_of_a_tree<First>, 1, values, 0, on.output<int>(), on.input<int>());
    engine::launch(on, "rows_of_a_tree", rows_of_a_tree<Second>, 1, values, 0, on.output<int>() + steps * values,
                   on.input<int>());
}

verdict as_printed(const engine::evidence& e) {
    const auto all = engine::view<std::int32_t>(e.result);
    std::vector<double> first;
    bool same = true;
    for (unsigned k = 0; k < 2 * steps; ++k) {
        first.push_back(all[k * values]);
        const auto& row = printed_rows.at(k % steps);
        same = same && std::equal(row.begin(), row.end(), all.begin() + k * values);
    }
    return seen(same, "the first value after each step of both trees: " + list(first, 0));
}

template <class T> // float, as Kharagpur has it, or volatile float
__device__ void warp_reduce(T* sdata, unsigned tid) {
    sdata[tid] = sdata[tid] + sdata[tid + 32];
    sdata[tid] = sdata[tid] + sdata[tid + 16];
    sdata[tid] = sdata[tid] + sdata[tid + 8];
    sdata[tid] = sdata[tid] + sdata[tid + 4];
    sdata[tid] = sdata[tid] + sdata[tid + 2];
    sdata[tid] = sdata[tid] + sdata[tid + 1];
}

template <class T>
__global__ void last_warp_of(const float* input, float* partial, std::uint64_t n) {
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
        warp_reduce<T>(sdata, tid);
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
            .run = run_rows<tree_order::modulo, tree_order::packed>,
            .size = [](std::uint64_t) { return std::uint64_t{values}; },
            .claims = {{"10 1 8 -1 0 -2 3 5 -2 -3 2 7 0 11 0 2 comes to 41, row by row as printed",
                        "759, Parallel Reduction: Interleaved Addressing",
                        engine::check(as_printed)
                            .refuted_by(engine::mutant("the stride falling, which ends in the same sum",
                                                       run_rows<tree_order::falling, tree_order::falling>))}}};
}

engine::step_definition without_volatile() {
    return {.about = {"not volatile", "the last warp without volatile", source,
                      "what the compiler makes of additions whose stores nobody seems to read",
                      "Kharagpur, Reduction 5: warpReduce"},
            .data = partial_sums,
            .run = [](const engine::stage& on) { run_tree(on, "last_warp_of", last_warp_of<float>); },
            .least_bytes = floats_read,
            .expected = outcome::by_luck,
            .lesson = "the compiler may leave out stores that the thread itself does not read, and nothing orders the "
                      "lanes",
            .finds = "race in shared memory",
            .claims = {{"for this to be correct, we must use the volatile keyword",
                        "759, Reduction #5: Unroll the Last Warp",
                        engine::counted(must_be_volatile)
                            .refuted_by(engine::mutant("the same with volatile", [](const engine::stage& on) {
                                run_tree(on, "last_warp_of", last_warp_of<volatile float>);
                            }))}}};
}

} // namespace warpfold::ladder::warps
