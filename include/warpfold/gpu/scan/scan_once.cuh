// SPDX-License-Identifier: MIT
// Scans of short arrays on a GPU: one tile a block, kept in registers. Where there are several tiles a block posts its
// tile's total and reads those of all tiles before, a warp thirty-two of them, so that nothing waits twice.
//
// Who has read a box empties it. Up to `told_tiles` tiles a total is posted once for each tile behind, so that a box
// has one reader, and nobody waits for anything at the end. More tiles read the same boxes, count themselves off, and
// the last one empties them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/scan/ahead.cuh"
#include "warpfold/gpu/scan/scan_elements.cuh"
#include "warpfold/tuning/scan.hpp"
#include "warpfold/warp/scan.cuh"

namespace warpfold::detail {

// A tile has `rows` rows in each warp; a row is a run in each lane. `Many`: tiles as there are of longer arrays.
template <class Elements, bool Many>
struct scan_once_work {
    using elements_type = Elements;
    static constexpr tuning::scan_once how = tuning::scan_once_default;
    static constexpr bool many = Many;
    static constexpr unsigned rows = many ? how.many_rows : how.rows;
    static constexpr unsigned most_warps =
        many ? how.many_warps : std::max({how.alone, how.warps, how.few_warps, how.many_warps});
    static constexpr unsigned row = Elements::run * warp::lanes;
    // Of a multiprocessor, to find registers for; elements of 2 bytes need more of them than two blocks leave.
    static constexpr unsigned least_blocks = many && sizeof(typename Elements::A) <= 8 && Elements::bytes != 2 ? 2 : 1;

    // Whether each tile is told every total in a box of its own. What is never told has registers for something else.
    __host__ __device__ static constexpr bool tells(unsigned tiles) { return !many && tiles <= how.told_tiles; }
    // Whether tiles ask for what they will read before they may: not where they are all there at once and fill the
    // device, since asking takes its share of the L2 cache's time.
    __host__ __device__ static constexpr bool expects(unsigned tiles) { return !many || tiles > how.wide_tiles; }

