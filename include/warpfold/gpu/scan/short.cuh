// SPDX-License-Identifier: MIT
// Scans of short arrays on a GPU: one tile a block, kept in registers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/core/turns.cuh"
#include "warpfold/gpu/scan/all_tiles_prefix.cuh"
#include "warpfold/gpu/scan/one_tile.cuh"
#include "warpfold/tuning/scan.hpp"

namespace warpfold::detail {

// `Many`: tiles as the longer arrays among the short ones have them.
template <class Kernels, class Elements, bool Many>
struct short_plan {
    using elements_type = Elements;
    using prefix_type = all_tiles_prefix<typename Elements::A>;
    static constexpr tile_memory memory = tile_memory::registers;
    static constexpr unsigned rows = Many ? Kernels::value.short_tall_rows : Kernels::value.short_rows;
    static constexpr unsigned most_warps = Kernels::value.short_max_block_threads / warp::lanes;
    static constexpr unsigned tile = most_warps * rows * Elements::run * warp::lanes; // elements, at most
    // Two blocks on a multiprocessor, since up to short_resident_max_tiles tiles are to be resident at once; tall tiles of
    // elements of 2 bytes need more registers than that leaves.
    static constexpr unsigned least_blocks =
        sizeof(typename Elements::A) <= 8 && most_warps <= 16 && !(Many && Elements::bytes == 2) ? 2 : 1;
    static_assert(most_warps <= warp::lanes);

    // Whether each pair of tiles has a slot of its own. A plan that never has them saves registers.
    __host__ __device__ static constexpr bool has_private(unsigned tiles) {
        return !Many && tiles <= Kernels::value.short_private_max_tiles;
    }
    // Not where all tiles are resident at once and fill the device: there prefetches only take time of the L2 cache.
    __device__ static constexpr bool prefetches(unsigned tiles) {
        return !Many || tiles > Kernels::value.short_resident_max_tiles;
    }
    __device__ static constexpr unsigned row_count() { return rows; }
    __device__ static unsigned warp_count() { return blockDim.x / warp::lanes; }
    __device__ prefix_type tile_prefix(typename prefix_type::storage& shared) const {
        return {workspace, has_private(gridDim.x), shared};
    }

    Elements elements;
    void* workspace;
};

// The same, of blocks that begin in turn.
template <class Kernels, class Elements>
struct tall_plan : short_plan<Kernels, Elements, true> {
    block_turns turns;
};

// How n elements, with what is missing in front, are cut into tiles; 0 tiles where they are too many.
struct short_shape {
    // `most_many`: so many tiles at most where `many`.
    template <class Policy>
    short_shape(const Policy& policy, std::uint64_t n, unsigned run, unsigned most_many) {
        constexpr tuning::scan_kernels kernels = Policy::kernels;
        static_assert(Policy::max_short_tiles <= all_tiles_prefix<int>::most_tiles);
        const std::uint64_t row = std::uint64_t{run} * warp::lanes, all = (n + row - 1) / row;
        const auto tiles_of = [&](unsigned threads_, unsigned rows) {
            const unsigned rows_of_tile = threads_ / warp::lanes * rows;
            return (all + rows_of_tile - 1) / rows_of_tile;
        };
        std::uint64_t count = 1;
        constexpr unsigned rows = kernels.short_rows, largest = kernels.short_max_block_threads;
        if (const std::uint64_t warps = tiles_of(warp::lanes, rows);
            warps * warp::lanes <= policy.one_block_max_threads) {
            threads = static_cast<unsigned>(warps) * warp::lanes;
        } else if (count = tiles_of(policy.small_block_threads, rows); count <= policy.small_block_max_tiles) {
            threads = policy.small_block_threads;
        } else if (count = tiles_of(policy.medium_block_threads, rows); count <= policy.medium_block_max_tiles) {
            threads = policy.medium_block_threads;
        } else if (count = tiles_of(largest, rows); count <= kernels.short_resident_max_tiles) {
            threads = largest;
        } else {
            count = tiles_of(largest, kernels.short_tall_rows);
            threads = largest;
            many = true;
        }
        tiles = count <= most_many || !many ? static_cast<unsigned>(count) : 0;
    }
    // Of the elements, whose `T` is read.
    template <class Policy, class Elements>
    static short_shape of(const Policy& policy, const Elements& elements) {
        // Where less is read than written, a tile in registers has less in flight, and pays only up to fewer tiles.
        return {policy, elements.n + elements.shift, Elements::run,
                static_cast<unsigned>(policy.tall_max_tiles * sizeof(typename Elements::T) / Elements::bytes)};
    }
    // The most bytes of workspace that a scan of up to n elements takes, folded in A.
    template <class A, class Policy>
    static std::size_t workspace_bytes(const Policy& policy, std::uint64_t n, unsigned run) {
        constexpr tuning::scan_kernels kernels = Policy::kernels;
        const std::uint64_t tile =
            std::uint64_t{run} * kernels.short_rows * std::min(policy.small_block_threads, policy.medium_block_threads);
        const std::uint64_t most = std::max({policy.small_block_max_tiles, policy.medium_block_max_tiles,
                                             kernels.short_resident_max_tiles, policy.tall_max_tiles});
        const auto tiles = static_cast<unsigned>(std::min(most, n / tile + 1));
        return std::max(all_tiles_prefix<A>::bytes(tiles, false),
                        all_tiles_prefix<A>::bytes(std::min(tiles, kernels.short_private_max_tiles), true));
    }

    unsigned threads = 0, tiles = 0;
    bool many = false;
};

template <class Kernels, class Elements>
void launch_short(const gpu& on, const Elements& elements, const short_shape& shape, const char* call) {
    const auto launch = [&](auto plan) {
        using Plan = decltype(plan);
        const bool with_private = Plan::has_private(shape.tiles);
        const call_memory memory(on, Plan::prefix_type::bytes(shape.tiles, with_private), 0, call);
        plan.workspace = memory.slots();
        const kernel_properties facts = properties_of<&one_tile_kernel<Plan>>({Plan::most_warps * warp::lanes});
        if constexpr (requires { plan.turns; }) {
            plan.turns = block_turns::of(shape.tiles, facts.resident_blocks, Plan::tile * sizeof(typename Elements::T));
        }
        pdl_launch(facts, &one_tile_kernel<Plan>, shape.tiles, shape.threads, 0, on.stream, plan);
    };
    if (shape.many) {
        launch(tall_plan<Kernels, Elements>{{elements, nullptr}, {}});
    } else {
        launch(short_plan<Kernels, Elements, false>{elements, nullptr});
    }
}

} // namespace warpfold::detail
