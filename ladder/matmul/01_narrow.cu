// SPDX-License-Identifier: MIT
// Products of a matrix 32 wide with one 32 high: naive; coalescedMultiply with a tile of a in shared memory; both in tiles.
// (759 "Shared Memory: Syntax & Semantics".)
// The slide's kernel has nothing between the store to aTile and the loads of what other lanes have stored; it stands here
// as it is, and mended by __syncwarp, since a row of the tile belongs to one warp.
#include <algorithm>

#include "ladder/matmul/steps.hpp"

namespace warpfold::ladder::matmul {

namespace {

__device__ int row_of() { return static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y); }
__device__ int column_of() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

__global__ void simple_multiply(const float* a, const float* b, float* c, int n) {
    const int row = row_of();
    const int col = column_of();
    float sum = 0.0f;
    for (int i = 0; i < tile_dim; ++i) {
        sum += a[row * tile_dim + i] * b[i * n + col];
    }
    c[row * n + col] = sum;
}

__global__ void coalesced_multiply(const float* a, const float* b, float* c, int n) {
    __shared__ float a_tile[tile_dim][tile_dim];
    const int row = row_of();
    const int col = column_of();
    float sum = 0.0f;
    a_tile[threadIdx.y][threadIdx.x] = a[row * tile_dim + static_cast<int>(threadIdx.x)];
    for (int i = 0; i < tile_dim; i++) {
        sum += a_tile[threadIdx.y][i] * b[i * n + col];
    }
    c[row * n + col] = sum;
}

__global__ void coalesced_multiply_synchronised(const float* a, const float* b, float* c, int n) {
    __shared__ float a_tile[tile_dim][tile_dim];
    const int row = row_of();
    const int col = column_of();
    float sum = 0.0f;
    a_tile[threadIdx.y][threadIdx.x] = a[row * tile_dim + static_cast<int>(threadIdx.x)];
    __syncwarp();
    for (int i = 0; i < tile_dim; i++) {
        sum += a_tile[threadIdx.y][i] * b[i * n + col];
    }
    c[row * n + col] = sum;
}

__global__ void tiled_multiply(const float* a, const float* b, float* c, int n) {
    __shared__ float a_tile[tile_dim][tile_dim];
    __shared__ float b_tile[tile_dim][tile_dim];
    const int row = row_of();
    const int col = column_of();
    float sum = 0.0f;
    a_tile[threadIdx.y][threadIdx.x] = a[row * tile_dim + static_cast<int>(threadIdx.x)];
    b_tile[threadIdx.y][threadIdx.x] = b[static_cast<int>(threadIdx.y) * n + col];
    __syncthreads();
    for (int i = 0; i < tile_dim; i++) {
        sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
    }
    c[row * n + col] = sum;
}

// coalescedMultiply on a transposed tile: the lanes of a warp read 32 words of one bank.
__global__ void column_multiply(const float* a, const float* b, float* c, int n) {
    __shared__ float a_tile[tile_dim][tile_dim];
    const int row = row_of();
    const int col = column_of();
    float sum = 0.0f;
    a_tile[threadIdx.x][threadIdx.y] =
        a[static_cast<int>(row - threadIdx.y + threadIdx.x) * tile_dim + static_cast<int>(threadIdx.y)];
    __syncthreads();
    for (int i = 0; i < tile_dim; i++) {
        sum += a_tile[threadIdx.x][i] * b[i * n + col];
    }
    c[row * n + col] = sum;
}

engine::counterexample column_in_place() {
    return engine::mutant("each lane reads another row of the tile",
                          [](const engine::stage& on) { run_kernel(on, "column_multiply", column_multiply); });
}

engine::check loads_are(std::uint64_t expected) {
    return engine::counted([expected](const engine::evidence& e) {
        const auto c = e.step.launches[0].total;
        const double sectors = static_cast<double>(c.global_load_sectors) / static_cast<double>(warps_of(e));
        return seen(loads_a_warp(e.step) == expected,
                    std::to_string(loads_a_warp(e.step)) + " loads a warp, " + number(sectors, 0) + " segments");
    });
}

verdict broadcast(const engine::evidence& e) {
    const auto c = e.step.launches[0].total;
    const auto conflicts = engine::bank_conflicts(c);
    return seen(conflicts == 0 && c.shared_load_requests > 0,
                std::to_string(conflicts) + " bank conflicts in " + std::to_string(c.shared_load_requests) + " loads");
}

// Each lane loads one element of its row, and reads 32.
verdict visible_to_all(const engine::evidence& e) {
    const auto& c = e.step.launches[0].total;
    const std::uint64_t stored = c.shared_store_bytes / sizeof(float) / e.n();
    return seen(e.step.correct && stored == 1 && c.shared_load_requests > c.shared_store_requests,
                std::to_string(stored) + " element stored in the tile by each thread, " +
                    number(static_cast<double>(c.shared_load_requests) /
                               static_cast<double>(std::max<std::uint64_t>(c.shared_store_requests, 1)),
                           0) +
                    " loads for each store");
}

// The lecture has the kernel as one that works.
verdict works_as_printed(const engine::evidence& e) {
    if (e.found == nullptr) {
        return unseen("needs the checks of the software GPU");
    }
    return seen(e.step.correct && e.found->none(),
                std::string("it came out ") + (e.step.correct ? "right" : "wrong") + "; " + e.found->in_words());
}

std::uint64_t least_bytes(std::uint64_t n) {
    return (n + 2 * tile_dim * static_cast<std::uint64_t>(side_of(n))) * sizeof(float);
}

constexpr const char* source = "ladder/matmul/01_narrow.cu";
constexpr const char* section = "759, Shared Memory: Syntax & Semantics";

} // namespace

