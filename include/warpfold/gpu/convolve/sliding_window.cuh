// SPDX-License-Identifier: MIT
// Masks of a few sizes known at compile time. A thread computes four or eight columns of an image, moving down a strip
// row by row. Each row of samples is added to all sums that it contributes to, in registers, and completes one row of
// results. The sums move up by one row without register moves: the first multiplication of each row reads one register
// and writes another. Neighbours share samples through the L1 cache.
#pragma once

#include "warpfold/gpu/convolve/mask.cuh"
#include "warpfold/tuning/convolve.hpp"

namespace warpfold::detail {

// One dimension: a thread has a few groups of four results.
template <class Kernels, class Task, class A, class Mask, int K>
__global__ void __launch_bounds__(Kernels::value.line_block_threads)
    convolve_run(const __grid_constant__ Task given, const __grid_constant__ Mask given_mask, int shift, bool aligned) {
    using T = typename Task::sample;
    const typename Task::sized task(given);
    if (Task::counted && !has_results(task)) {
        return;
    }
    using w = window<K>;
    constexpr int threads = Kernels::value.line_block_threads;
    constexpr int vectors = Kernels::value.line_groups_per_thread;
    const std::int64_t block = std::int64_t{blockIdx.x} * (4 * threads * vectors) - shift;
    const std::int64_t skipped =
        task.lead_x + w::before; // samples from a result's index back to the start of its window
    const bool inside = block >= skipped && block - skipped + 4 * (threads * vectors - 1 + w::groups) <= task.width;
    four<T> group[vectors][w::groups];
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
        const std::int64_t first = block + 4 * (v * threads + static_cast<int>(threadIdx.x)) - skipped;
#pragma unroll
        for (int g = 0; g < w::groups; ++g) {
            if (inside || (first + 4 * g >= 0 && first + 4 * g + 4 <= task.width)) {
                group[v][g] = load_four(task.in + first + 4 * g);
            } else if (first - 4 * w::groups < task.width + K) {
#pragma unroll
                for (int c = 0; c < 4; ++c) {
                    const std::int64_t at = source_index(first + 4 * g + c, task.width, task.outside);
                    group[v][g].value[c] = at < 0 ? no_sample<T>() : load_one(task.in + at);
                }
            }
        }
    }
    const auto& mask = in_registers<K>(given_mask);
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
        const std::int64_t x = block + 4 * (v * threads + static_cast<int>(threadIdx.x));
        A sum[4] = {};
#pragma unroll
        for (int i = 0; i < K; ++i) {
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                const int at = w::before + i + c;
                sum[c] = fused(mask.value[i], number_of<A>(group[v][at / 4].value[at % 4]), sum[c]);
            }
        }
        if (x < task.out_width) {
            store_four<true>(task.out + x, sum, -x, task.out_width - x, aligned);
            leave_out_ghosts(task, given_mask, K, 1, 0, x, 0, 4);
        }
    }
}

// Samples of 8 and 16 bits: a thread has `Per` results, 16 bytes if samples and results have one size. Samples beside
// its own are read four at a time.
template <class Kernels, class Task, class A, class Mask, int K, int Per>
__global__ void __launch_bounds__(Kernels::value.line_block_threads)
    convolve_run_small(const __grid_constant__ Task given, const __grid_constant__ Mask given_mask, int shift,
                       result_alignment how) {
    using T = typename Task::sample;
    const typename Task::sized task(given);
    if (Task::counted && !has_results(task)) {
        return;
    }
    constexpr int before = (K / 2 + 3) / 4, behind = (K - 1 - K / 2 + 3) / 4, fours = before + Per / 4 + behind;
    const std::int64_t x = std::int64_t{blockIdx.x} * (Per * Kernels::value.line_block_threads) +
                           Per * static_cast<int>(threadIdx.x) - shift;
    if (x >= task.out_width) {
        return;
    }
    const std::int64_t first = x - task.lead_x + K / 2 - 4 * before;
    group_of<T, 4 * fours> group;
    if (first >= 0 && first + 4 * fours <= task.width) {
        four<T> side[before + behind];
#pragma unroll
        for (int g = 0; g < before + behind; ++g) {
            side[g] = load_four(task.in + first + 4 * (g < before ? g : g + Per / 4));
        }
        const group_of<T, Per> middle = load_group<Per>(task.in + first + 4 * before);
        std::memcpy(&group.value[0], &side[0], before * sizeof(four<T>));
        std::memcpy(&group.value[4 * before], &middle, sizeof(middle));
        std::memcpy(&group.value[4 * before + Per], &side[before], behind * sizeof(four<T>));
    } else {
#pragma unroll
        for (int c = 0; c < 4 * fours; ++c) {
            const std::int64_t at = source_index(first + c, task.width, task.outside);
            group.value[c] = at < 0 ? no_sample<T>() : load_one(task.in + at);
        }
    }
    A sample[Per - 1 + K];
    numbers_of<4 * before - K / 2>(sample, group);
    const auto& mask = in_registers<K>(given_mask);
    A sum[Per] = {};
#pragma unroll
    for (int i = 0; i < K; ++i) {
#pragma unroll
        for (int c = 0; c < Per; ++c) {
            sum[c] = fused(mask.value[i], sample[i + c], sum[c]);
        }
    }
    store_results(task.out + x, sum, -x, task.out_width - x, how);
    leave_out_ghosts(task, given_mask, K, 1, 0, x, 0, Per);
}