    Elements elements;
    void* memory; // a counter and boxes, zero
};

// Where a tile has a box for each tile before it, so many boxes stand before its own.
__host__ __device__ constexpr unsigned boxes_before(unsigned tile) { return tile * (tile - 1) / 2; }

template <class Work>
__global__ void __launch_bounds__(Work::most_warps* warp::lanes, Work::least_blocks) scan_once_kernel(const Work work) {
    using Elements = typename Work::elements_type;
    using T = typename Elements::T;
    using A = typename Elements::A;
    using U = typename Elements::U;
    using How = typename Elements::how_type;
    constexpr unsigned run = Elements::run, rows = Work::rows, most = Work::most_warps;
    static_assert(most <= warp::lanes);
    __shared__ alignas(A) unsigned char of_warp_storage[most * sizeof(A)];
    __shared__ alignas(A) unsigned char of_group_storage[warp::lanes * sizeof(A)];
    auto* const of_warp = reinterpret_cast<A*>(of_warp_storage);
    auto* const of_group = reinterpret_cast<A*>(of_group_storage);

    allow_later();
    const Elements& elements = work.elements;
    const auto& op = elements.op;
    const unsigned tile = blockIdx.x, warps = blockDim.x / warp::lanes;
    const unsigned warp = threadIdx.x / warp::lanes, lane = threadIdx.x % warp::lanes;
    const unsigned size = Work::row * rows * warps;
    const std::uint64_t begin = std::uint64_t{tile} * size - elements.shift; // may wrap: then not inside
    const bool inside = (tile != 0 || elements.shift == 0) && begin + size <= elements.n;
    const std::uint64_t first = begin + warp * (Work::row * rows) + lane * run;
    const unsigned skip = tile == 0 && threadIdx.x == 0 ? elements.shift : 0; // so many are not there
    if (Work::expects(gridDim.x)) {
#pragma unroll
        for (unsigned r = 0; r < rows; ++r) {
            elements.expect(first + r * Work::row);
        }
    }
    await_earlier();

    T items[rows][run];
    if (inside && elements.in_runs) {
#pragma unroll
        for (unsigned r = 0; r < rows; ++r) {
            elements.read_whole(first + r * Work::row, items[r]);
        }
    } else {
#pragma unroll
        for (unsigned r = 0; r < rows; ++r) {
            elements.read(first + r * Work::row, inside, items[r]);
        }
    }
    const auto value = [&](unsigned r, unsigned j) { return elements.value(items[r][j], first + r * Work::row + j); };

    // before[r]: op over the warp's elements in front of the run; nothing of it is there in the first run.
    A before[rows];
#pragma unroll
    for (unsigned r = 0; r < rows; ++r) {
        before[r] = value(r, 0);
#pragma unroll
        for (unsigned j = 1; j < run; ++j) {
            const A x = value(r, j);
            before[r] = r == 0 && j <= skip ? x : static_cast<A>(op(before[r], x));
        }
    }
#pragma unroll
    for (unsigned distance = 1; distance < warp::lanes; distance *= 2) {
#pragma unroll
        for (unsigned r = 0; r < rows; ++r) {
            const A other = warp::shuffle_up(before[r], distance);
            if (lane >= distance) {
                before[r] = op(other, before[r]);
            }
        }
    }
    A through{};
#pragma unroll
    for (unsigned r = 0; r < rows; ++r) {
        const A row = warp::shuffle(before[r], warp::lanes - 1);
        const A in_row = warp::shuffle_up(before[r], 1);
        before[r] = r == 0 ? in_row : (lane == 0 ? through : static_cast<A>(op(through, in_row)));
        through = r == 0 ? row : static_cast<A>(op(through, row));
    }
    if (lane == 0) {
        of_warp[warp] = through;
    }
    __syncthreads();
    A warps_through = of_warp[lane < warps ? lane : warps - 1];
#pragma unroll
    for (unsigned distance = 1; distance < most; distance *= 2) {
        const A other = warp::shuffle_up(warps_through, distance);
        if (lane >= distance) {
            warps_through = op(other, warps_through);
        }
    }
    A front = warp::shuffle(warps_through, warp == 0 ? 0 : warp - 1);
    bool has_front = warp != 0;

    auto* const left = static_cast<unsigned*>(work.memory);
    auto* const boxes = reinterpret_cast<mailbox<A>*>(static_cast<unsigned char*>(work.memory) + 16);
    const bool told = Work::tells(gridDim.x);
    unsigned left_before = 0;
    if (gridDim.x != 1) {
        const A total = warp::shuffle(warps_through, warps - 1);
        if (told) {
            for (unsigned reader = tile + 1 + threadIdx.x; reader < gridDim.x; reader += blockDim.x) {
                detail::post(&boxes[boxes_before(reader) + tile], total);
            }
        } else if (threadIdx.x == 0 && tile + 1 < gridDim.x) {
            detail::post(&boxes[tile], total);
        }
        auto* const mine = told ? boxes + boxes_before(tile) : boxes;
        const unsigned groups = (tile + warp::lanes - 1) / warp::lanes;
        for (unsigned g = warp; g < groups; g += warps) {
            const unsigned count = min(warp::lanes, tile - g * warp::lanes);
            auto* const box = &mine[g * warp::lanes + lane];
            A of_tile = total;
            if (lane < count) {
                box_words<A> words{};
                of_tile = words.wait(box);
                if (told) {
                    detail::empty_box(box);
                }
            }
            __syncwarp();
            of_tile = fold_lanes(of_tile, count, op);
            if (lane == 0) {
                of_group[g] = of_tile;
            }
        }
        __syncthreads();
        if (!told && threadIdx.x == 0) {
            left_before = atomicAdd(left, 1u);
        }
        if (tile != 0) {
            A earlier = fold_lanes(of_group[lane < groups ? lane : groups - 1], groups, op);
            if constexpr (How::has_first) {
                earlier = op(elements.how.first, earlier);
            }
            earlier = warp::shuffle(earlier, 0);
            front = has_front ? static_cast<A>(op(earlier, front)) : earlier;
            has_front = true;
        }
    }
    if constexpr (How::has_first) {
        if (tile == 0) {
            front = has_front ? static_cast<A>(op(elements.how.first, front)) : static_cast<A>(elements.how.first);
            has_front = true;
        }
    }

    const bool fast = inside && elements.out_runs;
    const auto no_heads = [](unsigned) { return false; };
#pragma unroll
    for (unsigned r = 0; r < rows; ++r) {
        A sum = front;
        bool fresh = false; // nothing stands before the run
        if (r != 0 || lane != 0) {
            sum = has_front ? static_cast<A>(op(front, before[r])) : before[r];
        } else {
            fresh = !has_front;
        }
        U results[run];
        elements.scan_run(
            sum, fresh, r == 0 ? skip : 0, [&](unsigned j) { return value(r, j); }, no_heads, results);
        if (fast) {
            elements.store_whole(first + r * Work::row, results);
        } else {
            elements.store(first + r * Work::row, inside, results);
        }
    }
    if (gridDim.x != 1 && !told && warp == 0 && warp::shuffle(left_before, 0) + 1 == gridDim.x) {
        for (unsigned k = lane; k + 1 < gridDim.x; k += warp::lanes) {
            detail::empty_box(&boxes[k]);
        }
        if (lane == 0) {
            atomicExch(left, 0u);
        }
    }
}

// How n elements, with what is missing in front, are cut into tiles; 0 tiles where they are too many.
struct scan_once_shape {
    static constexpr tuning::scan_once how = tuning::scan_once_default;
    static constexpr unsigned readable = warp::lanes * warp::lanes + 1; // tiles
    static_assert(std::max({how.few_tiles, how.tiles, how.wide_tiles, how.many_tiles}) <= readable);

