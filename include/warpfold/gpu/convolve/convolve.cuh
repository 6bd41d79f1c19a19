// SPDX-License-Identifier: MIT
// Convolution on a GPU: which kernel computes a call.
//
//  kernel                             chosen when                                                 file
//  convolve_run, convolve_run_small   one row, masks of 3, 5, 7, 9, 17 values                     sliding_window.cuh
//  convolve_few                       few results, masks of up to 256 values                      small_image.cuh
//  convolve_slide                     square and separable masks of the sizes below               sliding_window.cuh
//  convolve_line                      one row, other masks                                        line.cuh
//  convolve_tile                      everything else; other separable masks in two passes        tile.cuh
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "warpfold/detail/engines.hpp"
#include "warpfold/gpu/convolve/sliding_window.cuh"
#include "warpfold/gpu/convolve/small_image.cuh"
#include "warpfold/gpu/convolve/tile.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/target.hpp"

namespace warpfold::detail {

// Tiles for images and for single rows. A tile and a part of a mask fit in the 48 KB of shared memory that every device
// has.
template <class A>
using image_tile =
    std::conditional_t<sizeof(A) == 4, tile_shape<A, 4, 8, 4, 32, 4, 24, 24>, tile_shape<A, 4, 4, 4, 32, 4, 16, 16>>;
template <class Kernels, class A, int Run>
using lines = line_shape<A, Kernels::value.long_line_block_threads, Run>;

// Mask sizes with kernels of their own; all others use tiles.
using run_sizes = std::integer_sequence<int, 3, 5, 7, 9, 17>;
using square_sizes = std::integer_sequence<int, 3, 5, 7, 9, 11, 13, 15>;
using wide_sizes = std::integer_sequence<int, 21, 31>;
using few_sizes = std::integer_sequence<int, 3, 5, 7>;
using separable_sizes = std::integer_sequence<int, 3, 5, 7, 9, 11, 13, 15, 17, 21, 25, 31>;

template <class Call, int... K>
bool with_size(std::integer_sequence<int, K...>, std::int64_t k, const Call& call) {
    return ((k == K && (call(std::integral_constant<int, K>{}), true)) || ...);
}

// The number of columns before the first result where a thread's first group begins, so that samples are aligned.
template <int Cols = 4, class T, class O>
int slide_shift(const convolve_task<T, O>& task, int k) {
    const auto beyond = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(task.in) / sizeof(T) % Cols);
    return static_cast<int>(((beyond - task.lead_x + k / 2) % Cols + Cols) % Cols);
}

template <int Cols, class T, class O>
result_alignment alignment_of_results(const convolve_task<T, O>& task, int shift) {
    const auto fit = [&](std::size_t bytes) {
        const auto fits = [&](std::int64_t n) { return static_cast<std::size_t>(n) * sizeof(O) % bytes == 0; };
        return (reinterpret_cast<std::uintptr_t>(task.out) - static_cast<unsigned>(shift) * sizeof(O)) % bytes == 0 &&
               (task.out_height == 1 || fits(task.out_pitch)) && (task.count == 1 || fits(task.out_distance));
    };
    return fit(alignof(group_of<O, Cols>)) ? result_alignment::in_groups
           : fit(alignof(four<O>))         ? result_alignment::in_fours
                                           : result_alignment::anyhow;
}
template <class T, class O>
bool aligned_results(const convolve_task<T, O>& task, int shift) {
    return alignment_of_results<4>(task, shift) != result_alignment::anyhow;
}

// Results per thread: more for small samples, which share work.
template <class T, class O, class A>
inline constexpr int run_results = sizeof(A) == 4 && sizeof(T) <= 2
                                       ? static_cast<int>(16 / std::max(sizeof(T), sizeof(O)))
                                       : 4;
