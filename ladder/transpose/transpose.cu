// SPDX-License-Identifier: MIT
// A matrix transposed: from row to column directly; through a tile in shared memory; with the tile padded. A copy beside
// them, which is all that can be had. (380 "Global Memory Access Patterns", "Summary: GMEM Optimization"; 759 "Shared
// Memory Bank Conflicts", "Going Beyond 2048 Entries [3/3]": padding.)
#include <algorithm>
#include <cmath>
#include <vector>

#include "ladder/engine/definition/data.hpp"
#include "ladder/transpose/steps.hpp"

namespace warpfold::ladder::transpose {

namespace {

constexpr int tile = 32;
constexpr int rows = 8; // of a block: each thread moves four elements

// Out of place; `in` is of height x width, `out` of width x height, except for the copy.
using kernel = void (*)(float* out, const float* in, int width, int height);

__device__ int column_of() { return static_cast<int>(blockIdx.x) * tile + static_cast<int>(threadIdx.x); }
__device__ int row_of() { return static_cast<int>(blockIdx.y) * tile + static_cast<int>(threadIdx.y); }

__global__ void copy_matrix(float* out, const float* in, int width, int height) {
    const int x = column_of();
    for (int y = row_of(); y < row_of() + tile; y += rows) {
        if (x < width && y < height) {
            out[static_cast<std::int64_t>(y) * width + x] = in[static_cast<std::int64_t>(y) * width + x];
        }
    }
}

__global__ void transpose_naive(float* out, const float* in, int width, int height) {
    const int x = column_of();
    for (int y = row_of(); y < row_of() + tile; y += rows) {
        if (x < width && y < height) {
            out[static_cast<std::int64_t>(x) * height + y] = in[static_cast<std::int64_t>(y) * width + x];
        }
    }
}

template <int Padding>
__global__ void transpose_tiled(float* out, const float* in, int width, int height) {
    __shared__ float part[tile][tile + Padding];
    const int tx = static_cast<int>(threadIdx.x);
    const int ty = static_cast<int>(threadIdx.y);
    const int x = column_of();
    for (int k = 0; k < tile; k += rows) {
        if (x < width && row_of() + k < height) {
            part[ty + k][tx] = in[static_cast<std::int64_t>(row_of() + k) * width + x];
        }
    }
    __syncthreads();
    const int out_x = static_cast<int>(blockIdx.y) * tile + tx;
    for (int k = 0; k < tile; k += rows) {
        const int out_y = static_cast<int>(blockIdx.x) * tile + ty + k;
        if (out_x < height && out_y < width) {
            out[static_cast<std::int64_t>(out_y) * height + out_x] = part[tx][ty + k];
        }
    }
}

struct extent {
    int width = 0, height = 0;
};
// As nearly square as n allows, not exactly: a transpose of a square would not tell rows from columns.
extent matrix_of(std::uint64_t n) {
    const auto width = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(n)));
    return width == 0 ? extent{} : extent{static_cast<int>(width), static_cast<int>(n / width)};
}
std::uint64_t as_matrix(std::uint64_t n) {
    const extent e = matrix_of(n);
    return static_cast<std::uint64_t>(e.width) * static_cast<std::uint64_t>(e.height);
}

engine::sample copied(std::uint64_t n, std::uint64_t seed) {
    const auto in = engine::bytes_of(engine::numbers<float>(as_matrix(n), seed, 30000));
    return {as_matrix(n), {in}, in, engine::value_type::float32};
}

engine::sample transposed(std::uint64_t n, std::uint64_t seed) {
    const extent e = matrix_of(n);
    const auto in = engine::numbers<float>(as_matrix(n), seed, 30000);
    std::vector<float> right(in.size());
    for (std::size_t y = 0; y < static_cast<std::size_t>(e.height); ++y) {
        for (std::size_t x = 0; x < static_cast<std::size_t>(e.width); ++x) {
            right[x * static_cast<std::size_t>(e.height) + y] = in[y * static_cast<std::size_t>(e.width) + x];
        }
    }
    return {in.size(), {engine::bytes_of(in)}, engine::bytes_of(right), engine::value_type::float32};
}

void run_kernel(const engine::stage& on, const char* name, kernel k) {
    const extent e = matrix_of(on.n);
    if (on.n != 0) {
        const dim3 grid(static_cast<unsigned>((e.width + tile - 1) / tile),
                        static_cast<unsigned>((e.height + tile - 1) / tile));
        engine::launch(on, name, k, grid, dim3(tile, rows), 0, on.output<float>(), on.input<float>(), e.width,
                       e.height);
    }
}

