// SPDX-License-Identifier: MIT
// Scans of long arrays on a GPU: as many blocks as fit, each of which goes from tile to tile (persistent_block.cuh).
//
// In a tile each thread has consecutive elements, `chunks` runs of 16 bytes, so that a warp's scan is paid once for all
// of them. Memory is accessed in rows of neighbouring runs; each warp exchanges the two arrangements in its own part of
// the stage in shared memory (block::warp_runs).
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "warpfold/block/exchange.cuh"
#include "warpfold/block/scan.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/scan/elements.cuh"
#include "warpfold/gpu/scan/persistent_block.cuh"
#include "warpfold/tuning/scan.hpp"

namespace warpfold::detail {

template <class Plan>
class warp_part;

template <class Kernels, class Elements>
struct persistent_plan {
    using elements_type = Elements;
    using local_type = typename Elements::A;
    using total_type = local_type;
    using widen_type = same_total;
    using part_type = warp_part<persistent_plan>;
    static constexpr bool has_first = Elements::options_type::has_first;
    using T = typename Elements::T;
    using U = typename Elements::U;
    static constexpr tuning::scan_kernels kernels = Kernels::value;
    static constexpr unsigned run = Elements::run, chunks = kernels.long_runs_per_thread;
    static constexpr unsigned threads = kernels.long_block_threads, resident_blocks = kernels.long_resident_blocks;
    static constexpr unsigned stages = kernels.long_stages, ahead = kernels.long_tiles_ahead, held = stages + 1;
    static constexpr unsigned warps = threads / warp::lanes;
    static constexpr unsigned of_warp = warp::lanes * chunks * run; // elements
    static constexpr unsigned tile = of_warp * warps;               // elements
    // Where the map takes an index, its results have the elements' place, unless they are of another size.
    static constexpr bool holds_values = Elements::map_takes_index && sizeof(local_type) == sizeof(T);
    using held_type = std::conditional_t<holds_values, local_type, T>;
    using fetched_runs = block::warp_runs<T, run, chunks>;
    using read_runs = block::warp_runs<held_type, run, chunks>;
    using written_runs = block::warp_runs<U, run, chunks>;
    static constexpr unsigned warp_bytes = std::max(read_runs::bytes, written_runs::bytes);
    static constexpr unsigned stage_bytes = warp_bytes * warps;
    static constexpr std::size_t shared = std::size_t{stage_bytes} * stages;
    static_assert(stages >= ahead + 2 && ahead >= 1 && warps <= warp::lanes);

    static std::uint64_t tiles_of(std::uint64_t n) { return (n + tile - 1) / tile; }
    static unsigned slots_of(std::uint64_t tiles, unsigned blocks) {
        return tile_ring<typename Elements::A>::slots_of(tiles, held, ahead, blocks);
    }

    __device__ const auto& op() const { return elements.op; }
    __device__ const auto& first() const { return elements.options.first; }

    Elements elements;
    persistent_grid grid;
    unsigned tiles;
};

// The part of one warp in the tiles of its block.
template <class Plan>
class warp_part {
public:
    using Elements = typename Plan::elements_type;
    using T = typename Elements::T;
    using A = typename Elements::A;
    using U = typename Elements::U;
    using held_type = typename Plan::held_type;
    static constexpr unsigned run = Plan::run, chunks = Plan::chunks;

    __device__ warp_part(const Plan& plan, uint4* stages)
        : elements_(plan.elements),
          memory_(reinterpret_cast<unsigned char*>(stages) + threadIdx.x / warp::lanes * Plan::warp_bytes) {}

    // Asks the L2 cache for a tile.
    __device__ void prefetch(unsigned tile) const {
#pragma unroll
        for (unsigned r = 0; r < chunks; ++r) {
            elements_.prefetch(begin_of(tile) + in_row(r));
        }
    }

