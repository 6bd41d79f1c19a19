// SPDX-License-Identifier: MIT
// Products of square matrices: naive, and tile by tile. (759 "Shared Memory: Syntax & Semantics", taken further; parallel
// patterns "This means": load, synchronise, process, synchronise.)
#include "ladder/matmul/steps.hpp"

namespace warpfold::ladder::matmul {

namespace {

__global__ void square_multiply(const float* a, const float* b, float* c, int n) {
    const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) {
        sum += a[row * n + i] * b[i * n + col];
    }
    c[row * n + col] = sum;
}

__global__ void square_multiply_tiled(const float* a, const float* b, float* c, int n) {
    __shared__ float a_tile[tile_dim][tile_dim];
    __shared__ float b_tile[tile_dim][tile_dim];
    const int x = static_cast<int>(threadIdx.x);
    const int y = static_cast<int>(threadIdx.y);
    const int row = static_cast<int>(blockIdx.y * blockDim.y) + y;
    const int col = static_cast<int>(blockIdx.x * blockDim.x) + x;
    float sum = 0.0f;
    for (int first = 0; first < n; first += tile_dim) {
        a_tile[y][x] = a[row * n + first + x];
        b_tile[y][x] = b[(first + y) * n + col];
        __syncthreads(); // so that each thread can safely read what others have loaded
        for (int i = 0; i < tile_dim; ++i) {
            sum += a_tile[y][i] * b_tile[i][x];
        }
        __syncthreads(); // no thread overwrites what others still read
    }
    c[row * n + col] = sum;
}

verdict thirty_two_times_less(const engine::evidence& e, const step_result& other) {
    const auto here = loads_a_warp(e.step);
    const auto before = loads_a_warp(other);
    return seen(before == 32 * here, std::to_string(here) + " loads a warp, " + std::to_string(before) + " in step 4");
}

verdict two_for_each(const engine::evidence& e) {
    const auto side = static_cast<std::uint64_t>(side_of(e.n()));
    return seen(loads_a_warp(e.step) == 2 * side, std::to_string(loads_a_warp(e.step)) + " loads a warp for " +
                                                      std::to_string(side) + " multiplications a thread");
}

verdict two_barriers_a_tile(const engine::evidence& e) {
    const double here = engine::barriers_per_warp(e.step.launches[0]);
    return seen(here == 2.0 * side_of(e.n()) / tile_dim,
                number(here, 0) + " barriers a warp for " + std::to_string(side_of(e.n()) / tile_dim) + " tiles");
}

std::uint64_t least_bytes(std::uint64_t n) { return 3 * n * sizeof(float); }

constexpr const char* source = "ladder/matmul/04_square.cu";

} // namespace

engine::step_definition square_naive() {
    return {.about = {"4", "square, naive", source, "a row times a column, from global memory",
                      "759, Shared Memory: Syntax & Semantics"},
            .data = square,
            .run = [](const engine::stage& on) { run_kernel(on, "square_multiply", square_multiply); },
            .size = as_square,
            .least_bytes = least_bytes,
            .claims = {{"two loads for each multiplication", "beyond the lectures",
                        engine::counted(two_for_each).refuted_by(engine::step_in_place("5"))}}};
}

engine::step_definition square_tiled() {
    return {.about = {"5", "square, tiled", source, "tile by tile of both through shared memory",
                      "Parallel patterns, This means …Typically"},
            .data = square,
            .run = [](const engine::stage& on) { run_kernel(on, "square_multiply_tiled", square_multiply_tiled); },
            .size = as_square,
            .least_bytes = least_bytes,
            .claims = {{"minimize data transfers with low bandwidth: 32 times fewer loads from global memory",
                        "Parallel patterns, How about memory?", engine::compared("4", thirty_two_times_less)},
                       {"synchronize so that each thread can safely read, and again to make sure that all is updated",
                        "Parallel patterns, This means …Typically",
                        engine::counted(two_barriers_a_tile).refuted_by(engine::step_in_place("3"))},
                       {"faster than step 4", "beyond the lectures", engine::faster_than("4")}}};
}

} // namespace warpfold::ladder::matmul
