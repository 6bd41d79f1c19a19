// SPDX-License-Identifier: MIT
// Scans on a GPU that the faster kernels do not take: in segments, of elements of more than 16 bytes, of a number of
// elements that is on the device. One tile a block,
// kept in shared memory; any number of tiles. Few tiles read each other's totals at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/element_count.hpp"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/scan/all_tiles_prefix.cuh"
#include "warpfold/gpu/scan/grouped_prefix.cuh"
#include "warpfold/gpu/scan/one_tile.cuh"
#include "warpfold/tuning/scan.hpp"

namespace warpfold::detail {

// How elements are laid out in a tile whose larger ones have so many bytes.
template <class Policy, std::size_t Bytes>
struct general_layout {
    static constexpr tuning::scan_kernels kernels = Policy::kernels;
    static constexpr unsigned run = scan_run_of(Bytes);
    static constexpr unsigned rows =
        std::max<unsigned>(1, kernels.general_max_bytes_per_thread / (run * Bytes)); // at most
    static constexpr unsigned warps = kernels.general_block_threads / warp::lanes;
    static constexpr std::uint64_t of_block =
        std::uint64_t{run} * warp::lanes * warps; // elements in a row of each warp

    // How many rows a warp has. Short arrays are one block's; longer ones get as many blocks as the policy says, and then
    // tiles grow, until they have become as large as they can.
    static unsigned rows_of(const Policy& policy, std::uint64_t n) {
        const std::uint64_t all = (n + of_block - 1) / of_block;
        const std::uint64_t wanted =
            all <= policy.general_one_block_max_rows
                ? all
                : (all + policy.general_blocks_before_growth - 1) / policy.general_blocks_before_growth;
        return static_cast<unsigned>(std::min<std::uint64_t>(wanted, rows));
    }
    static std::uint64_t tiles_of(const Policy& policy, std::uint64_t n) {
        const std::uint64_t size = of_block * rows_of(policy, n);
        return (n + size - 1) / size;
    }
    // No scan of up to n elements has more, wherever they begin.
    static std::uint64_t most_tiles(const Policy& policy, std::uint64_t n) {
        const std::uint64_t all = (n + run + of_block - 1) / of_block;
        return std::max(tiles_of(policy, n + run), std::min<std::uint64_t>(all, policy.general_blocks_before_growth));
    }
};

template <class Kernels, class Elements, bool Few>
struct general_plan {
    using elements_type = Elements;
    using A = typename Elements::A;
    using layout = general_layout<tuning::scan_policy<Kernels::value>, Elements::bytes>;
    static constexpr bool segmented = Elements::options_type::segmented;
    using prefix_type = std::conditional_t<Few, all_tiles_prefix<A, segmented>, grouped_prefix<A, segmented>>;
    static constexpr unsigned rows = layout::rows, most_warps = layout::warps;
    static constexpr unsigned tile = layout::of_block * rows; // elements, at most
    // Elements so large that a tile does not fit are read twice.
    static constexpr tile_memory memory =
        tile * sizeof(typename Elements::T) <= 40960 ? tile_memory::shared : tile_memory::none;
    static constexpr unsigned least_blocks = sizeof(A) <= 8 ? Kernels::value.general_resident_blocks : 1;

    __device__ static constexpr bool prefetches(unsigned) { return false; }
    [[nodiscard]] __device__ unsigned row_count() const { return rows_of_warp; }
    __device__ static constexpr unsigned warp_count() { return most_warps; }
    __device__ prefix_type tile_prefix(typename prefix_type::storage& shared) const {
        return prefix_of_tiles(shared, gridDim.x);
    }
    __device__ prefix_type prefix_of_tiles(typename prefix_type::storage& shared, unsigned tiles) const {
        if constexpr (Few) {
            return {workspace, false, shared, tiles};
        } else {
            return {workspace, shared, tiles};
        }
    }
    static std::size_t prefix_bytes(unsigned tiles) {
        if constexpr (Few) {
            return prefix_type::bytes(tiles, false);
        } else {
            return prefix_type::bytes(tiles);
        }
    }

    Elements elements;
    void* workspace;
    unsigned rows_of_warp;
};

// A scan whose number of elements is on the device. Blocks behind its tiles do nothing.
template <class Plan, class Count>
struct counted_plan : Plan {
    using prefix_type = typename Plan::prefix_type;

    __device__ prefix_type tile_prefix(typename prefix_type::storage& shared) const {
        return this->prefix_of_tiles(shared, tiles);
    }

    Count count;
    unsigned tiles;
};

template <class Plan>
__global__ void __launch_bounds__(Plan::most_warps* warp::lanes, Plan::least_blocks)
    counted_scan_kernel(const Plan plan) {
    pdl_trigger();
    pdl_wait();
    Plan own = plan;
    own.elements.set_count(plan.count.value());
    const std::uint64_t size = Plan::layout::of_block * plan.rows_of_warp;
    own.tiles = static_cast<unsigned>((own.elements.n + own.elements.shift + size - 1) / size);
    if (own.elements.n != 0 && blockIdx.x < own.tiles) {
        scan_one_tile(own, own.tiles);
    }
}

template <bool Few, class Policy, class Elements, class Count>
void launch_general_tiles(const gpu& on, const Elements& elements, const Count& count, unsigned tiles, unsigned rows,
                          const char* call) {
    using Plan = general_plan<kernels_of<Policy>, Elements, Few>;
    const call_memory memory(on, Plan::prefix_bytes(tiles), 0, call);
    const Plan plan{elements, memory.slots(), rows};
    if constexpr (is_count_at_v<Count>) {
        using Counted = counted_plan<Plan, Count>;
        const Counted counted{plan, count, tiles};
        pdl_launch(properties_of<&counted_scan_kernel<Counted>>(), &counted_scan_kernel<Counted>, tiles,
                   Policy::kernels.general_block_threads, 0, on.stream, counted);
    } else {
        pdl_launch(properties_of<&one_tile_kernel<Plan>>(), &one_tile_kernel<Plan>, tiles,
                   Policy::kernels.general_block_threads, 0, on.stream, plan);
    }
}

template <class Policy, class Elements, class Count>
void launch_general(const gpu& on, const Policy& policy, const Elements& elements, const Count& count,
                    const char* call) {
    using layout = general_layout<Policy, Elements::bytes>;
    // Reversed, the shift depends on the number.
    constexpr bool shift_unknown = is_count_at_v<Count> && Elements::options_type::reverse;
    const std::uint64_t all = elements.n + (shift_unknown ? layout::run - 1 : elements.shift);
    const unsigned tiles = checked_tiles(layout::tiles_of(policy, all), call), rows = layout::rows_of(policy, all);
    if (tiles <= all_tiles_prefix<typename Elements::A>::most_tiles) {
        launch_general_tiles<true, Policy>(on, elements, count, tiles, rows, call);
    } else {
        launch_general_tiles<false, Policy>(on, elements, count, tiles, rows, call);
    }
}

} // namespace warpfold::detail