    // Starts to copy a tile into a stage.
    __device__ void fetch(unsigned stage, unsigned tile) const {
        const std::uint64_t begin = begin_of(tile);
        const bool inside = is_inside(tile);
        const typename Plan::fetched_runs runs(memory_ + stage * Plan::stage_bytes);
        elements_.reading(inside, [&](auto vectors) {
#pragma unroll(decltype(vectors)::value ? chunks : 1)
            for (unsigned r = 0; r < chunks; ++r) {
                elements_.fetch(begin + in_row(r), decltype(vectors)::value, inside, runs.in_row(r));
            }
        });
    }

    // The first pass over a tile: op over the elements of the thread and of the lanes before.
    __device__ A fold(unsigned stage, unsigned tile) {
        if constexpr (Plan::holds_values) {
            map_elements(stage, tile);
        }
        const typename Plan::read_runs runs(memory_ + stage * Plan::stage_bytes);
        A sum{};
#pragma unroll
        for (unsigned c = 0; c < chunks; ++c) {
            held_type items[run];
            Elements::take(runs.blocked(c), items);
            scan_run(tile, c, items, sum, true, [](unsigned, const A&) {});
        }
        const A through = warp::inclusive_scan(sum, elements_.op);
        before_[Plan::ahead] = warp::shuffle_up(through, 1);
        return through;
    }
    __device__ void next() {
#pragma unroll
        for (unsigned k = 0; k < Plan::ahead; ++k) {
            before_[k] = before_[k + 1];
        }
    }

    // The second pass: `front`, if it is there, precedes the tile, then the warps before precede the warp.
    __device__ void finish(unsigned stage, unsigned tile, A front, bool has_front, const A& warps_before) const {
        const auto follow = [&](const A& more) {
            front = has_front ? static_cast<A>(elements_.op(front, more)) : more;
            has_front = true;
        };
        if (threadIdx.x >= warp::lanes) {
            follow(warps_before);
        }
        if (threadIdx.x % warp::lanes != 0) {
            follow(before_[0]);
        }
        scan_and_store(stage, tile, front, has_front);
    }

private:
    // Puts the map's results in the place of the elements, row by row: neighbouring lanes have neighbouring elements there.
    __device__ void map_elements(unsigned stage, unsigned tile) const {
        const typename Plan::fetched_runs from(memory_ + stage * Plan::stage_bytes);
        const typename Plan::read_runs to(memory_ + stage * Plan::stage_bytes);
#pragma unroll
        for (unsigned r = 0; r < chunks; ++r) {
            T items[run];
            A values[run];
            Elements::take(from.in_row(r), items);
#pragma unroll
            for (unsigned j = 0; j < run; ++j) {
                values[j] = elements_.value(items[j], begin_of(tile) + in_row(r) + j);
            }
            Elements::put(to.in_row(r), values);
        }
        __syncwarp();
    }
    // `front` precedes the thread, unless it is not there.
    __device__ void scan_and_store(unsigned stage, unsigned tile, A front, bool has_front) const {
        const typename Plan::read_runs items_of(memory_ + stage * Plan::stage_bytes);
        const typename Plan::written_runs results_of(memory_ + stage * Plan::stage_bytes);
        const auto scan = [&](unsigned c, const held_type(&items)[run]) {
            U results[run];
            scan_run(tile, c, items, front, !has_front,
                     [&](unsigned j, const A& result) { results[j] = static_cast<U>(result); });
            store_items(results_of.blocked(c), results);
        };
        constexpr bool same_place = Plan::read_runs::bytes == Plan::written_runs::bytes;
        held_type items[same_place ? 1 : chunks][run];
        if constexpr (!same_place) { // a result takes the place of another thread's elements
#pragma unroll
            for (unsigned c = 0; c < chunks; ++c) {
                Elements::take(items_of.blocked(c), items[c]);
            }
            __syncwarp();
        }
#pragma unroll
        for (unsigned c = 0; c < chunks; ++c) {
            if constexpr (same_place) {
                Elements::take(items_of.blocked(c), items[0]);
            }
            scan(c, items[same_place ? 0 : c]);
        }
        __syncwarp();
        const std::uint64_t begin = begin_of(tile);
        const bool inside = is_inside(tile);
        elements_.writing(inside, [&](auto vectors) {
#pragma unroll(decltype(vectors)::value ? chunks : 1)
            for (unsigned r = 0; r < chunks; ++r) {
                U results[run];
                load_items(static_cast<const U*>(results_of.in_row(r)), results);
                elements_.template store<false>(begin + in_row(r), decltype(vectors)::value, inside, results);
            }
        });
    }
    // The position of the warp's first element in a tile. It may wrap in tile 0, which then is not inside.
    [[nodiscard]] __device__ std::uint64_t begin_of(unsigned tile) const {
        return std::uint64_t{tile} * Plan::tile - elements_.shift + threadIdx.x / warp::lanes * Plan::of_warp;
    }
    // Whether all positions of the tile hold elements.
    [[nodiscard]] __device__ bool is_inside(unsigned tile) const {
        return (tile != 0 || elements_.shift == 0) &&
               std::uint64_t{tile + 1} * Plan::tile - elements_.shift <= elements_.n;
    }
    __device__ static unsigned in_row(unsigned r) { return (r * warp::lanes + threadIdx.x % warp::lanes) * run; }
    // The thread's c-th run. `fresh`: nothing precedes the thread.
    template <class Result>
    __device__ void scan_run(unsigned tile, unsigned c, const held_type (&items)[run], A& sum, bool fresh,
                             const Result& result) const {
        const std::uint64_t first = begin_of(tile) + (threadIdx.x % warp::lanes * chunks + c) * run;
        const unsigned skip = c == 0 && tile == 0 && threadIdx.x == 0 ? elements_.shift : 0;
        elements_.scan_run(
            sum, c == 0 && fresh, skip,
            [&](unsigned j) { return elements_.template value_of_item<Plan::holds_values>(items[j], first + j); },
            [](unsigned) { return false; }, result);
    }