// The strips of an image. The first `shift` columns do not exist.
struct slide_shape {
    int rows; // of results per strip
    int shift;
    result_alignment how;
    bool halves;   // rows of samples are not all aligned to groups
    int mask_rows; // of this part of the mask
    bool adds;     // adds to the results of earlier parts
};

// What a kernel computes: a whole mask, a separable mask, or a part of a mask's rows that is added to earlier parts.
enum class sliding { whole, separable, part };

// The rows of samples of a warp in a ring in shared memory. Blocks at the border of an image look up source indices in
// a table.
template <class T, int Cols, int Groups, int Stages>
struct row_ring {
    using group = group_of<T, Cols>;
    static constexpr int width = 32 + Groups - 1;

    const T* image;
    const int* table; // of the lane's first group; nullptr in inner blocks
    group* ring;
    int lane, column; // column of the lane's first group
    int width_in, height;
    std::int64_t pitch;
    border outside;
    bool halves;

    // Starts to copy row y to a stage of the ring.
    __device__ void begin(int y, int stage) const {
        group* const into = ring + stage * width + lane;
        if (static_cast<unsigned>(y) >= static_cast<unsigned>(height)) {
            y = static_cast<int>(source_index(y, height, outside));
        }
        const T* const row = image + y * pitch;
        copy(into, y, row, 0);
        if (lane < Groups - 1) {
            copy(into + 32, y, row, 32 * Cols);
        }
    }
    __device__ void read(group_of<T, Cols * Groups>& all, int stage) const {
#pragma unroll
        for (int g = 0; g < Groups; ++g) {
            constexpr int bytes = sizeof(group) < 16 ? sizeof(group) : 16, words = sizeof(group) / bytes;
            word_of<bytes> word[words];
#pragma unroll
            for (int k = 0; k < words; ++k) {
                word[k] = reinterpret_cast<const word_of<bytes>*>(&ring[stage * width + lane + g])[k];
            }
            std::memcpy(&all.value[Cols * g], word, sizeof(group));
        }
    }

private:
    __device__ void copy(group* into, int y, const T* row, int further) const {
        const int first = column + further;
        if (y < 0) {
            *into = group{};
        } else if (table == nullptr || (first >= 0 && first + Cols <= width_in)) {
            const auto put = [&](auto bytes_each) {
                constexpr int each = decltype(bytes_each)::value;
#pragma unroll
                for (int k = 0; k < static_cast<int>(sizeof(group)); k += each) {
                    copy_async<each>(reinterpret_cast<unsigned char*>(into) + k,
                                     reinterpret_cast<const unsigned char*>(row + first) + k);
                }
            };
            if (alignof(group) == alignof(four<T>) || !halves) {
                put(std::integral_constant<int, alignof(group)>{});
            } else {
                put(std::integral_constant<int, alignof(four<T>)>{});
            }
        } else {
#pragma unroll
            for (int c = 0; c < Cols; ++c) {
                const int at = table[further + c];
                if (at < 0) {
                    into->value[c] = no_sample<T>();
                } else if constexpr (sizeof(T) >= 4) {
                    copy_async<sizeof(T)>(&into->value[c], row + at);
                } else {
                    into->value[c] = load_one(row + at);
                }
            }
        }
    }
};

// The sums after one more row of samples; sum[p] is p rows below the row that is now complete. The mask may have fewer
// than KY rows.
template <int KX, int KY, int Cols, class A, class W>
__device__ void slide(A (&sum)[KY][Cols], const W& mask, int mask_rows, const A (&sample)[window<KX, Cols>::length]) {
#pragma unroll
    for (int p = 0; p < KY; ++p) {
        if (KY - 1 - p >= mask_rows) {
#pragma unroll
            for (int c = 0; c < Cols; ++c) {
                sum[p][c] = p + 1 < KY ? sum[p + 1 < KY ? p + 1 : p][c] : A(0);
            }
            continue;
        }
#pragma unroll
        for (int c = 0; c < Cols; ++c) {
            A s = p + 1 < KY ? sum[p + 1 < KY ? p + 1 : p][c] : A(0);
#pragma unroll
            for (int i = 0; i < KX; ++i) {
                s = fused(mask.value[(KY - 1 - p) * KX + i], sample[c + i], s);
            }
            sum[p][c] = s;
        }
    }
}
template <int KX, int KY, int Cols, class A, class W>
__device__ void slide_separable(A (&sum)[KY][Cols], const W& mask, const A (&sample)[window<KX, Cols>::length]) {
    A across[Cols] = {};
#pragma unroll
    for (int i = 0; i < KX; ++i) {
#pragma unroll
        for (int c = 0; c < Cols; ++c) {
            across[c] = fused(mask.value[i], sample[c + i], across[c]);
        }
    }
#pragma unroll
    for (int p = 0; p < KY; ++p) {
#pragma unroll
        for (int c = 0; c < Cols; ++c) {
            const A s = p + 1 < KY ? sum[p + 1 < KY ? p + 1 : p][c] : A(0);
            sum[p][c] = fused(mask.value[KX + KY - 1 - p], across[c], s);
        }
    }
}

