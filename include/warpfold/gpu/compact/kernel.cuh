// SPDX-License-Identifier: MIT
// The kernel of reductions by key and of compactions, except those of long arrays (long_selection.cuh): one launch, one
// pass over memory, one tile a block. A block loads its tile, finds the total of each thread's runs, publishes the tile's,
// gets its prefix (gpu/scan/tile_prefix.cuh) and writes the tile's results. What totals and results are is the task's:
// selection.cuh, keyed_fold.cuh, run_lengths.cuh.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "warpfold/block/scan.cuh"
#include "warpfold/gpu/compact/tile_rows.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/scan/all_tiles_prefix.cuh"
#include "warpfold/gpu/scan/elements.cuh"
#include "warpfold/gpu/scan/grouped_prefix.cuh"
#include "warpfold/tuning/compact.hpp"

namespace warpfold::detail {

// The tile of a task, as one of its threads sees it.
//   layout      run and bytes of the elements; `first_input(task)`, which decides where tiles begin
//   prefetch(task, rows, tiles)   asks the L2 cache for the inputs of the tile `tiles` further on; may be missing
//   tiles_of(kernels), few_registers   how large tiles are, and whether so many blocks can be resident
//   staged_arrays   how many arrays are read by way of shared memory; 0: none, each thread has several runs
//   local_type, total_type<N>   totals in a tile, and of all tiles, with counts of type N; sums(task) joins either
//   total(r)    of the run in row r
//   widened<Total>(total)   the tile's, as one of all tiles
//   write(...)  the results, from the totals before the thread's runs, before the tile, and of the tile
template <class Task>
struct compact_layout;
template <class Task, class Shape>
class compact_tile;

// Of how many tiles a launch is. What each tile reads of the others depends on it, and how large tiles are.
enum class tile_range {
    of_short, // smaller tiles; every pair has a slot of its own
    few,      // every tile reads the totals of all tiles before it
    many,     // of its group, and of groups
    huge      // the same, of 2^31 elements and more
};

// How the elements of a task stand in tiles. `Short`: in those of short arrays.
template <class Kernels, class Layout, bool Short = false>
struct compact_shape {
    static constexpr tuning::compact_tiles tiles =
        Short ? Kernels::value.short_arrays : Layout::tiles_of(Kernels::value);
    static constexpr std::size_t bytes = Layout::bytes;
    // A vector of the input, unless it makes tiles larger than twice the policy's.
    static constexpr unsigned vector =
        scan_run_of(Layout::read_bytes) * bytes <= 2 * tiles.bytes_per_thread ? scan_run_of(Layout::read_bytes) : 1;
    static constexpr unsigned vectors =
        vector * bytes >= tiles.bytes_per_thread ? 1 : static_cast<unsigned>(tiles.bytes_per_thread / (vector * bytes));
    // A run is as long as a thread's elements where they are staged, up to the bits of a word; else a vector.
    static constexpr unsigned run_of(unsigned run) {
        return Layout::staged_arrays == 0 || 2 * run > vector * vectors || 2 * run > 32 ? run : run_of(2 * run);
    }
    static constexpr unsigned run = run_of(vector), rows = vector * vectors / run;

    static constexpr unsigned threads_of(unsigned threads) {
        return threads == warp::lanes ||
                       threads * rows * run * bytes * (run == vector ? 1 : Layout::staged_arrays) <= 36864
                   ? threads
                   : threads_of(threads / 2 / warp::lanes * warp::lanes);
    }
    static constexpr unsigned threads = threads_of(Kernels::value.block_threads), warps = threads / warp::lanes;
    static constexpr unsigned tile = threads * rows * run; // elements
    using rows_type = tile_rows<run, rows, vector>;
    static_assert(tile * bytes <= 36864, "elements of more than 1,152 bytes");

    // No array of n elements has more, wherever it begins.
    WARPFOLD_HD static constexpr std::uint64_t tiles_of(std::uint64_t n, unsigned shift = vector - 1) {
        return n == 0 ? 1 : (n + shift + tile - 1) / tile;
    }
};

template <class Kernels, class Task, class Count, class Place, tile_range Tiles>
struct compact_plan {
    using task_type = Task;
    using layout = compact_layout<Task>;
    using shape = compact_shape<Kernels, layout, Tiles == tile_range::of_short>;
    static constexpr unsigned least_blocks = layout::few_registers ? shape::tiles.resident_blocks : 1;
    static constexpr bool in_groups = Tiles == tile_range::many || Tiles == tile_range::huge;
    static constexpr bool has_private = Tiles == tile_range::of_short;
    // Of elements before a tile. A total of half the words takes half the loads.
    using number_type = std::conditional_t<Tiles == tile_range::huge, std::uint64_t, unsigned>;
    using total_type = typename layout::template total_type<number_type>;
    using prefix_type = std::conditional_t<in_groups, grouped_prefix<total_type, false>, all_tiles_prefix<total_type>>;
    static constexpr unsigned most_tiles = in_groups ? ~0u : all_tiles_prefix<total_type>::most_tiles;

