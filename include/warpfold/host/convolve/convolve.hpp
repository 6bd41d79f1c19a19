// SPDX-License-Identifier: MIT
// Convolution on the host. Threads take blocks of the images in turn; a result is summed in one fixed order. The inner
// loops are compiled for baseline vectors, AVX2 and AVX-512, and the widest set of the machine runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "warpfold/detail/convolve.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/host/core/target.hpp"
#include "warpfold/host/core/vectors.hpp"

namespace warpfold::detail {

struct host_block {
    std::int64_t image, y, x, rows, columns;
};

} // namespace warpfold::detail

#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define WARPFOLD_UNROLL _Pragma("GCC unroll 16")
#else
#define WARPFOLD_UNROLL
#endif

#if defined(__GNUC__)
#define WARPFOLD_ALWAYS_INLINE __attribute__((always_inline)) inline
#else
#define WARPFOLD_ALWAYS_INLINE inline
#endif

#define WARPFOLD_LANES_NAME plain_lanes
#define WARPFOLD_LANES_BYTES 16
#define WARPFOLD_LANES_TARGET
#define WARPFOLD_LANES_NON_TEMPORAL __builtin_ia32_movntps
#include "warpfold/host/convolve/lanes.hpp"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define WARPFOLD_LANES_NAME avx2_lanes
#define WARPFOLD_LANES_BYTES 32
#define WARPFOLD_LANES_TARGET __attribute__((target("avx2,fma")))
#define WARPFOLD_LANES_NON_TEMPORAL __builtin_ia32_movntps256
#include "warpfold/host/convolve/lanes.hpp"

#define WARPFOLD_LANES_NAME avx512_lanes
#define WARPFOLD_LANES_BYTES 64
#define WARPFOLD_LANES_TARGET __attribute__((target("avx512f,avx2,fma")))
#define WARPFOLD_LANES_NON_TEMPORAL __builtin_ia32_movntps512
#include "warpfold/host/convolve/lanes.hpp"
#endif

#undef WARPFOLD_UNROLL
#undef WARPFOLD_ALWAYS_INLINE

namespace warpfold::detail {

enum class host_lanes_set { plain, avx2, avx512 };

inline host_lanes_set widest_lanes() {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__)) && !defined(WARPFOLD_BASELINE_VECTORS)
    static const host_lanes_set widest = [] {
        if (__builtin_cpu_supports("avx512f")) {
            return host_lanes_set::avx512;
        }
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? host_lanes_set::avx2
                                                                               : host_lanes_set::plain;
    }();
    return widest;
#else
    return host_lanes_set::plain;
#endif
}

// True if the results are larger than a cache: reading lines before writing them would waste bandwidth.
template <class T, class O>
bool is_non_temporal(const convolve_task<T, O>& task) {
    constexpr std::int64_t cache = std::int64_t{16} << 20;
    return task.out_width * task.out_height * task.count * static_cast<std::int64_t>(sizeof(O)) > cache;
}

// Calls work(block) for blocks of at most rows by columns results.
template <class T, class O, class Work>
void over_blocks(const host& on, const convolve_task<T, O>& task, std::int64_t rows, std::int64_t columns,
                 const Work& work) {
    const std::int64_t across = (task.out_width + columns - 1) / columns;
    const std::int64_t down = (task.out_height + rows - 1) / rows;
    parallel_for(on.threads, static_cast<std::uint64_t>(across * down * task.count), [&](std::uint64_t k) {
        const auto piece = static_cast<std::int64_t>(k);
        const std::int64_t x = piece % across * columns, y = piece / across % down * rows;
        work(host_block{piece / across / down, y, x, std::min(rows, task.out_height - y),
                        std::min(columns, task.out_width - x)});
    });
}

template <>
struct convolve_engine<host> {
    template <class A, class T, class O>
    static void direct(const host& on, const convolve_task<T, O>& task, const A* mask, std::int64_t kx, std::int64_t ky,
                       const char* /*call*/) {
        const host_lanes_set set = widest_lanes();
        const bool non_temporal = is_non_temporal(task);
        const std::int64_t rows = task.out_height == 1 ? 1 : 64, columns = task.out_height == 1 ? 32768 : 1024;
        over_blocks(on, task, rows, columns, [&](const host_block& block) {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
            if (set == host_lanes_set::avx512) {
                return avx512_lanes::convolve_block(task, block, mask, kx, ky, non_temporal);
            }
            if (set == host_lanes_set::avx2) {
                return avx2_lanes::convolve_block(task, block, mask, kx, ky, non_temporal);
            }
#endif
            plain_lanes::convolve_block(task, block, mask, kx, ky, non_temporal);
        });
    }
    // As correlate_channels_block(), of images whose channels and results have no gaps between them.
    template <class A>
    static void channels(const host& on, const convolve_task<A, A>& task, const A* masks, std::int64_t kx,
                         std::int64_t ky, std::int64_t channels, std::int64_t outputs) {
        const host_lanes_set set = widest_lanes();
        over_blocks(on, task, 16, 192, [&](const host_block& block) {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
            if (set == host_lanes_set::avx512) {
                return avx512_lanes::correlate_channels_block(task, block, masks, kx, ky, channels, outputs);
            }
            if (set == host_lanes_set::avx2) {
                return avx2_lanes::correlate_channels_block(task, block, masks, kx, ky, channels, outputs);
            }
#endif
            plain_lanes::correlate_channels_block(task, block, masks, kx, ky, channels, outputs);
        });
    }
    template <class A, class T, class O>
    static void separable(const host& on, const convolve_task<T, O>& task, const A* across, std::int64_t kx,
                          const A* down, std::int64_t ky, const char* call) {
        const host_lanes_set set = widest_lanes();
        const bool non_temporal = is_non_temporal(task);
        constexpr std::int64_t side = 512;
        if constexpr (std::is_same_v<A, T> && std::is_same_v<A, O>) { // others would take long to compile
            if (std::max(kx, ky) > side) {
                in_two_passes(on, task, across, kx, down, ky, call);
                return;
            }
        }
        over_blocks(on, task, side, side, [&](const host_block& block) {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
            if (set == host_lanes_set::avx512) {
                return avx512_lanes::convolve_block_separable(task, block, across, kx, down, ky, non_temporal);
            }
            if (set == host_lanes_set::avx2) {
                return avx2_lanes::convolve_block_separable(task, block, across, kx, down, ky, non_temporal);
            }
#endif
            plain_lanes::convolve_block_separable(task, block, across, kx, down, ky, non_temporal);
        });
    }

private:
    // Long masks: the samples that a block needs are many times its results, in both directions. Here first the rows of all images
    // are correlated, then columns of the sums.
    template <class A>
    static void in_two_passes(const host& on, const convolve_task<A, A>& task, const A* across, std::int64_t kx,
                              const A* down, std::int64_t ky, const char* call) {
        constexpr std::int64_t more = 128; // columns: blocks read up to 8 vectors behind their own
        convolve_task<A, A> rows = task, columns = task;
        rows.out_height = columns.height = task.height;
        rows.out_pitch = columns.pitch = columns.width = task.out_width + more;
        rows.out_distance = columns.distance = columns.pitch * task.height;
        rows.lead_y = columns.lead_x = 0;
        std::vector<A> sums(static_cast<std::size_t>(columns.distance * task.count));
        columns.in = rows.out = sums.data();
        direct(on, rows, across, kx, 1, call);
        direct(on, columns, down, 1, ky, call);
    }
};

} // namespace warpfold::detail