template <class Kernels, class T, class A, int K, sliding How>
inline constexpr int slide_columns = sizeof(A) == 4 && sizeof(T) <= 2 &&
                                             How != sliding::part&& K <=
                                                        (How == sliding::separable
                                                             ? Kernels::value.slide_eight_columns_max_separable_width
                                                             : Kernels::value.slide_eight_columns_max_width)
                                         ? 8
                                         : 4;

// True if rows and images are aligned like the first one.
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

template <class A, int K, class Policy, class Task, class Mask>
void launch_run(const gpu& on, const Policy&, const Task& task, const Mask& mask, const char* call) {
    using T = typename Task::sample;
    using O = typename Task::result;
    using kernels = kernels_of<Policy>;
    const auto values = for_kernel<K>(mask);
    using kernel_mask = std::remove_const_t<decltype(values)>;
    if constexpr (run_results<T, O, A> != 4) {
        constexpr int per = run_results<T, O, A>;
        const int begin = slide_shift<per>(task, K);
        const std::int64_t all = per * kernels::value.line_block_threads;
        convolve_run_small<kernels, Task, A, kernel_mask, K, per>
            <<<checked_blocks((task.out_width + begin + all - 1) / all, call), kernels::value.line_block_threads, 0,
               on.stream>>>(task, values, begin, alignment_of_results<per>(task, begin));
    } else {
        const int shift = slide_shift(task, K);
        const std::int64_t each = 4 * kernels::value.line_block_threads * kernels::value.line_groups_per_thread;
        const unsigned blocks = checked_blocks((task.out_width + shift + each - 1) / each, call);
        convolve_run<kernels, Task, A, kernel_mask, K><<<blocks, kernels::value.line_block_threads, 0, on.stream>>>(
            task, values, shift, aligned_results(task, shift));
    }
    WARPFOLD_CHECK_CUDA(cudaGetLastError());
}

// The most rows of results of a strip. Smaller samples mean less memory and more arithmetic per byte.
template <class Policy>
constexpr std::int64_t most_rows(const Policy& policy, int k, sliding how, std::size_t bytes_of_sample) {
    if (k <= 3 && bytes_of_sample >= 4) {
        return policy.slide_strip_max_rows_3_wide;
    }
    if (k <= 5 && bytes_of_sample >= 4) {
        return policy.slide_strip_max_rows_5_wide;
    }
    return k <= (how == sliding::separable ? 9 : 7) ? policy.slide_strip_max_rows_7_wide : std::int64_t{1} << 30;
}

// Strips as long as fill the device once. If memory limits the call they are shorter, so that all blocks together move
// through the image from top to bottom.
template <class A, int KX, int KY, sliding How, class Policy, class Task, class Mask>
void launch_slide(const gpu& on, const Policy& policy, const Task& task, const Mask& mask, int mask_rows = KY,
                  bool adds = false) {
    using T = typename Task::sample;
    constexpr bool is_separable = How == sliding::separable;
    constexpr int most = is_separable ? KX + KY : KX * KY;
    const auto values = for_kernel<most>(mask, is_separable ? most : KX * mask_rows);
    using kernels = kernels_of<Policy>;
    constexpr int cols = slide_columns<kernels, T, A, KX, How>;
    constexpr auto kernel = &convolve_slide<kernels, Task, A, std::remove_const_t<decltype(values)>, KX, KY, How, cols>;
    slide_shape shape;
    shape.mask_rows = mask_rows;
    shape.adds = adds;
    shape.shift = slide_shift<cols>(task, KX);
    shape.how = alignment_of_results<cols>(task, shape.shift);
    shape.halves = (task.height != 1 && task.pitch % cols != 0) || (task.count != 1 && task.distance % cols != 0);
    const std::int64_t groups = (task.out_width + shape.shift + cols - 1) / cols;
    const auto threads =
        static_cast<unsigned>(std::min<std::int64_t>((groups + 31) / 32 * 32, kernels::value.slide_block_threads));
    const std::int64_t across = (groups + threads - 1) / threads;
    const kernel_properties facts = properties_of<kernel>({static_cast<unsigned>(kernels::value.slide_block_threads)});
    const std::int64_t wanted =
        std::int64_t{facts.resident_blocks} * policy.slide_waves * (kernels::value.slide_block_threads / threads);
    const std::int64_t strips = std::clamp<std::int64_t>(wanted / (across * task.count), 1, 65535);
    std::int64_t rows = std::max<std::int64_t>((task.out_height + strips - 1) / strips, policy.slide_strip_min_rows);
    rows = std::min<std::int64_t>(rows, most_rows(policy, KX, How, sizeof(T)));
    shape.rows = static_cast<int>(std::max(rows, (task.out_height + 65534) / 65535));
    const dim3 grid(static_cast<unsigned>(across),
                    static_cast<unsigned>((task.out_height + shape.rows - 1) / shape.rows),
                    static_cast<unsigned>(std::min<std::int64_t>(task.count, 65535)));
    kernel<<<grid, threads, 0, on.stream>>>(task, values, shape);
    WARPFOLD_CHECK_CUDA(cudaGetLastError());
}