    // Of the workspace, for up to so many tiles, of which the plan has at most most_tiles.
    static std::size_t prefix_bytes(std::uint64_t tiles) {
        if constexpr (in_groups) {
            return prefix_type::bytes(tiles);
        } else {
            return prefix_type::bytes(static_cast<unsigned>(std::min<std::uint64_t>(tiles, most_tiles)), has_private);
        }
    }
    __device__ prefix_type tile_prefix(typename prefix_type::storage& shared, unsigned tiles) const {
        if constexpr (in_groups) {
            return {workspace, shared, tiles, in_place};
        } else {
            return {workspace, has_private, shared, tiles, in_place};
        }
    }

    Task task;
    Count count;
    Place place; // of the number of results
    void* workspace;
    unsigned ahead; // tiles of the blocks that are resident at once
    unsigned shift; // so many elements before the input it is aligned to a run
    bool in_place;
};

template <class Plan>
__global__ void __launch_bounds__(Plan::shape::threads, Plan::least_blocks) compact_kernel(const Plan plan) {
    using Layout = typename Plan::layout;
    using Shape = typename Plan::shape;
    using Rows = typename Shape::rows_type;
    using Tile = compact_tile<typename Plan::task_type, Shape>;
    using Local = typename Layout::local_type;
    using Total = typename Plan::total_type;
    using Prefix = typename Plan::prefix_type;
    __shared__ typename Tile::storage tile_storage;
    __shared__ typename Prefix::storage prefix_storage;
    __shared__ block::scan_storage<Local, Shape::warps> storage;
    pdl_trigger();
    pdl_wait();
    const std::uint64_t n = plan.count.value();
    const auto tiles = static_cast<unsigned>(Shape::tiles_of(n, plan.shift));
    if (blockIdx.x >= tiles) {
        return;
    }
    if (n == 0) {
        if (threadIdx.x == 0) {
            detail::write_number(plan.place, 0);
        }
        return;
    }

    const auto op = Layout::sums(plan.task);
    const Rows rows(plan.shift, n);
    if constexpr (requires { Layout::prefetch(plan.task, rows, plan.ahead); }) {
        if (plan.ahead < tiles) {
            Layout::prefetch(plan.task, rows, plan.ahead); // so that memory is busy while blocks wait for each other
        }
    }
    Tile tile(plan.task, rows, tile_storage);
    Local before[Shape::rows];
#pragma unroll
    for (unsigned r = 0; r < Shape::rows; ++r) {
        before[r] = tile.total(r);
    }
    block::store_warp_total(storage, scan_run_totals<Shape::run>(before, op), 0);
    __syncthreads();
    const block::warp_totals<Local> warps = block::scan_warp_totals(storage, op, Shape::warps);
    const Local in_tile = warps.before(), total = warps.total(Shape::warps);
    Total prefix{};
    Prefix tile_prefix = plan.tile_prefix(prefix_storage, tiles);
    const auto of_tile = tile.template widened<Total>(total);
    if (tiles != 1) {
        tile_prefix.publish(of_tile);
        prefix = tile_prefix.before(of_tile, Total{}, op);
    }
#pragma unroll
    for (unsigned r = 0; r < Shape::rows; ++r) {
        if (r == 0 && threadIdx.x % warp::lanes == 0) {
            before[r] = threadIdx.x == 0 ? Local{} : in_tile;
        } else if (threadIdx.x >= warp::lanes) {
            before[r] = op(in_tile, before[r]);
        }
    }
    if (blockIdx.x == tiles - 1 && threadIdx.x == 0) {
        detail::write_number(plan.place, Layout::count_of(prefix) + Layout::count_of(of_tile));
    }
    tile.write(before, prefix, total, plan.in_place);
    if (tiles != 1) {
        tile_prefix.release();
    }
}

} // namespace warpfold::detail
