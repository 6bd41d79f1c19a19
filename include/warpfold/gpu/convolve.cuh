// SPDX-License-Identifier: MIT
// Which kernel does a convolution on a GPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "warpfold/gpu/convolve_slide.cuh"
#include "warpfold/gpu/convolve_tile.cuh"
#include "warpfold/gpu/target.hpp"

namespace warpfold::detail {

// Tiles for images, and for single rows. A tile and a part of a mask together stay below the 48 KB of shared memory that
// every device has.
#ifndef TRY_TILE
#define TRY_TILE 8, 4, 4, 32, 4, 32, 32
#endif
#ifndef TRY_RUNS
#define TRY_RUNS 3, 5, 7, 9
#endif
#ifndef TRY_SQUARES
#define TRY_SQUARES 3, 5, 7, 9, 15
#endif
template <class A>
using image_tile = std::conditional_t<sizeof(A) == 4, tile_shape<A, TRY_TILE>,
                                      tile_shape<A, 4, 4, 4, 32, 4, 16, 16>>;
template <class A>
using line_tile = std::conditional_t<sizeof(A) == 4,
                                     tile_shape<A, 1, convolve_tuning.line_columns, convolve_tuning.line_taps,
                                                convolve_tuning.line_threads, 1, 2048, 1>,
                                     tile_shape<A, 1, 8, 8, 128, 1, 1024, 1>>;

// Sizes of masks that kernels are compiled for; all others go through tiles.
using run_sizes = std::integer_sequence<int, TRY_RUNS>;
using square_sizes = std::integer_sequence<int, TRY_SQUARES>;
using separable_sizes = std::integer_sequence<int, 3, 5, 7, 9, 11, 15, 31>;

template <class Call, int... K>
bool with_size(std::integer_sequence<int, K...>, std::int64_t k, const Call& call) {
    return ((k == K && (call(std::integral_constant<int, K>{}), true)) || ...);
}

template <class T>
constexpr std::size_t four_alignment = alignof(four<T>);

// How many results in front of the first one a thread's first group of four begins, so that samples are read aligned.
template <class T, class O>
int slide_shift(const convolve_task<T, O>& task, int k) {
    const auto beyond = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(task.in) / sizeof(T) % 4);
    return static_cast<int>(((beyond - task.lead_x + k / 2) % 4 + 4) % 4);
}

template <class T, class O>
bool aligned_results(const convolve_task<T, O>& task, int shift) {
    const auto address = reinterpret_cast<std::uintptr_t>(task.out) - shift * sizeof(O);
    const auto fits = [](std::int64_t n) { return n * static_cast<std::int64_t>(sizeof(O)) % four_alignment<O> == 0; };
    return address % four_alignment<O> == 0 && (task.out_height == 1 || fits(task.out_pitch)) &&
           (task.count == 1 || fits(task.out_distance));
}

// Whether rows and images are apart such that all are aligned as the first one is.
template <class T, class O>
bool regular_samples(const convolve_task<T, O>& task) {
    return (task.height == 1 || task.pitch % 4 == 0) && (task.count == 1 || task.distance % 4 == 0);
}

inline unsigned checked_blocks(std::int64_t blocks, const char* call) {
    if (blocks > 0x7fffffff) {
        throw invalid_argument(std::string("warpfold: ") + call + ": more results than one launch has blocks for");
    }
    return static_cast<unsigned>(blocks);
}

template <class A, class T, class O, int K>
void launch_run(const gpu& on, const convolve_task<T, O>& task, const A* mask, const char* call) {
    mask_parameter<A, K> values;
    std::copy(mask, mask + K, values.value);
    const int shift = slide_shift(task, K);
    const std::int64_t each = 4 * convolve_tuning.run_threads * convolve_tuning.run_vectors;
    const unsigned blocks = checked_blocks((task.out_width + shift + each - 1) / each, call);
    convolve_run<T, O, A, K><<<blocks, convolve_tuning.run_threads, 0, on.stream>>>(task, values, shift,
                                                                                  aligned_results(task, shift));
    WARPFOLD_CHECK_CUDA(cudaGetLastError());
}