// A mask of many rows in parts of up to eight rows, one launch each.
template <class A, int K, class Policy, class Task, class Mask>
void launch_parts(const gpu& on, const Policy& policy, const Task& task, const Mask& mask, std::int64_t ky) {
    const std::int64_t parts = (ky + 7) / 8, each = (ky + parts - 1) / parts;
    for (std::int64_t j = 0; j < ky; j += each) {
        Task part = task;
        part.lead_y -= j;
        launch_slide<A, K, 8, sliding::part>(on, policy, part, mask + j * K, static_cast<int>(std::min(each, ky - j)),
                                             j != 0);
    }
}

// True if convolve_few can compute the task. `values` counts mask values; the mask is kx wide and ky high.
template <class T, class O, class Policy>
bool few_results(const Policy& policy, const convolve_task<T, O>& task, std::int64_t values, std::int64_t kx,
                 std::int64_t ky) {
    const std::int64_t most = policy.few_max_results;
    return task.width < (1 << 30) && task.height < (1 << 30) && task.out_width <= most &&
           task.out_height <= most / task.out_width && task.count <= most / (task.out_width * task.out_height) &&
           values <= few_shape::most_values && kx <= few_shape::most_side && ky <= few_shape::most_side &&
           task.out_height > 1;
}

template <bool Separable, int K, class A, class Task, class Mask>
void launch_few(const gpu& on, const Task& task, const Mask& mask, std::int64_t kx, std::int64_t ky) {
    const auto values = for_kernel<few_shape::values_of(K)>(mask, Separable ? kx + ky : kx * ky);
    using kernel_mask = std::remove_const_t<decltype(values)>;
    const auto tiles = [](std::int64_t results, int each) {
        return static_cast<unsigned>((results + each - 1) / each);
    };
    const few_shape shape{static_cast<int>(kx), static_cast<int>(ky), tiles(task.out_width, few_shape::width),
                          tiles(task.out_height, few_shape::height)};
    const unsigned blocks = shape.tiles_x * shape.tiles_y * static_cast<unsigned>(task.count);
    convolve_few<Task, A, kernel_mask, Separable, K>
        <<<blocks, few_shape::threads, shape.bytes<A, kernel_mask>(Separable), on.stream>>>(task, values, shape);
    WARPFOLD_CHECK_CUDA(cudaGetLastError());
}

template <class Shape, class A, class Task, class Mask>
void launch_tile(const gpu& on, const Task& task, const Mask& mask, std::int64_t kx, std::int64_t ky,
                 const char* call) {
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
    convolve_tile<Shape, Task, A, Mask>
        <<<blocks, Shape::threads, Shape::bytes(grid.part_x, grid.part_y), on.stream>>>(task, grid, mask);
    WARPFOLD_CHECK_CUDA(cudaGetLastError());
}

