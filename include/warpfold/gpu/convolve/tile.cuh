// SPDX-License-Identifier: MIT
// Masks of any size. A block computes a tile of results, a thread `Rows` by `Cols` of them in registers. Samples and
// mask go through shared memory, one part of the mask at a time. `Taps` columns of the mask are processed together: a
// row of samples is read once for `Rows` rows of the mask, whose values stay in registers.
#pragma once

#include "warpfold/gpu/convolve/line.cuh"

namespace warpfold::detail {

template <class A, int Rows_, int Cols_, int Taps_, int ThreadsX, int ThreadsY, int MostX, int MostY>
struct tile_shape {
    static constexpr int rows = Rows_, cols = Cols_, taps = Taps_;
    static constexpr int threads_x = ThreadsX, threads = ThreadsX * ThreadsY;
    static constexpr int width = ThreadsX * Cols_, height = ThreadsY * Rows_; // of results
    static constexpr int most_x = MostX, most_y = MostY;                      // of a part of the mask
    static constexpr int per = 16 / sizeof(A);
    static constexpr int swizzle = Cols_ / per - 1;

    WARPFOLD_HD static constexpr int mask_pitch(int kx) { return (kx + taps - 1) / taps * taps; }
    WARPFOLD_HD static constexpr int pitch(int kx) { return (width + mask_pitch(kx) + 31) / 32 * 32; }
    static constexpr std::size_t bytes(int kx, int ky) {
        const auto values = std::int64_t{pitch(kx)} * (height + ky - 1) + std::int64_t{mask_pitch(kx)} * ky;
        return static_cast<std::size_t>(values) * sizeof(A);
    }

