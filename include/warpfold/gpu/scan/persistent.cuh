// SPDX-License-Identifier: MIT
// Scans of long arrays on a GPU: as many blocks as fit, each of which goes from tile to tile while its next ones are on
// their way into shared memory. A block publishes the total of its next tile before it finishes the present one, so that
// the totals that it needs for a prefix are mostly there when it reads them, and memory never waits for that.
//
// In a tile each thread has consecutive elements, `chunks` runs of 16 bytes, so that a warp's scan is paid once for all
// of them. Memory is accessed in rows of neighbouring runs; each warp exchanges the two arrangements in its own part of
// the stage in shared memory (block::warp_runs).
//
// A card that has too little shared memory for that (compute capability 7.5) has one tile a block instead of `stages`,
// which is fetched, published and finished before the next: other blocks use memory meanwhile. Tiles are the same, and
// so are results.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "warpfold/block/exchange.cuh"
#include "warpfold/block/scan.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/scan/elements.cuh"
#include "warpfold/gpu/scan/running_prefix.cuh"
#include "warpfold/tuning/scan.hpp"

namespace warpfold::detail {

template <class Elements>
struct persistent_plan {
    using elements_type = Elements;
    using T = typename Elements::T;
    using U = typename Elements::U;
    static constexpr tuning::scan_stream tuned = tuning::scan_stream_default;
    static constexpr unsigned run = Elements::run, chunks = tuned.chunks, threads = tuned.threads;
    static constexpr unsigned stages = tuned.stages, ahead = tuned.ahead, held = stages + 1;
    static constexpr unsigned warps = threads / warp::lanes;
    static constexpr unsigned of_warp = warp::lanes * chunks * run; // elements
    static constexpr unsigned tile = of_warp * warps;               // elements
    using read_runs = block::warp_runs<T, run, chunks>;
    using written_runs = block::warp_runs<U, run, chunks>;
    static constexpr unsigned warp_bytes = std::max(read_runs::bytes, written_runs::bytes);
    static constexpr unsigned stage_bytes = warp_bytes * warps;
    static constexpr std::size_t shared = std::size_t{stage_bytes} * stages;
    static_assert(stages >= ahead + 2 && ahead >= 1 && warps <= warp::lanes);

    static std::uint64_t tiles_of(std::uint64_t n) { return (n + tile - 1) / tile; }
    static unsigned slots_of(std::uint64_t tiles, unsigned blocks) {
        return tile_ring<typename Elements::A>::slots_of(tiles, held, ahead, blocks);
    }

    Elements elements;
    void* workspace;
    unsigned tiles, slots;
    bool one_stage; // one tile in shared memory
};

// The part of one warp in the tiles of its block.
template <class Plan>
class warp_part {
public:
    using Elements = typename Plan::elements_type;
    using T = typename Elements::T;
    using A = typename Elements::A;
    using U = typename Elements::U;
    static constexpr unsigned run = Plan::run, chunks = Plan::chunks;

    __device__ warp_part(const Plan& plan, uint4* stages)
        : elements_(plan.elements),
          tiles_(plan.tiles),
          memory_(reinterpret_cast<unsigned char*>(stages) + threadIdx.x / warp::lanes * Plan::warp_bytes) {}

    // Asks the L2 cache for a tile.
    __device__ void prefetch(unsigned tile) const {
#pragma unroll
        for (unsigned r = 0; r < chunks; ++r) {
            elements_.prefetch(begin_of(tile) + in_row(r));
        }
    }

    // Starts to copy a tile, if there are so many, into a stage.
    __device__ void fetch(unsigned stage, unsigned tile) const {
        if (tile < tiles_) {
            const std::uint64_t begin = begin_of(tile);
            const bool inside = is_inside(tile);
            const typename Plan::read_runs runs(memory_ + stage * Plan::stage_bytes);
            elements_.reading(inside, [&](auto vectors) {
#pragma unroll(decltype(vectors)::value ? chunks : 1)
                for (unsigned r = 0; r < chunks; ++r) {
                    elements_.fetch(begin + in_row(r), decltype(vectors)::value, inside, runs.in_row(r));
                }
            });
        }
        commit_copies();
    }

    // The first pass over a tile: op over the elements of the thread and of the lanes before.
    template <class Op>
    __device__ A fold(unsigned stage, unsigned tile, const Op& op) const {
        const typename Plan::read_runs runs(memory_ + stage * Plan::stage_bytes);
        const std::uint64_t begin = begin_of(tile);
        const unsigned missing = skip(tile);
        A sum{};
        bool head = false;
#pragma unroll
        for (unsigned c = 0; c < chunks; ++c) {
            T items[run];
            Elements::take(runs.blocked(c), items);
            elements_.fold_run(
                sum, head, c == 0, missing, [&](unsigned j) { return value(begin, c, j, items); }, no_head);
        }
        return warp::inclusive_scan(sum, op);
    }