// `inner` where the matrix is of whole tiles.
engine::check whole_tiles(engine::check inner) {
    return engine::counted(engine::guarded(std::move(inner), [](const engine::evidence& e) {
        const extent m = matrix_of(e.n());
        const bool whole = m.width % tile == 0 && m.height % tile == 0;
        return std::string(whole ? "" : "needs a matrix of whole tiles of 32 x 32");
    }));
}

engine::check segments(double load, double store) {
    return whole_tiles([=](const engine::evidence& e) {
        const auto& c = e.step.launches[0].total;
        return seen(engine::sectors_a_load(c) == load && engine::sectors_a_store(c) == store,
                    number(engine::sectors_a_load(c), 0) + " segments a load, " +
                        number(engine::sectors_a_store(c), 0) + " a store");
    });
}

engine::check passes(double expected) {
    return whole_tiles([=](const engine::evidence& e) {
        const auto& c = e.step.launches[0].total;
        const double here = static_cast<double>(c.shared_load_wavefronts) / static_cast<double>(c.shared_load_requests);
        return seen(here == expected, number(here, 0) + " passes of the banks for a column of the tile");
    });
}

constexpr const char* source = "ladder/transpose/transpose.cu";

} // namespace

engine::step_definition copy() {
    return {
        .about = {"copy", "a copy", source, "what could be had at best", "380, Access Patterns vs. Memory Throughput"},
        .data = copied,
        .run = [](const engine::stage& on) { run_kernel(on, "copy_matrix", copy_matrix); },
        .size = as_matrix,
        .least_bytes = engine::read_and_written,
        .claims = {{"strive for perfect address coalescing per warp", "380, Summary: GMEM Optimization",
                    segments(4, 4).refuted_by(engine::step_in_place("1"))}}};
}

engine::step_definition naive() {
    return {.about = {"1", "naive", source, "rows are read, columns are written", "380, Global Memory Access Patterns"},
            .data = transposed,
            .run = [](const engine::stage& on) { run_kernel(on, "transpose_naive", transpose_naive); },
            .size = as_matrix,
            .least_bytes = engine::read_and_written,
            .claims = {{"avoid patterns with large strides between threads: each thread's word in a segment of its own",
                        "380, Summary: GMEM Optimization", segments(4, 32).refuted_by(engine::step_in_place("copy"))}}};
}

engine::step_definition tiled() {
    return {.about = {"2", "through a tile", source, "a tile in shared memory turns columns into rows",
                      "380, Summary: GMEM Optimization"},
            .data = transposed,
            .run = [](const engine::stage& on) { run_kernel(on, "transpose_tiled", transpose_tiled<0>); },
            .size = as_matrix,
            .least_bytes = engine::read_and_written,
            .claims = {{"staging accesses via SMEM: both sides coalesced", "380, Summary: GMEM Optimization",
                        segments(4, 4).refuted_by(engine::step_in_place("1"))},
                       {"worst case: 32 threads access 32 different words in the same bank",
                        "759, Shared Memory Bank Conflicts", passes(32).refuted_by(engine::step_in_place("3"))},
                       {"faster than step 1", "380, Summary: GMEM Optimization", engine::faster_than("1")}}};
}

engine::step_definition padded() {
    return {.about = {"3", "through a padded tile", source, "an unused column moves each row of the tile on by a bank",
                      "759, Going Beyond 2048 Entries [3/3]"},
            .data = transposed,
            .run = [](const engine::stage& on) { run_kernel(on, "transpose_tiled", transpose_tiled<1>); },
            .size = as_matrix,
            .least_bytes = engine::read_and_written,
            .claims = {{"get rid of the bank conflict through padding", "759, Going Beyond 2048 Entries [3/3]",
                        passes(1).refuted_by(engine::step_in_place("2"))},
                       {"faster than step 2", "759, Going Beyond 2048 Entries [3/3]", engine::faster_than("2")}}};
}

const engine::ladder_definition& ladder() {
    static const engine::ladder_definition all{.name = "transpose",
                                               .data = "a matrix of floats, rows to columns",
                                               .n_counted = 1u << 16,
                                               .n_timed = 1u << 24,
                                               .most = 1u << 28,
                                               .steps = {copy(), naive(), tiled(), padded()}};
    return all;
}

} // namespace warpfold::ladder::transpose

const warpfold::ladder::engine::ladder_definition* warpfold_ladder_definition() {
    return &warpfold::ladder::transpose::ladder();
}
