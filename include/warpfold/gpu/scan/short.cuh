// SPDX-License-Identifier: MIT
// Scans of short arrays on a GPU: one tile a block, kept in registers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/scan/all_tiles_prefix.cuh"
#include "warpfold/gpu/scan/one_tile.cuh"
#include "warpfold/tuning/scan.hpp"

namespace warpfold::detail {

inline constexpr tuning::scan_once short_tuning = tuning::scan_once_default;

// `Many`: tiles as the longer arrays among the short ones have them.
template <class Elements, bool Many>
struct short_plan {
    using elements_type = Elements;
    using prefix_type = all_tiles_prefix<typename Elements::A>;
    static constexpr tile_memory memory = tile_memory::registers;
    static constexpr unsigned rows = Many ? short_tuning.many_rows : short_tuning.rows;
    static constexpr unsigned most_warps =
        Many ? short_tuning.many_warps
             : std::max({short_tuning.alone, short_tuning.warps, short_tuning.few_warps, short_tuning.many_warps});
    static constexpr unsigned tile = most_warps * rows * Elements::run * warp::lanes; // elements, at most
    // On a multiprocessor, to find registers for; elements of 2 bytes need more of them than two blocks leave.
    static constexpr unsigned least_blocks = Many && sizeof(typename Elements::A) <= 8 && Elements::bytes != 2 ? 2 : 1;
    static_assert(most_warps <= warp::lanes);

    // Whether each pair of tiles has a flagged_slot of its own. A plan that never has them saves registers.
    __host__ __device__ static constexpr bool has_private(unsigned tiles) {
        return !Many && tiles <= short_tuning.told_tiles;
    }
    // Not where all tiles are resident at once and fill the device: there prefetches only take time of the L2 cache.
    __device__ static constexpr bool prefetches(unsigned tiles) { return !Many || tiles > short_tuning.wide_tiles; }
    __device__ static constexpr unsigned row_count() { return rows; }
    __device__ static unsigned warp_count() { return blockDim.x / warp::lanes; }
    __device__ prefix_type tile_prefix(typename prefix_type::storage& shared) const {
        return {workspace, has_private(gridDim.x), shared};
    }

    Elements elements;
    void* workspace;
};

// How n elements, with what is missing in front, are cut into tiles; 0 tiles where they are too many.
struct short_shape {
    static constexpr tuning::scan_once tuned = short_tuning;
    static constexpr std::uint64_t most =
        std::max({tuned.few_tiles, tuned.tiles, tuned.wide_tiles, tuned.many_tiles}); // tiles
    static_assert(most <= all_tiles_prefix<int>::most_tiles);

    // `most_many`: so many tiles at most where `many`.
    short_shape(std::uint64_t n, unsigned run, unsigned most_many) {
        const std::uint64_t row = std::uint64_t{run} * warp::lanes, all = (n + row - 1) / row;
        const auto tiles_of = [&](unsigned warps_, unsigned rows) {
            return (all + warps_ * rows - 1) / (warps_ * rows);
        };
        std::uint64_t count = 1;
        if (const std::uint64_t alone = tiles_of(1, tuned.rows); alone <= tuned.alone) {
            warps = static_cast<unsigned>(alone);
        } else if (count = tiles_of(tuned.few_warps, tuned.rows); count <= tuned.few_tiles) {
            warps = tuned.few_warps;
        } else if (count = tiles_of(tuned.warps, tuned.rows); count <= tuned.tiles) {
            warps = tuned.warps;
        } else if (count = tiles_of(tuned.many_warps, tuned.rows); count <= tuned.wide_tiles) {
            warps = tuned.many_warps;
        } else {
            count = tiles_of(tuned.many_warps, tuned.many_rows);
            warps = tuned.many_warps;
            many = true;
        }
        tiles = count <= most_many || !many ? static_cast<unsigned>(count) : 0;
    }
    // Of the elements, whose `T` is read.
    template <class Elements>
    static short_shape of(const Elements& elements) {
        // Where less is read than written, a tile in registers has less in flight, and pays only up to fewer tiles.
        return {elements.n + elements.shift, Elements::run,
                static_cast<unsigned>(tuned.many_tiles * sizeof(typename Elements::T) / Elements::bytes)};
    }
    // The most bytes of workspace that a scan of up to n elements takes, folded in A.
    template <class A>
    static std::size_t workspace_bytes(std::uint64_t n, unsigned run) {
        const std::uint64_t tile =
            std::uint64_t{run} * warp::lanes * tuned.rows * std::min(tuned.few_warps, tuned.warps);
        const auto tiles = static_cast<unsigned>(std::min(most, n / tile + 1));
        return std::max(all_tiles_prefix<A>::bytes(tiles, false),
                        all_tiles_prefix<A>::bytes(std::min(tiles, tuned.told_tiles), true));
    }

    unsigned warps = 0, tiles = 0;
    bool many = false;
};

template <class Elements>
void launch_short(const gpu& on, const Elements& elements, const short_shape& shape, const char* call) {
    const auto launch = [&](auto plan) {
        using Plan = decltype(plan);
        const bool with_private = Plan::has_private(shape.tiles);
        const call_memory memory(on, Plan::prefix_type::bytes(shape.tiles, with_private), 0, call);
        plan.workspace = memory.slots();
        pdl_launch(properties_of<&one_tile_kernel<Plan>>(), &one_tile_kernel<Plan>, shape.tiles,
                   shape.warps * warp::lanes, 0, on.stream, plan);
    };
    if (shape.many) {
        launch(short_plan<Elements, true>{elements, nullptr});
    } else {
        launch(short_plan<Elements, false>{elements, nullptr});
    }
}

} // namespace warpfold::detail