    // The second pass: `front` precedes the thread, unless it is not there.
    __device__ void scan_and_store(unsigned stage, unsigned tile, A front, bool has_front) const {
        const typename Plan::read_runs items_of(memory_ + stage * Plan::stage_bytes);
        const typename Plan::written_runs results_of(memory_ + stage * Plan::stage_bytes);
        const std::uint64_t begin = begin_of(tile);
        const unsigned missing = skip(tile);
        const auto scan = [&](unsigned c, const T(&items)[run]) {
            U results[run];
            elements_.scan_run(
                front, c == 0 && !has_front, c == 0 ? missing : 0,
                [&](unsigned j) { return value(begin, c, j, items); }, no_head, results);
            store_items(results_of.blocked(c), results);
        };
        constexpr bool same_place = Plan::read_runs::bytes == Plan::written_runs::bytes;
        T items[same_place ? 1 : chunks][run];
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
        const bool inside = is_inside(tile);
        elements_.writing(inside, [&](auto vectors) {
#pragma unroll(decltype(vectors)::value ? chunks : 1)
            for (unsigned r = 0; r < chunks; ++r) {
                U results[run];
                load_items(static_cast<const U*>(results_of.in_row(r)), results);
                elements_.store(begin + in_row(r), decltype(vectors)::value, inside, results);
            }
        });
    }

private:
    // The position of the warp's first element in a tile. It may wrap in tile 0, which then is not inside.
    [[nodiscard]] __device__ std::uint64_t begin_of(unsigned tile) const {
        return std::uint64_t{tile} * Plan::tile - elements_.shift + threadIdx.x / warp::lanes * Plan::of_warp;
    }
    // Whether all positions of the tile hold elements.
    [[nodiscard]] __device__ bool is_inside(unsigned tile) const {
        return (tile != 0 || elements_.shift == 0) &&
               std::uint64_t{tile + 1} * Plan::tile - elements_.shift <= elements_.n;
    }
    // So many of the thread's first positions hold no element.
    [[nodiscard]] __device__ unsigned skip(unsigned tile) const {
        return tile == 0 && threadIdx.x == 0 ? elements_.shift : 0;
    }
    __device__ static unsigned in_row(unsigned r) { return (r * warp::lanes + threadIdx.x % warp::lanes) * run; }
    [[nodiscard]] __device__ A value(std::uint64_t begin, unsigned c, unsigned j, const T (&items)[run]) const {
        return elements_.value(items[j], begin + (threadIdx.x % warp::lanes * chunks + c) * run + j);
    }
    __device__ static constexpr bool no_head(unsigned) { return false; }