    const Elements& elements_;
    unsigned char* memory_;
    A before_[Plan::ahead + 1] = {}; // what precedes the thread in its warp, in the present tile and the next ones
};

template <class Plan>
__global__ void __launch_bounds__(Plan::threads, Plan::resident_blocks) persistent_kernel(const Plan plan) {
    extern __shared__ uint4 stage_memory[];
    __shared__ typename persistent_block<Plan>::storage storage;
    if (!detail::takes_place(plan)) {
        return;
    }
    warp_part<Plan> part(plan, stage_memory);
    persistent_block<Plan> block(plan, plan.tiles, part, storage);
    part.prefetch(blockIdx.x); // as one of the first tiles some block takes it
    pdl_wait();
    block.begin();
    while (block.has_tile()) {
        block.publish_ahead();
        block.finish_tile();
        block.advance();
    }
    pdl_trigger();
    block.end();
}

template <class Kernels, class Elements>
void launch_persistent(const gpu& on, const Elements& elements, const char* call) {
    using Plan = persistent_plan<Kernels, Elements>;
    const unsigned tiles = checked_tiles(Plan::tiles_of(elements.n + elements.shift), call);
    constexpr auto kernel = &persistent_kernel<Plan>;
    const kernel_properties facts = persistent_properties<kernel, Plan>();
    const unsigned slots = Plan::slots_of(tiles, std::max(1u, std::min(facts.resident_blocks, tiles)));
    const call_memory memory(on, tile_ring<typename Elements::A>::bytes(slots), 0, call);
    const Plan plan{elements, detail::grid_of<Plan>(facts, memory.slots(), slots, false), tiles};
    launch_persistent_blocks<kernel>(facts, tiles, on.stream, plan);
}

} // namespace warpfold::detail
