// SPDX-License-Identifier: MIT
// Small images, with a tile or two per multiprocessor. A block copies all its samples at once, and a thread computes
// one result: latency counts, not throughput.
#pragma once

#include "warpfold/gpu/convolve/mask.cuh"

namespace warpfold::detail {

struct few_shape {
    static constexpr int width = 32, height = 8, threads = width * height; // of results
    static constexpr int most_values = 256, most_side = 33;                // of a mask

    int kx, ky;
    unsigned tiles_x, tiles_y;

    static constexpr int values_of(int k) { return k == 0 ? most_values : k * k; }
    [[nodiscard]] WARPFOLD_HD int mask_values(bool separable) const { return separable ? kx + ky : kx * ky; }
    // Of samples, and of sums of rows.
    [[nodiscard]] WARPFOLD_HD int tile_values(bool separable) const {
        return (width + kx - 1 + (separable ? width : 0)) * (height + ky - 1);
    }
    template <class A, class Mask>
    [[nodiscard]] std::size_t bytes(bool separable) const {
        return sizeof(A) *
               static_cast<std::size_t>(tile_values(separable) + (Mask::in_memory ? mask_values(separable) : 0));
    }
};

// Masks of K by K values; K == 0: any size.
template <class Task, class A, class Mask, bool Separable, int K>
__global__ void __launch_bounds__(few_shape::threads)
    convolve_few(const __grid_constant__ Task given, const __grid_constant__ Mask given_mask, const few_shape shape) {
    using T = typename Task::sample;
    using O = typename Task::result;
    const typename Task::sized task(given);
    if (Task::counted && !has_results(task)) {
        return;
    }
    extern __shared__ uint4 shared_memory[];
    const int kx = K == 0 ? shape.kx : K, ky = K == 0 ? shape.ky : K;
    const int columns = few_shape::width + kx - 1, rows = few_shape::height + ky - 1;
    A* const tile = reinterpret_cast<A*>(shared_memory);
    const int tx = static_cast<int>(threadIdx.x) % few_shape::width,
              ty = static_cast<int>(threadIdx.x) / few_shape::width;
    const unsigned of_image = blockIdx.x / shape.tiles_x, number = of_image / shape.tiles_y;
    const int x0 = static_cast<int>(blockIdx.x % shape.tiles_x) * few_shape::width;
    const int y0 = static_cast<int>(of_image % shape.tiles_y) * few_shape::height;
    const int left = x0 - static_cast<int>(task.lead_x), top = y0 - static_cast<int>(task.lead_y);
    const int width = static_cast<int>(task.width), height = static_cast<int>(task.height);

    const auto& mask = in_shared_memory(given_mask, tile + shape.tile_values(Separable), shape.mask_values(Separable));
    const T* const image = task.in + number * task.distance;
#pragma unroll 4
    for (int r = ty; r < rows; r += few_shape::height) {
        const int y = source_index(top + r, height, task.outside);
        const T* const row = image + y * task.pitch;
#pragma unroll 2
        for (int c = tx; c < columns; c += few_shape::width) {
            const int x = y < 0 ? -1 : source_index(left + c, width, task.outside);
            A* const to = tile + r * columns + c;
            if (x < 0) {
                *to = A(0);
            } else if constexpr (std::is_same_v<T, A>) {
                copy_async<sizeof(A)>(to, row + x);
            } else {
                *to = number_of<A>(load_one(row + x));
            }
        }
    }
    commit_copies();
    wait_copies<0>();
    __syncthreads();

    A sum = A(0);
    if constexpr (Separable) {
        A* const across = tile + rows * columns;
        for (int r = ty; r < rows; r += few_shape::height) {
            const A* const from = tile + r * columns + tx;
            A part = A(0);
#pragma unroll 8
            for (int i = 0; i < kx; ++i) {
                part = fused(mask.value[i], from[i], part);
            }
            across[r * few_shape::width + tx] = part;
        }
        __syncthreads();
        const A* const from = across + ty * few_shape::width + tx;
#pragma unroll 8
        for (int j = 0; j < ky; ++j) {
            sum = fused(mask.value[kx + j], from[j * few_shape::width], sum);
        }
    } else {
        const A* const from = tile + ty * columns + tx;
        if constexpr (K != 0) {
#pragma unroll
            for (int j = 0; j < K; ++j) {
#pragma unroll
                for (int i = 0; i < K; ++i) {
                    sum = fused(mask.value[j * K + i], from[j * columns + i], sum);
                }
            }
        } else {
            for (int j = 0; j < ky; ++j) {
#pragma unroll 4
                for (int i = 0; i < kx; ++i) {
                    sum = fused(mask.value[j * kx + i], from[j * columns + i], sum);
                }
            }
        }
    }
    if (x0 + tx < task.out_width && y0 + ty < task.out_height) {
        task.out[number * task.out_distance + (y0 + ty) * task.out_pitch + x0 + tx] = sample_of<O>(sum);
        if constexpr (!Separable) {
            leave_out_ghosts(task, given_mask, kx, ky, number, x0 + tx, y0 + ty, 1);
        }
    }
}

} // namespace warpfold::detail