// Strips so long that the blocks are as many as the device holds at once.
template <class A, class T, class O, int K, bool Separable>
void launch_slide(const gpu& on, const convolve_task<T, O>& task, const A* mask) {
    mask_parameter<A, Separable ? 2 * K : K * K> values;
    std::copy(mask, mask + sizeof(values) / sizeof(A), values.value);
    const auto kernel = convolve_slide<T, O, A, K, K, Separable>;
    static const int resident = [&] {
        int blocks = 0;
        WARPFOLD_CHECK_CUDA(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, convolve_tuning.slide_threads, 0));
        return std::max(blocks, 1);
    }();
    slide_shape shape;
    shape.shift = slide_shift(task, K);
    shape.aligned = aligned_results(task, shape.shift);
    const std::int64_t groups = (task.out_width + shape.shift + 3) / 4;
    const auto threads =
        static_cast<unsigned>(std::min<std::int64_t>((groups + 31) / 32 * 32, convolve_tuning.slide_threads));
    const std::int64_t across = (groups + threads - 1) / threads;
    const std::int64_t wanted = std::int64_t{device_attribute(cudaDevAttrMultiProcessorCount)} * resident *
                                convolve_tuning.slide_waves * (convolve_tuning.slide_threads / threads);
    const std::int64_t strips = std::clamp<std::int64_t>(wanted / (across * task.count), 1, 65535);
    const std::int64_t shortest = std::max<std::int64_t>({4, K - 1, (task.out_height + 65534) / 65535});
    shape.rows = static_cast<int>(std::max((task.out_height + strips - 1) / strips, shortest));
    const dim3 grid(static_cast<unsigned>(across),
                    static_cast<unsigned>((task.out_height + shape.rows - 1) / shape.rows),
                    static_cast<unsigned>(std::min<std::int64_t>(task.count, 65535)));
    kernel<<<grid, threads, 0, on.stream>>>(task, values, shape);
    WARPFOLD_CHECK_CUDA(cudaGetLastError());
}

// `values`: the mask in the device's memory, nullptr where it fits a kernel's parameters.
template <class Shape, class A, class T, class O>
void launch_tile(const gpu& on, const convolve_task<T, O>& task, const A* mask, const A* values, std::int64_t kx,
                 std::int64_t ky, const char* call) {
    mask_parameter<A, parameter_mask_v<A>> parameter;
    if (values == nullptr) {
        std::copy(mask, mask + kx * ky, parameter.value);
    }
    const auto part = [](std::int64_t k, std::int64_t most) {
        const std::int64_t parts = (k + most - 1) / most;
        return static_cast<int>((k + parts - 1) / parts);
    };
    tile_grid grid;
    grid.part_x = part(kx, Shape::most_x);
    grid.part_y = part(ky, Shape::most_y);
    grid.mask_x = kx;
    grid.mask_y = ky;
    grid.aligned = aligned_results(task, 0);
    const std::int64_t tiles_x = (task.out_width + Shape::width - 1) / Shape::width;
    const std::int64_t tiles_y = (task.out_height + Shape::height - 1) / Shape::height;
    const unsigned rows = checked_blocks(tiles_y, call);
    const unsigned blocks = checked_blocks(checked_blocks(tiles_x * rows, call) * task.count, call);
    grid.tiles_x = static_cast<unsigned>(tiles_x);
    grid.tiles_y = rows;
    static_assert(Shape::bytes(Shape::most_x, Shape::most_y) <= 48 * 1024);
    convolve_tile<Shape, T, O, A><<<blocks, Shape::threads, Shape::bytes(grid.part_x, grid.part_y), on.stream>>>(
        task, grid, values, parameter);
    WARPFOLD_CHECK_CUDA(cudaGetLastError());
}

