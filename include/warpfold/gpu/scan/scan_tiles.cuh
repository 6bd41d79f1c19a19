// SPDX-License-Identifier: MIT
// Scans on a GPU of what the faster kernels (gpu/scan/scan_stream.cuh, gpu/scan/scan_once.cuh) do not take: in segments, of large
// elements, of objects that are no arrays. One launch and one pass over memory: a block copies a tile into shared
// memory, posts the tile's total, folds the totals of the tiles before (gpu/scan/lookback.cuh) and writes.
//
// A tile is made of rows: a row is 32 lanes with a run of consecutive elements each, as many as 16 bytes hold, so that
// it is read and written by one access a lane and scanned by five shuffles; a warp has several rows one behind the
// other. What is needed before the totals can be posted is done in lanes' sums; the elements are gone through again
// when what stands before them is known.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/scan_how.hpp"
#include "warpfold/gpu/core/run.cuh"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/scan/lookback.cuh"
#include "warpfold/gpu/scan/scan_elements.cuh"
#include "warpfold/gpu/scan/segment_heads.cuh"
#include "warpfold/tuning/scan.hpp"
#include "warpfold/warp/scan.cuh"

namespace warpfold::detail {

inline constexpr tuning::scan scan_tuning = tuning::scan_default;

// How elements are laid out in a tile whose larger ones have so many bytes.
template <std::size_t Bytes>
struct scan_layout {
    static constexpr unsigned run = Bytes >= 16 || 16 % Bytes != 0 ? 1 : 16 / Bytes;
    static constexpr unsigned rows = std::max<unsigned>(1, scan_tuning.bytes / (run * Bytes)); // at most
    static constexpr unsigned row = run * warp::lanes;
    static constexpr unsigned warps = scan_tuning.threads / warp::lanes;
    static constexpr unsigned tile = row * rows * warps; // at most

    // How many rows a warp has: a few are left to one block, and there are not more blocks than look at each other
    // directly before tiles have become as large as they can.
    static unsigned rows_of(std::uint64_t n) {
        const std::uint64_t of_block = row * warps, all = (n + of_block - 1) / of_block;
        const std::uint64_t wanted =
            all <= scan_tuning.one_block_rows ? all : (all + scan_tuning.blocks - 1) / scan_tuning.blocks;
        return static_cast<unsigned>(std::min<std::uint64_t>(wanted, rows));
    }
    static std::uint64_t tiles_of(std::uint64_t n) {
        const std::uint64_t size = std::uint64_t{row} * warps * rows_of(n);
        return (n + size - 1) / size;
    }
    // No scan of up to n elements has more, wherever they begin.
    static std::uint64_t most_tiles(std::uint64_t n) {
        const std::uint64_t of_block = row * warps, all = (n + run + of_block - 1) / of_block;
        return std::max(tiles_of(n + run), std::min<std::uint64_t>(all, scan_tuning.blocks));
    }
};

// All that the kernel is told.
template <class In, class Out, class Map, class Op, class How>
struct scan_tiles_work : scan_elements<In, Out, Map, Op, How> {
    using elements = scan_elements<In, Out, Map, Op, How>;
    using elements::in, elements::n, elements::place;
    using typename elements::A, typename elements::T;
    using layout = scan_layout<elements::bytes>;
    using total = partial<A, How::segmented>;
    using memory = lookback<A, How::segmented>;
    static_assert(layout::run == elements::run);
    // Elements wait in shared memory, unless they are so large that they do not fit; then they are read twice.
    static constexpr std::size_t tile_bytes = sizeof(T) * layout::tile;
    static constexpr bool staged = tile_bytes <= 40960;

    void* boxes;
    unsigned rows; // of a warp