    const Elements& elements_;
    unsigned tiles_;
    unsigned char* memory_;
};

template <class Plan>
__global__ void __launch_bounds__(Plan::threads, Plan::tuned.blocks_per_multiprocessor)
    persistent_kernel(const Plan plan) {
    using A = typename Plan::elements_type::A;
    using prefix_type = running_prefix<A, Plan::warps>;
    constexpr unsigned stages = Plan::stages, ahead = Plan::ahead, sets = ahead + 2;
    extern __shared__ uint4 stage_memory[];
    __shared__ block::scan_storage<A, Plan::warps> totals[sets]; // of several tiles
    __shared__ typename prefix_type::storage prefix_storage;
    __shared__ unsigned tile_of[stages + 1]; // the tile in each stage; the last: the next one
    const auto& op = plan.elements.op;
    const unsigned warp = threadIdx.x / warp::lanes, tiles = plan.tiles;
    const bool one_stage = plan.one_stage;
    const warp_part<Plan> part(plan, stage_memory);
    const tile_ring<A> ring(plan.workspace, plan.slots);
    prefix_type prefix(ring, tiles, prefix_storage, plan.elements.options.first);
    const auto fold = [&](unsigned stage, unsigned t, unsigned set) { // what precedes the thread in its warp
        const A through = part.fold(stage, t, op);
        block::store_warp_total(totals[set], through);
        return warp::shuffle_up(through, 1);
    };

    part.prefetch(blockIdx.x); // as one of the first tiles some block takes it
    pdl_wait();
    if (threadIdx.x == 0) {
        tile_of[0] = ring.take();
    }
    __syncthreads();
    unsigned tile = tile_of[0];
    part.fetch(0, tile);
    if (threadIdx.x == 0) {
        for (unsigned k = 1; k < stages; ++k) {
            tile_of[k] = one_stage ? tiles : ring.take();
        }
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 1; k < stages; ++k) {
        part.fetch(k, tile_of[k]);
    }
    A before[ahead + 1]; // in the thread's warp, in its tiles k ... k + ahead
    wait_copies<stages - ahead>();
    __syncwarp();
#pragma unroll
    for (unsigned k = 0; k < ahead; ++k) {
        if (!one_stage && tile_of[k] < tiles) {
            before[k] = fold(k, tile_of[k], k);
        }
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < ahead; ++k) {
        if (warp == 0 && !one_stage && tile_of[k] < tiles) {
            prefix.publish(tile_of[k], totals[k], op);
        }
    }

    bool is_last = tile >= tiles && threadIdx.x == 0 && prefix.leave(); // of all blocks, in thread 0
    const auto wrapped = [](unsigned k, unsigned count) { return k < count ? k : k - count; };
    for (unsigned stage = 0, set = 0; tile < tiles;) {
        // Publish the total of the tile that is `ahead` turns away.
        const unsigned next_stage = one_stage ? stages : wrapped(stage + 1, stages);
        const unsigned further = one_stage ? 0 : ahead;
        const unsigned far_stage = wrapped(stage + further, stages), far_set = wrapped(set + further, sets);
        const unsigned far_tile = one_stage ? tile : tile_of[far_stage];
        unsigned fresh = 0;
        if (threadIdx.x == Plan::threads - 1) {
            fresh = ring.take();
        }
        prefix.request(tile);
        if (one_stage) {
            wait_all_copies();
        } else {
            wait_copies<stages - 1 - ahead>();
        }
        __syncwarp();
        if (far_tile < tiles) {
            before[ahead] = fold(far_stage, far_tile, far_set);
        }
        __syncthreads();
        if (warp == 0 && far_tile < tiles) {
            prefix.publish(far_tile, totals[far_set], op);
        }
        if (threadIdx.x == Plan::threads - 1) {
            tile_of[stages] = fresh;
        }

        // What precedes the thread: the tile's prefix, the warps and the lanes before.
        A front = prefix.before(tile, op);
        bool has_front = Plan::elements_type::options_type::has_first || tile != 0;
        const unsigned next_tile = tile_of[next_stage];
        if (next_tile >= tiles && threadIdx.x == 0) {
            is_last = prefix.leave();
        }
        const A warps_before = block::scan_warp_totals(totals[set], op, Plan::warps).before();
        if (warp != 0) {
            front = has_front ? static_cast<A>(op(front, warps_before)) : warps_before;
            has_front = true;
        }
        if (threadIdx.x % warp::lanes != 0) {
            const A lanes_before = one_stage ? before[ahead] : before[0];
            front = has_front ? static_cast<A>(op(front, lanes_before)) : lanes_before;
            has_front = true;
        }

        part.scan_and_store(stage, tile, front, has_front);
        fresh = tile_of[stages];
        __syncwarp();
        part.fetch(stage, fresh);
        if (threadIdx.x == 0) {
            tile_of[stage] = fresh;
        }
        tile = next_tile;
        stage = one_stage ? 0 : next_stage;
        set = wrapped(set + 1, sets);
#pragma unroll
        for (unsigned k = 0; k < ahead; ++k) {
            before[k] = before[k + 1];
        }
    }
    pdl_trigger();
    wait_all_copies();
    if (__syncthreads_or(is_last ? 1 : 0) != 0) {
        ring.clear(tiles);
    }
}

template <class Elements>
void launch_persistent(const gpu& on, const Elements& elements, const char* call) {
    using Plan = persistent_plan<Elements>;
    const std::uint64_t all_tiles = Plan::tiles_of(elements.n + elements.shift);
    if (all_tiles > 0x7fffffffu) {
        throw invalid_argument(std::string("warpfold: ") + call + ": more elements than one launch has tiles for");
    }
    const auto tiles = static_cast<unsigned>(all_tiles);
    constexpr auto kernel = &persistent_kernel<Plan>;
    const kernel_properties facts =
        properties_of<kernel>({Plan::threads, Plan::shared, Plan::stage_bytes, Plan::tuned.blocks_per_multiprocessor});
    const unsigned blocks = std::max(1u, std::min(facts.resident_blocks, tiles));
    const unsigned slots = Plan::slots_of(tiles, blocks);
    const call_memory memory(on, tile_ring<typename Elements::A>::bytes(slots), 0, call);
    const Plan plan{elements, memory.slots(), tiles, slots, facts.has_fallback_shared};
    const std::size_t shared = facts.has_fallback_shared ? Plan::stage_bytes : Plan::shared;
    // Again for each launch: cudaDeviceReset() takes it back.
    WARPFOLD_CHECK_CUDA(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
    pdl_launch(facts, kernel, blocks, Plan::threads, shared, on.stream, plan);
}

} // namespace warpfold::detail