template <int Run, class A, class Task, class Policy, class Mask>
void launch_line(const gpu& on, const Policy&, const Task& task, const Mask& mask, std::int64_t k) {
    using shape = lines<kernels_of<Policy>, A, Run>;
    constexpr auto kernel = &convolve_line<shape, Task, A, Mask>;
    line_plan plan;
    plan.skipped = slide_shift(task, 0);
    plan.length = k + plan.skipped;
    plan.tiles = (task.out_width + shape::results - 1) / shape::results;
    plan.aligned = aligned_results(task, 0);
    const std::int64_t parts = (plan.length + shape::most - 1) / shape::most;
    plan.part = static_cast<int>(((plan.length + parts - 1) / parts + 3) / 4 * 4);
    static_assert(shape::bytes(shape::most) <= 48 * 1024,
                  "convolve_kernels: long_line_block_threads take more than 48 KiB of shared memory");
    const std::int64_t fitting =
        properties_of<kernel>({static_cast<unsigned>(shape::threads), shape::bytes(64)}).resident_blocks;
    kernel<<<static_cast<unsigned>(std::min(plan.tiles, fitting)), shape::threads, shape::bytes(plan.part),
             on.stream>>>(task, plan, mask);
    WARPFOLD_CHECK_CUDA(cudaGetLastError());
}

// After kernels that leave that to it; see leave_out_ghosts().
template <class Task, class Mask>
void launch_without_ghosts(const gpu& on, const Task& task, const Mask& mask, std::int64_t kx, std::int64_t ky) {
    if constexpr (!std::is_pointer_v<Mask>) {
        if (task.outside == border::zero) {
            const auto blocks = static_cast<unsigned>(device_attribute<cudaDevAttrMultiProcessorCount>());
            convolve_without_ghosts<<<blocks, 256, 0, on.stream>>>(task, mask, kx, ky);
            WARPFOLD_CHECK_CUDA(cudaGetLastError());
        }
    }
}

template <class T, class O>
bool may_slide(const convolve_task<T, O>& task, std::int64_t k) {
    constexpr std::int64_t most = std::int64_t{1} << 30;
    return task.width < most && task.height < most && task.out_width < most && task.out_height < most &&
           k <= task.width && k <= task.height && regular_samples(task);
}

// The passes of a separable mask: rows of sums at `rows`, in the call's memory; then their columns.
template <class T, class O, class A>
convolve_task<T, A> rows_of_separable(const convolve_task<T, O>& task, A* rows) {
    return {task.in,       rows,           task.width,  task.height,    task.pitch,
            task.distance, task.out_width, task.height, task.out_width, task.out_width * task.height,
            task.count,    task.lead_x,    0,           task.outside};
}
template <class T, class O, class A>
convolve_task<A, O> columns_of_separable(const convolve_task<T, O>& task, A* rows) {
    return {rows,           task.out,
            task.out_width, task.height,
            task.out_width, task.out_width * task.height,
            task.out_width, task.out_height,
            task.out_pitch, task.out_distance,
            task.count,     0,
            task.lead_y,    task.outside};
}
template <class T, class O, class I, class A>
counted_task<T, A, I, false> rows_of_separable(const counted_task<T, O, I, false>& task, A* rows) {
    return {detail::rows_of_separable(static_cast<const convolve_task<T, O>&>(task), rows), task.number, 0};
}
template <class T, class O, class I, class A>
counted_task<A, O, I, false> columns_of_separable(const counted_task<T, O, I, false>& task, A* rows) {
    return {detail::columns_of_separable(static_cast<const convolve_task<T, O>&>(task), rows), task.number, task.more};
}