template <class A>
void put_mask(const gpu& on, A* to, const A* mask, std::int64_t n) {
    constexpr std::int64_t most = parameter_mask_v<A>;
    for (std::int64_t k = 0; k < n; k += most) {
        const int part = static_cast<int>(std::min(most, n - k));
        mask_parameter<A, parameter_mask_v<A>> values;
        std::copy(mask + k, mask + k + part, values.value);
        convolve_put<<<1, 256, 0, on.stream>>>(to + k, part, values);
        WARPFOLD_CHECK_CUDA(cudaGetLastError());
    }
}

// Bytes that a mask takes of a call's memory.
template <class A>
std::size_t mask_bytes(std::int64_t n) {
    return n <= parameter_mask_v<A> ? 0 : (static_cast<std::size_t>(n) * sizeof(A) + 255) / 256 * 256;
}

template <class T, class O>
bool may_slide(const convolve_task<T, O>& task, std::int64_t k) {
    constexpr std::int64_t most = std::int64_t{1} << 30;
    return task.width < most && task.height < most && task.out_width < most && task.out_height < most && k <= task.width &&
           k <= task.height && regular_samples(task);
}

template <>
struct convolve_engine<gpu> {
    template <class A, class T, class O>
    static void direct(const gpu& on, const convolve_task<T, O>& task, const A* mask, std::int64_t kx, std::int64_t ky,
                       const char* call) {
        const bool line = ky == 1 && task.height == 1 && task.count == 1;
        if (line && with_size(run_sizes{}, kx, [&](auto k) { launch_run<A, T, O, k>(on, task, mask, call); })) {
            return;
        }
        if (kx == ky && may_slide(task, kx) &&
            with_size(square_sizes{}, kx, [&](auto k) { launch_slide<A, T, O, k, false>(on, task, mask); })) {
            return;
        }
        const call_memory memory(on, 0, mask_bytes<A>(kx * ky), call);
        A* const values = static_cast<A*>(memory.data());
        if (values != nullptr) {
            put_mask(on, values, mask, kx * ky);
        }
        if (line) {
            launch_tile<line_tile<A>>(on, task, mask, values, kx, ky, call);
        } else {
            launch_tile<image_tile<A>>(on, task, mask, values, kx, ky, call);
        }
    }

    template <class A, class T, class O>
    static void separable(const gpu& on, const convolve_task<T, O>& task, const A* across, std::int64_t kx, const A* down,
                          std::int64_t ky, const char* call) {
        if (kx == ky && may_slide(task, kx) && with_size(separable_sizes{}, kx, [&](auto k) {
                A both[2 * k];
                std::copy(across, across + k, both);
                std::copy(down, down + k, both + k);
                launch_slide<A, T, O, k, true>(on, task, both);
            })) {
            return;
        }
        // Rows first, into the call's memory, and then columns.
        const std::size_t sums = static_cast<std::size_t>(task.out_width) * static_cast<std::size_t>(task.height) *
                                 static_cast<std::size_t>(task.count) * sizeof(A);
        const call_memory memory(on, 0, mask_bytes<A>(kx) + mask_bytes<A>(ky) + sums, call);
        unsigned char* at = static_cast<unsigned char*>(memory.data());
        const auto take = [&](const A* mask, std::int64_t k) -> const A* {
            if (mask_bytes<A>(k) == 0) {
                return nullptr;
            }
            A* const to = reinterpret_cast<A*>(at);
            at += mask_bytes<A>(k);
            put_mask(on, to, mask, k);
            return to;
        };
        const A* const x = take(across, kx);
        const A* const y = take(down, ky);
        A* const rows = reinterpret_cast<A*>(at);
        convolve_task<T, A> first{task.in, rows, task.width, task.height, task.pitch, task.distance, task.out_width,
                                  task.height, task.out_width, task.out_width * task.height, task.count, task.lead_x, 0,
                                  task.outside};
        convolve_task<A, O> second{rows, task.out, task.out_width, task.height, task.out_width,
                                   task.out_width * task.height, task.out_width, task.out_height, task.out_pitch,
                                   task.out_distance, task.count, 0, task.lead_y, task.outside};
        launch_tile<image_tile<A>>(on, first, across, x, kx, 1, call);
        launch_tile<image_tile<A>>(on, second, down, y, 1, ky, call);
    }
};

} // namespace warpfold::detail