    __device__ void fetch(std::uint64_t v, bool inside, T* slot) const {
        if constexpr (staged) {
            elements::fetch(v, inside, slot);
        }
    }
    // The run at position v, from its slot, in the order in which it is visited. `Again`: when others write already.
    template <bool Again>
    __device__ void take([[maybe_unused]] std::uint64_t v, const T* slot, T (&items)[layout::run]) const {
        if constexpr (!staged) {
            static_assert(layout::run == 1);
            if (!Again || v < n) {
                items[0] = in[place(v < n ? v : n - 1)];
            }
            return;
        }
        elements::take(slot, items);
    }
};

template <class Work>
__global__ void __launch_bounds__(scan_tuning.threads,
                                  sizeof(typename Work::A) <= 8 ? scan_tuning.blocks_per_multiprocessor : 1)
    scan_tiles_kernel(const Work work) {
    using T = typename Work::T;
    using A = typename Work::A;
    using total = typename Work::total;
    using layout = typename Work::layout;
    using How = std::remove_cvref_t<decltype(work.how)>;
    using U = typename Work::U;
    constexpr unsigned run = layout::run, rows = layout::rows, warps = layout::warps;
    __shared__ alignas(total) unsigned char storage[(warps + 1) * sizeof(total)];
    __shared__ alignas(16) unsigned char staged[Work::staged ? Work::tile_bytes : 16];
    auto* const of_warp = reinterpret_cast<total*>(storage);

    const unsigned tile = blockIdx.x;
    const unsigned warp = threadIdx.x / warp::lanes, lane = threadIdx.x % warp::lanes;
    const unsigned size = layout::row * warps * work.rows;
    const std::uint64_t begin = std::uint64_t{tile} * size - work.shift; // may wrap: then not inside
    const bool inside = (tile != 0 || work.shift == 0) && begin + size <= work.n;
    const std::uint64_t first = begin + warp * (layout::row * work.rows) + lane * run;
    // In the first run of all, so many elements are not there.
    const unsigned skip = tile == 0 && threadIdx.x == 0 ? work.shift : 0;
    const auto& op = work.op;

    T* const slots = reinterpret_cast<T*>(staged) + threadIdx.x * run;
#pragma unroll
    for (unsigned r = 0; r < rows; ++r) {
        if (r < work.rows) {
            work.fetch(first + r * layout::row, inside, slots + r * (scan_tuning.threads * run));
        }
    }
    const segment_heads<Work> heads(work, begin, size, first, inside);
    await_runs();

    T items[run];
    const auto value = [&](unsigned r, unsigned j) { return work.value(items[j], first + r * layout::row + j); };
    // before[r]: op over the warp's elements in front of the run; nothing of it is there in the first run.
    total before[rows], through{};
#pragma unroll
    for (unsigned r = 0; r < rows; ++r) {
        if (r >= work.rows) {
            break;
        }
        work.template take<false>(first + r * layout::row, slots + r * (scan_tuning.threads * run), items);
        A sum = value(r, 0);
        bool head = heads.at(r, 0);
        if (How::segmented && head) {
            sum = work.opening(sum);
        }
#pragma unroll
        for (unsigned j = 1; j < run; ++j) {
            const A x = value(r, j);
            const bool opens = heads.at(r, j);
            head = head || opens;
            if (How::segmented && opens) {
                sum = work.opening(x);
            } else {
                sum = r == 0 && j <= skip ? x : static_cast<A>(op(sum, x));
            }
        }
        unsigned heads_of_row = 0;
        if constexpr (How::segmented) {
            sum = warp::inclusive_scan(sum, op, head, heads_of_row);
        } else {
            sum = warp::inclusive_scan(sum, op);
        }
        const total row = total::of(warp::shuffle(sum, warp::lanes - 1), heads_of_row != 0);
        const A lanes_before = warp::shuffle_up(sum, 1);
        const bool head_before = How::segmented && (heads_of_row & ((1u << lane) - 1)) != 0;
        const total in_row = total::of(lanes_before, head_before);
        before[r] = r == 0 ? in_row : (lane == 0 ? through : joined(through, in_row, op));
        through = r == 0 ? row : joined(through, row, op);
    }
    if (lane == warp::lanes - 1) {
        of_warp[warp] = through;
        if (warp == warps - 1) {
            of_warp[warps] = through; // so that it can be read where nothing stands in front of the tile
        }
    }
    __syncthreads();

    // What stands in front of the warp: in the tile, and, from the first warp, in front of the tile.
    typename Work::memory::counts earlier_tiles{};
    total front{};
    bool has_front = warp != 0;
    {
        const unsigned which = lane < warps ? lane : warps - 1;
        total warps_before = of_warp[which];
#pragma unroll
        for (unsigned distance = 1; distance < warps; distance *= 2) {
            const total other = warp::shuffle_up(warps_before, distance);
            if (lane >= distance) {
                warps_before = joined(other, warps_before, op);
            }
        }
        front = warp::shuffle(warps_before, warp == 0 ? 0 : warp - 1);
        if (gridDim.x != 1 && warp == 0) {
            const typename Work::memory boxes(work.boxes, gridDim.x);
            const total of_tile = warp::shuffle(warps_before, warps - 1);
            const total earlier = boxes.template before<How::has_first>(tile, of_tile, work.how.first, op);
            if (lane == 0) {
                of_warp[warps] = earlier;
                earlier_tiles = boxes.count_off(tile);
            }
        }
    }
    if (gridDim.x != 1) {
        __syncthreads();
    }
    if (tile != 0) {
        front = has_front ? joined(of_warp[warps], front, op) : of_warp[warps];
        has_front = true;
    } else if constexpr (How::has_first) {
        const total given = total::of(work.how.first, false);
        front = has_front ? joined(given, front, op) : given;
        has_front = true;
    }

#pragma unroll
    for (unsigned r = 0; r < rows; ++r) {
        if (r >= work.rows) {
            break;
        }
        work.template take<true>(first + r * layout::row, slots + r * (scan_tuning.threads * run), items);
        A sum = front.value;
        bool fresh = false; // nothing stands before the run
        if (r != 0 || lane != 0) {
            sum = has_front && !before[r].head ? static_cast<A>(op(front.value, before[r].value)) : before[r].value;
        } else {
            fresh = !has_front;
        }
        U results[run];
        work.scan_run(
            sum, fresh, r == 0 ? skip : 0, [&](unsigned j) { return value(r, j); },
            [&](unsigned j) { return heads.at(r, j); }, results);
        work.store(first + r * layout::row, inside, results);
    }
    if (gridDim.x != 1 && warp == 0) {
        typename Work::memory(work.boxes, gridDim.x).tidy(tile, warp::shuffle(earlier_tiles, 0));
    }
}

template <class Elements>
struct scan_tiles_of;
template <class In, class Out, class Map, class Op, class How>
struct scan_tiles_of<scan_elements<In, Out, Map, Op, How>> {
    using type = scan_tiles_work<In, Out, Map, Op, How>;
};

template <class Elements>
void launch_scan_tiles(const gpu& on, const Elements& elements, const char* call) {
    using Work = typename scan_tiles_of<Elements>::type;
    using layout = typename Work::layout;
    const std::uint64_t all = elements.n + elements.shift;
    const std::uint64_t tiles = layout::tiles_of(all);
    if (tiles > 0x7fffffffu) {
        throw invalid_argument(std::string("warpfold: ") + call + ": more elements than one launch has blocks for");
    }
    const call_memory memory(on, Work::memory::bytes(tiles), 0, call);
    const Work work{elements, memory.boxes(), layout::rows_of(all)};
    scan_tiles_kernel<<<static_cast<unsigned>(tiles), scan_tuning.threads, 0, on.stream>>>(work);
    WARPFOLD_CHECK_CUDA(cudaGetLastError());
}

} // namespace warpfold::detail