template <gpu_target On>
struct convolve_engine<On> {
    // `mask`: values in host memory, or a mask_in_memory.
    template <class A, class Task, class Mask>
    static void direct(const On& on, const Task& task, const Mask& mask, std::int64_t kx, std::int64_t ky,
                       const char* call) {
        const call_device scope;
        const auto policy = policy_of<tuning::convolve_policy<>>(on);
        const bool line = ky == 1 && task.height == 1 && task.count == 1;
        if (line && with_size(run_sizes{}, kx, [&](auto k) { launch_run<A, k>(on, policy, task, mask, call); })) {
            return;
        }
        if (few_results(policy, task, kx * ky, kx, ky)) {
            if constexpr (std::is_pointer_v<Mask>) {
                if (kx == ky &&
                    with_size(few_sizes{}, kx, [&](auto k) { launch_few<false, k, A>(on, task, mask, k, k); })) {
                    return;
                }
            }
            return launch_few<false, 0, A>(on, task, mask, kx, ky);
        }
        if (kx == ky && may_slide(task, kx) && with_size(square_sizes{}, kx, [&](auto k) {
                launch_slide<A, k, k, sliding::whole>(on, policy, task, mask);
            })) {
            return launch_without_ghosts(on, task, mask, kx, ky);
        }
        if constexpr (std::is_same_v<typename Task::result, A>) {
            if (ky > 7 && may_slide(task, std::max(kx, ky)) &&
                with_size(wide_sizes{}, kx, [&](auto k) { launch_parts<A, k>(on, policy, task, mask, ky); })) {
                return launch_without_ghosts(on, task, mask, kx, ky);
            }
        }
        const call_memory memory(on, 0, room_of(mask, kx * ky), call);
        const auto& values = placed(on, mask, kx * ky, memory.data());
        if (!line) {
            launch_tile<image_tile<A>, A>(on, task, values, kx, ky, call);
            launch_without_ghosts(on, task, mask, kx, ky);
        } else if (sizeof(A) == 8 || kx <= policy.long_line_eight_results_max_mask) {
            launch_line<8, A>(on, policy, task, values, kx);
        } else if constexpr (sizeof(A) == 4) {
            launch_line<16, A>(on, policy, task, values, kx);
        }
    }

    template <class A, class Task, class Mask>
    static void separable(const On& on, const Task& task, const Mask& across, std::int64_t kx, const Mask& down,
                          std::int64_t ky, const char* call) {
        const call_device scope;
        const auto policy = policy_of<tuning::convolve_policy<>>(on);
        const bool is_few = few_results(policy, task, kx + ky, kx, ky);
        if constexpr (!std::is_pointer_v<Mask>) {
            if (is_few) {
                return launch_few<true, 0, A>(on, task, masks_in_memory{across, down, static_cast<int>(kx)}, kx, ky);
            }
        } else {
            const auto both = [&](A* to) -> const A* {
                std::copy(down, down + ky, std::copy(across, across + kx, to));
                return to;
            };
            A values[few_shape::most_values];
            if (is_few) {
                return launch_few<true, 0, A>(on, task, both(values), kx, ky);
            }
            if (kx == ky && may_slide(task, kx) && with_size(separable_sizes{}, kx, [&](auto k) {
                    launch_slide<A, k, k, sliding::separable>(on, policy, task, both(values));
                })) {
                return;
            }
        }
        // Rows first, into the call's memory; then columns.
        const std::size_t sums = static_cast<std::size_t>(task.out_width) * static_cast<std::size_t>(task.height) *
                                 static_cast<std::size_t>(task.count) * sizeof(A);
        const std::size_t room_x = room_of(across, kx), room_y = room_of(down, ky);
        const call_memory memory(on, 0, room_x + room_y + sums, call);
        auto* const room = static_cast<unsigned char*>(memory.data());
        const auto& x = placed(on, across, kx, room);
        const auto& y = placed(on, down, ky, room + room_x);
        A* const rows = reinterpret_cast<A*>(room + room_x + room_y);
        const auto first = rows_of_separable(task, rows);
        const auto second = columns_of_separable(task, rows);
        launch_tile<image_tile<A>, A>(on, first, x, kx, 1, call);
        launch_tile<image_tile<A>, A>(on, second, y, 1, ky, call);
    }
};

} // namespace warpfold::detail