    // The position of a column in its row. Neighbouring threads' 16-byte words at the same place are in different
    // banks.
    static __device__ int place(int column) {
        const int slot = column / per;
        return (slot ^ (slot / 8 & swizzle)) * per + column % per;
    }
    // Reads N elements from a column on, a multiple of 16 bytes.
    template <int N>
    static __device__ void fetch(A (&into)[N], const A* row, int column) {
#pragma unroll
        for (int k = 0; k < N; k += per) {
            const uint4 loaded = *reinterpret_cast<const uint4*>(row + place(column + k));
            std::memcpy(&into[k], &loaded, 16);
        }
    }
};

template <class Shape, class T, class O, class A>
__device__ void fill_tile(A* tile, const T* image, const convolve_task<T, O>& task, std::int64_t x, std::int64_t y,
                          int columns, int rows, int pitch) {
    constexpr int across = 32; // threads along a row
    const int thread = static_cast<int>(threadIdx.x);
    const bool inside = x >= 0 && x + columns <= task.width;
    for (int r = thread / across; r < rows; r += Shape::threads / across) {
        const std::int64_t from = source_index(y + r, task.height, task.outside);
        const T* const row = image + from * task.pitch;
        A* const into = tile + r * pitch;
        if (inside && from >= 0) {
#pragma unroll 8
            for (int c = thread % across; c < columns; c += across) {
                into[Shape::place(c)] = number_of<A>(load_one(row + x + c));
            }
        } else {
            for (int c = thread % across; c < columns; c += across) {
                const std::int64_t at = from < 0 ? -1 : source_index(x + c, task.width, task.outside);
                into[Shape::place(c)] = at < 0 ? A(0) : number_of<A>(load_one(row + at));
            }
        }
    }
}

// Adds `rows` rows of samples. `Whole`: every row of samples meets shape.rows rows of the mask, as in the middle of a
// mask.
template <class Shape, bool Whole, class A>
__device__ void add_rows(A (&sum)[Shape::rows][Shape::cols], A (&held)[Shape::rows][Shape::taps], const A* tile,
                         int pitch, const A* mask, int mask_pitch, int y0, int ky, int column, int mask_column,
                         int taps) {
    constexpr int length = (Shape::cols + Shape::taps - 1 + Shape::per - 1) / Shape::per * Shape::per;
#pragma unroll
    for (int s = 0; s < Shape::rows; ++s) {
        const int y = y0 + s;
        if (!Whole && y >= ky + Shape::rows - 1) {
            return;
        }
        A sample[length];
        Shape::fetch(sample, tile + y * pitch, column);
        if (Whole || y < ky) {
#pragma unroll
            for (int t = 0; t < Shape::taps; t += Shape::per) {
                const uint4 loaded = *reinterpret_cast<const uint4*>(mask + y * mask_pitch + mask_column + t);
                std::memcpy(&held[s][t], &loaded, 16);
            }
        }
#pragma unroll
        for (int r = 0; r < Shape::rows; ++r) {
            const int slot = (s - r + Shape::rows) % Shape::rows;
            if (Whole || (y - r >= 0 && y - r < ky)) {
#pragma unroll
                for (int t = 0; t < Shape::taps; ++t) {
                    if (Whole || t < taps) {
#pragma unroll
                        for (int c = 0; c < Shape::cols; ++c) {
                            sum[r][c] = fused(held[slot][t], sample[t + c], sum[r][c]);
                        }
                    }
                }
            }
        }
    }
}

// Parts of the mask are at most part_x by part_y.
struct tile_grid {
    unsigned tiles_x, tiles_y;
    int part_x, part_y;
    std::int64_t mask_x, mask_y;
    bool aligned;
};

template <class Shape, class Task, class A, class Mask>
__global__ void __launch_bounds__(Shape::threads)
    convolve_tile(const __grid_constant__ Task given, const __grid_constant__ tile_grid grid,
                  const __grid_constant__ Mask values) {
    using T = typename Task::sample;
    using O = typename Task::result;
    const typename Task::sized task(given);
    if (Task::counted && !has_results(task)) {
        return;
    }
    extern __shared__ uint4 shared_memory[];
    const int pitch = Shape::pitch(grid.part_x), mask_pitch = Shape::mask_pitch(grid.part_x);
    A* const tile = reinterpret_cast<A*>(shared_memory);
    A* const mask = tile + pitch * (Shape::height + grid.part_y - 1);

    const int thread = static_cast<int>(threadIdx.x);
    const int column = thread % Shape::threads_x * Shape::cols, line = thread / Shape::threads_x * Shape::rows;
    const unsigned of_image = blockIdx.x / grid.tiles_x;
    const std::int64_t x0 = std::int64_t{blockIdx.x % grid.tiles_x} * Shape::width;
    const std::int64_t y0 = std::int64_t{of_image % grid.tiles_y} * Shape::height;
    const std::int64_t number = of_image / grid.tiles_y;
    const T* const image = task.in + number * task.distance;

    A sum[Shape::rows][Shape::cols] = {};
    for (std::int64_t part_y = 0; part_y < grid.mask_y; part_y += grid.part_y) {
        const int ky = static_cast<int>(min(std::int64_t{grid.part_y}, grid.mask_y - part_y));
        for (std::int64_t part_x = 0; part_x < grid.mask_x; part_x += grid.part_x) {
            const int kx = static_cast<int>(min(std::int64_t{grid.part_x}, grid.mask_x - part_x));
            __syncthreads();
            fill_tile<Shape>(tile, image, task, x0 - task.lead_x + part_x, y0 - task.lead_y + part_y,
                             Shape::width + kx - 1, Shape::height + ky - 1, pitch);
            for (int k = thread; k < kx * ky; k += Shape::threads) {
                const std::int64_t at = (part_y + k / kx) * grid.mask_x + part_x + k % kx;
                mask[k / kx * mask_pitch + k % kx] = values[at];
            }
            __syncthreads();
            for (int t0 = 0; t0 < kx; t0 += Shape::taps) {
                const int taps = min(Shape::taps, kx - t0);
                A held[Shape::rows][Shape::taps];
                for (int y = 0; y < ky + Shape::rows - 1; y += Shape::rows) {
                    if (taps == Shape::taps && y >= Shape::rows - 1 && y + Shape::rows <= ky) {
                        add_rows<Shape, true>(sum, held, tile + line * pitch, pitch, mask, mask_pitch, y, ky,
                                              column + t0, t0, taps);
                    } else {
                        add_rows<Shape, false>(sum, held, tile + line * pitch, pitch, mask, mask_pitch, y, ky,
                                               column + t0, t0, taps);
                    }
                }
            }
        }
    }

    O* const out = task.out + number * task.out_distance;
#pragma unroll
    for (int r = 0; r < Shape::rows; ++r) {
#pragma unroll
        for (int c = 0; c < Shape::cols; c += 4) {
            const std::int64_t x = x0 + column + c;
            if (y0 + line + r < task.out_height && x < task.out_width) {
                const A sums[4] = {sum[r][c], sum[r][c + 1], sum[r][c + 2], sum[r][c + 3]};
                store_four(out + (y0 + line + r) * task.out_pitch + x, sums, 0, task.out_width - x, grid.aligned);
            }
        }
    }
}

} // namespace warpfold::detail