engine::step_definition naive() {
    return {.about = {"1", "naive", source, "every thread loads its row of a and its column of b", section},
            .data = narrow,
            .run = [](const engine::stage& on) { run_kernel(on, "simple_multiply", simple_multiply); },
            .size = as_square,
            .least_bytes = least_bytes,
            .claims = {{"without shared memory: 32 + 32 loads for each element", "beyond the lectures",
                        loads_are(64).refuted_by(engine::step_in_place("2"))}}};
}

engine::step_definition coalesced_as_on_the_slide() {
    return {
        .about = {"2s", "coalescedMultiply, as on the slide", source,
                  "a tile of a in shared memory, and nothing between its stores and its loads", section},
        .data = narrow,
        .run = [](const engine::stage& on) { run_kernel(on, "coalesced_multiply", coalesced_multiply); },
        .size = as_square,
        .least_bytes = least_bytes,
        .expected = outcome::by_luck,
        .lesson = "lanes read what other lanes have stored, and nothing says that these have",
        .finds = "race in shared memory",
        .claims = {{"coalescedMultiply as printed, without a barrier between the stores to aTile and the loads from it",
                    section, engine::check(works_as_printed).refuted_by(engine::on_size(1024))}}};
}

engine::step_definition coalesced() {
    return {.about = {"2", "coalescedMultiply", source,
                      "a tile of a in shared memory: each of its elements is loaded once", section},
            .data = narrow,
            .run =
                [](const engine::stage& on) {
                    run_kernel(on, "coalesced_multiply_synchronised", coalesced_multiply_synchronised);
                },
            .size = as_square,
            .least_bytes = least_bytes,
            .claims = {{"the variable aTile is visible to all threads in each block", section,
                        engine::counted(visible_to_all).refuted_by(engine::step_in_place("1"))},
                       {"1 + 32 loads for each element", "beyond the lectures",
                        loads_are(33).refuted_by(engine::step_in_place("1"))},
                       {"broadcast: all threads in a warp access the same word in a bank, no conflict",
                        "759, Other Examples", engine::counted(broadcast).refuted_by(column_in_place())},
                       {"faster than step 1", "beyond the lectures", engine::faster_than("1")}}};
}

engine::step_definition both_tiled() {
    return {
        .about = {"3", "both in tiles", source, "a tile of b too: 32 rows of the block share it", section},
        .data = narrow,
        .run = [](const engine::stage& on) { run_kernel(on, "tiled_multiply", tiled_multiply); },
        .size = as_square,
        .least_bytes = least_bytes,
        .claims = {{"1 + 1 loads for each element", "beyond the lectures",
                    loads_are(2).refuted_by(engine::step_in_place("2"))},
                   {"all threads of a warp access different banks, or an identical address: there is no bank conflict",
                    "759, Shared Memory Bank Conflicts", engine::counted(broadcast).refuted_by(column_in_place())},
                   {"faster than step 2", "beyond the lectures", engine::faster_than("2")}}};
}

} // namespace warpfold::ladder::matmul
