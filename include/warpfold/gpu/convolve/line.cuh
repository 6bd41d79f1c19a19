// SPDX-License-Identifier: MIT
// Masks of any length along one dimension. A thread computes `run` consecutive results. At a time it holds 2 * run
// samples and run mask values in registers.
#pragma once

#include "warpfold/gpu/convolve/mask.cuh"

namespace warpfold::detail {

template <class A, int Threads, int Run>
struct line_shape {
    static constexpr int threads = Threads, run = Run, results = Threads * Run;
    static constexpr int most = 4096 / static_cast<int>(sizeof(A)); // mask values per tile of samples
    static constexpr int per = 16 / static_cast<int>(sizeof(A));
    static constexpr int pitch = run + per; // of the runs of neighbouring threads: they begin in different banks
    static_assert(run / per % 2 == 0);

    WARPFOLD_HD static constexpr int runs_of(int values) { return (values + run - 1) / run; }
    WARPFOLD_HD static constexpr int tile_of(int values) { return (threads + 1 + runs_of(values)) * pitch; }
    static constexpr std::size_t bytes(int values) {
        return 2 * std::size_t(tile_of(values) + runs_of(values) * run) * sizeof(A);
    }

    template <int N>
    static __device__ void fetch(A (&into)[N], const A* from) {
#pragma unroll
        for (int k = 0; k < N; k += per) {
            const uint4 loaded = *reinterpret_cast<const uint4*>(from + k);
            std::memcpy(&into[k], &loaded, 16);
        }
    }
    // The position of a group of four samples, which lies in one run.
    static __device__ int place(int group) { return 4 * group + 4 * group / run * per; }
    static __device__ void put_four(A* to, const A (&values)[4]) {
#pragma unroll
        for (int k = 0; k < 4; k += per) {
            uint4 stored;
            std::memcpy(&stored, &values[k], 16);
            *reinterpret_cast<uint4*>(to + k) = stored;
        }
    }
};

// sum[c] += mask[t] * sample[c + t] for the mask values [from, to), of which this run has those from `first` on.
template <class Shape, class A>
__device__ void add_run(A (&sum)[Shape::run], const A (&near)[Shape::run], const A (&far)[Shape::run], const A* mask,
                        int first, int from, int to) {
    constexpr int run = Shape::run;
    A value[run];
    Shape::fetch(value, mask + first);
    if (first >= from && first + run <= to) {
#pragma unroll
        for (int t = 0; t < run; ++t) {
#pragma unroll
            for (int c = 0; c < run; ++c) {
                sum[c] = fused(value[t], c + t < run ? near[c + t] : far[c + t - run], sum[c]);
            }
        }
        return;
    }
#pragma unroll
    for (int t = 0; t < run; ++t) {
        if (first + t >= from && first + t < to) {
#pragma unroll
            for (int c = 0; c < run; ++c) {
                sum[c] = fused(value[t], c + t < run ? near[c + t] : far[c + t - run], sum[c]);
            }
        }
    }
}

// A block's work. The mask has `length` values; the first `skipped` of them are padding that aligns the samples. It is
// processed in parts of `part` values.
struct line_plan {
    std::int64_t tiles, length;
    int skipped, part;
    bool aligned; // results may be written four at a time
};

// Starts to copy the samples for the results from x0 on, and one part of the mask, to a tile.
template <class Shape, class T, class O, class A>
__device__ void fill_line(A* tile, const convolve_task<T, O>& task, const line_plan& plan, std::int64_t x0,
                          std::int64_t begin) {
    const int values = static_cast<int>(min(std::int64_t{plan.part}, plan.length - begin));
    const int groups = (Shape::results + values + 2) / 4;
    const std::int64_t first = x0 - task.lead_x - plan.skipped + begin;
    if (first >= 0 && first + 4 * groups <= task.width) {
#pragma unroll 4
        for (int g = static_cast<int>(threadIdx.x); g < groups; g += Shape::threads) {
            A* const to = tile + Shape::place(g);
            const T* const from = task.in + first + 4 * g;
            if constexpr (std::is_same_v<T, A>) {
#pragma unroll
                for (int k = 0; k < 4; k += Shape::per) {
                    copy_async<16>(to + k, from + k);
                }
            } else {
                const four<T> got = load_four(from);
                A numbers[4];
#pragma unroll
                for (int c = 0; c < 4; ++c) {
                    numbers[c] = number_of<A>(got.value[c]);
                }
                Shape::put_four(to, numbers);
            }
        }
        return;
    }
#pragma unroll 1
    for (int k = static_cast<int>(threadIdx.x); k < 4 * groups; k += Shape::threads) {
        const std::int64_t at = source_index(first + k, task.width, task.outside);
        tile[Shape::place(k / 4) + k % 4] = at < 0 ? A(0) : number_of<A>(load_one(task.in + at));
    }
}

template <class Shape, class A, class Mask>
__device__ void fill_mask(A* mask, const line_plan& plan, std::int64_t begin, const Mask& values) {
    const int to = static_cast<int>(min(std::int64_t{plan.part}, plan.length - begin));
    for (int k = (begin == 0 ? plan.skipped : 0) + static_cast<int>(threadIdx.x); k < to; k += Shape::threads) {
        mask[k] = values[begin + k - plan.skipped];
    }
}

// A block computes every gridDim.x-th tile of results. The next tile is copied meanwhile.
template <class Shape, class Task, class A, class Mask>
__global__ void __launch_bounds__(Shape::threads)
    convolve_line(const __grid_constant__ Task given, const __grid_constant__ line_plan plan,
                  const __grid_constant__ Mask values) {
    const typename Task::sized task(given);
    if (Task::counted && !has_results(task)) {
        return;
    }
    extern __shared__ uint4 shared_memory[];
    const int tile_size = Shape::tile_of(plan.part), mask_size = Shape::runs_of(plan.part) * Shape::run;
    A* const tiles = reinterpret_cast<A*>(shared_memory);
    A* const masks = tiles + 2 * tile_size;
    const bool whole = plan.part >= plan.length;
    const int thread = static_cast<int>(threadIdx.x);
    int now = 0;
    fill_line<Shape>(tiles, task, plan, blockIdx.x * std::int64_t{Shape::results}, 0);
    commit_copies();
    fill_mask<Shape>(masks, plan, 0, values);
    for (std::int64_t tile = blockIdx.x; tile < plan.tiles; tile += gridDim.x) {
        A sum[Shape::run] = {};
        for (std::int64_t begin = 0; begin < plan.length; begin += plan.part) {
            const bool last = begin + plan.part >= plan.length;
            const std::int64_t next = last ? tile + gridDim.x : tile, next_begin = last ? 0 : begin + plan.part;
            if (next < plan.tiles) {
                fill_line<Shape>(tiles + (1 - now) * tile_size, task, plan, next * Shape::results, next_begin);
                if (!whole) {
                    fill_mask<Shape>(masks + (1 - now) * mask_size, plan, next_begin, values);
                }
            }
            commit_copies();
            wait_copies<1>();
            __syncthreads();
            const int to = static_cast<int>(min(std::int64_t{plan.part}, plan.length - begin));
            const int from = begin == 0 ? plan.skipped : 0, runs = Shape::runs_of(to);
            const A* const mask = masks + (whole ? 0 : now * mask_size);
            const A* const own = tiles + now * tile_size + thread * Shape::pitch;
            A even[Shape::run], odd[Shape::run];
            Shape::fetch(even, own);
#pragma unroll 1
            for (int r = 0; r < runs; r += 2) {
                Shape::fetch(odd, own + (r + 1) * Shape::pitch);
                add_run<Shape>(sum, even, odd, mask, r * Shape::run, from, to);
                if (r + 1 < runs) {
                    Shape::fetch(even, own + (r + 2) * Shape::pitch);
                    add_run<Shape>(sum, odd, even, mask, (r + 1) * Shape::run, from, to);
                }
            }
            __syncthreads();
            now = 1 - now;
        }

        // Results go through shared memory, so that neighbouring threads write neighbouring results.
        A* const done = tiles + (1 - now) * tile_size;
#pragma unroll
        for (int c = 0; c < Shape::run; c += 4) {
            const A part[4] = {sum[c], sum[c + 1], sum[c + 2], sum[c + 3]};
            Shape::put_four(done + thread * Shape::pitch + c, part);
        }
        __syncthreads();
#pragma unroll
        for (int v = 0; v < Shape::run / 4; ++v) {
            const int group = v * Shape::threads + thread;
            const std::int64_t x = tile * Shape::results + 4 * group;
            if (x < task.out_width) {
                A part[4];
                Shape::fetch(part, done + Shape::place(group));
                store_four(task.out + x, part, 0, task.out_width - x, plan.aligned);
                leave_out_ghosts(task, values, plan.length - plan.skipped, 1, 0, x, 0, 4);
            }
        }
        __syncthreads();
    }
    wait_copies<0>();
}

} // namespace warpfold::detail