    // `most`: tiles of many.
    scan_once_shape(std::uint64_t n, unsigned run, unsigned most = how.many_tiles) {
        const std::uint64_t row = std::uint64_t{run} * warp::lanes, all = (n + row - 1) / row;
        const auto tiles_of = [&](unsigned warps_, unsigned rows) {
            return (all + warps_ * rows - 1) / (warps_ * rows);
        };
        std::uint64_t count = 1;
        if (const std::uint64_t alone = tiles_of(1, how.rows); alone <= how.alone) {
            warps = static_cast<unsigned>(alone);
        } else if (count = tiles_of(how.few_warps, how.rows); count <= how.few_tiles) {
            warps = how.few_warps;
        } else if (count = tiles_of(how.warps, how.rows); count <= how.tiles) {
            warps = how.warps;
        } else if (count = tiles_of(how.many_warps, how.rows); count <= how.wide_tiles) {
            warps = how.many_warps;
        } else {
            count = tiles_of(how.many_warps, how.many_rows);
            warps = how.many_warps;
            many = true;
        }
        tiles = count <= most || !many ? static_cast<unsigned>(count) : 0;
    }
    // Of memory for tiles that are told every total, or not.
    static std::size_t bytes_of(unsigned tiles, bool told, std::size_t box) {
        return tiles == 1 ? 0 : 16 + (told ? boxes_before(tiles) : tiles) * box;
    }
    // The most bytes that a scan of up to n elements takes.
    static std::size_t bytes(std::uint64_t n, unsigned run, std::size_t box) {
        const std::uint64_t tile = std::uint64_t{run} * warp::lanes * how.rows * std::min(how.few_warps, how.warps);
        constexpr std::uint64_t most = std::max({how.few_tiles, how.tiles, how.wide_tiles, how.many_tiles});
        const auto tiles = static_cast<unsigned>(std::min(most, n / tile + 1));
        return std::max(bytes_of(tiles, false, box), bytes_of(std::min(tiles, how.told_tiles), true, box));
    }

    unsigned warps = 0, tiles = 0;
    bool many = false;
};

template <class Elements>
void launch_scan_once(const gpu& on, const Elements& elements, const scan_once_shape& shape, const char* call) {
    const auto launch = [&](auto work) {
        using Work = decltype(work);
        const bool told = Work::tells(shape.tiles);
        const call_memory memory(
            on, scan_once_shape::bytes_of(shape.tiles, told, sizeof(mailbox<typename Elements::A>)), 0, call);
        work.memory = memory.boxes();
        launch_after(facts_of<&scan_once_kernel<Work>>(), &scan_once_kernel<Work>, shape.tiles,
                     shape.warps * warp::lanes, 0, on.stream, work);
    };
    if (shape.many) {
        launch(scan_once_work<Elements, true>{elements, nullptr});
    } else {
        launch(scan_once_work<Elements, false>{elements, nullptr});
    }
}

} // namespace warpfold::detail