template <class Kernels, class Task, class A, class Mask, int KX, int KY, sliding How, int Cols>
__global__ void __launch_bounds__(Kernels::value.slide_block_threads)
    convolve_slide(const __grid_constant__ Task given, const __grid_constant__ Mask given_mask, slide_shape shape) {
    using T = typename Task::sample;
    using O = typename Task::result;
    const typename Task::sized task(given);
    if (Task::counted && !has_results(task)) {
        return;
    }
    using w = window<KX, Cols>;
    constexpr int threads = Kernels::value.slide_block_threads, stages = Kernels::value.slide_stages;
    using rows_of_warp = row_ring<T, Cols, w::groups, stages>;
    __shared__ int table[Cols * (threads - 1 + w::groups)];
    __shared__ group_of<T, Cols> rings[threads / 32][stages * rows_of_warp::width];
    static_assert(sizeof(table) + sizeof(rings) <= 48 * 1024,
                  "convolve_kernels: slide_block_threads and slide_stages take more than 48 KiB of shared memory");
    __shared__ __align__(16) A mask_room[Mask::in_memory ? KX * KY : 1];
    const auto& mask = in_shared_memory(given_mask, mask_room, How == sliding::part ? KX * shape.mask_rows : KX * KY);
    if constexpr (Mask::in_memory) {
        static_assert(How != sliding::separable);
        __syncthreads();
    }
    const int block = static_cast<int>(blockIdx.x * Cols * blockDim.x) - shape.shift;
    const int left = block - static_cast<int>(task.lead_x) - w::before; // column of the block's first group
    const int columns = Cols * (static_cast<int>(blockDim.x) - 1 + w::groups);
    const bool inside = left >= 0 && left + columns <= task.width;
    if (!inside) {
        for (int k = static_cast<int>(threadIdx.x); k < columns; k += static_cast<int>(blockDim.x)) {
            table[k] = left + k < task.width + 2 * KX
                           ? static_cast<int>(source_index(left + k, task.width, task.outside))
                           : -1;
        }
        __syncthreads();
    }
    const int lane = static_cast<int>(threadIdx.x) % 32, own = Cols * static_cast<int>(threadIdx.x);
    const int x = block + own;
    if (x - Cols * lane >= task.out_width) {
        return;
    }
    const int begin = static_cast<int>(blockIdx.y) * shape.rows;
    const int rows = min(shape.rows, static_cast<int>(task.out_height) - begin) + KY - 1; // of samples
    for (std::int64_t k = blockIdx.z; k < task.count; k += gridDim.z) {
        const rows_of_warp ring{task.in + k * task.distance,
                                inside ? nullptr : table + own,
                                rings[threadIdx.x / 32],
                                lane,
                                left + own,
                                static_cast<int>(task.width),
                                static_cast<int>(task.height),
                                task.pitch,
                                task.outside,
                                shape.halves};
        O* out = task.out + k * task.out_distance + (begin - (KY - 1)) * task.out_pitch + x;
        const int top = begin - static_cast<int>(task.lead_y);
        A sum[KY][Cols] = {};
        __syncwarp();
#pragma unroll
        for (int s = 0; s < stages - 1; ++s) {
            if (s < rows) {
                ring.begin(top + s, s);
            }
            commit_copies();
        }
#pragma unroll 1
        for (int r = 0; r < rows; ++r) {
            wait_copies<stages - 2>();
            __syncwarp();
            if (r + stages - 1 < rows) {
                ring.begin(top + r + stages - 1, (r + stages - 1) % stages);
            }
            commit_copies();
            group_of<T, Cols * w::groups> group;
            ring.read(group, r % stages);
            A sample[w::length];
            numbers_of<w::before>(sample, group);
            const bool stores = r >= KY - 1 && x < task.out_width;
            A others[Cols] = {};
            if constexpr (How == sliding::part) {
                if (shape.adds && stores) {
                    load_results(others, out, -x, static_cast<int>(task.out_width) - x,
                                 shape.how != result_alignment::anyhow);
                }
            }
            if constexpr (How == sliding::separable) {
                slide_separable<KX, KY>(sum, mask, sample);
            } else {
                slide<KX, KY>(sum, mask, How == sliding::part ? shape.mask_rows : KY, sample);
            }
            if (stores) {
                if constexpr (How == sliding::part) {
#pragma unroll
                    for (int c = 0; c < Cols; ++c) {
                        sum[0][c] += others[c];
                    }
                }
                store_results(out, sum[0], -x, static_cast<int>(task.out_width) - x, shape.how);
            }
            out += task.out_pitch;
        }
        wait_copies<0>();
    }
}

} // namespace warpfold::detail
