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

template <class Kernels, class Elements>
struct persistent_plan {
    using elements_type = Elements;
    using T = typename Elements::T;
    using U = typename Elements::U;
    static constexpr tuning::scan_kernels kernels = Kernels::value;
    static constexpr unsigned run = Elements::run, chunks = kernels.long_runs_per_thread;
    static constexpr unsigned threads = kernels.long_block_threads, resident_blocks = kernels.long_resident_blocks;
    static constexpr unsigned stages = kernels.long_stages, ahead = kernels.long_tiles_ahead, held = stages + 1;
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
    __device__ A fold(unsigned stage, unsigned tile) const {
        const typename Plan::read_runs runs(memory_ + stage * Plan::stage_bytes);
        A sum{};
#pragma unroll
        for (unsigned c = 0; c < chunks; ++c) {
            T items[run];
            Elements::take(runs.blocked(c), items);
            scan_run(tile, c, items, sum, true, [](unsigned, const A&) {});
        }
        return warp::inclusive_scan(sum, elements_.op);
    }

    // The second pass: `front` precedes the thread, unless it is not there.
    __device__ void scan_and_store(unsigned stage, unsigned tile, A front, bool has_front) const {
        const typename Plan::read_runs items_of(memory_ + stage * Plan::stage_bytes);
        const typename Plan::written_runs results_of(memory_ + stage * Plan::stage_bytes);
        const auto scan = [&](unsigned c, const T(&items)[run]) {
            U results[run];
            scan_run(tile, c, items, front, !has_front,
                     [&](unsigned j, const A& result) { results[j] = static_cast<U>(result); });
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
    __device__ static unsigned in_row(unsigned r) { return (r * warp::lanes + threadIdx.x % warp::lanes) * run; }
    // The thread's c-th run. `fresh`: nothing precedes the thread.
    template <class Result>
    __device__ void scan_run(unsigned tile, unsigned c, const T (&items)[run], A& sum, bool fresh,
                             const Result& result) const {
        const std::uint64_t first = begin_of(tile) + (threadIdx.x % warp::lanes * chunks + c) * run;
        const unsigned skip = c == 0 && tile == 0 && threadIdx.x == 0 ? elements_.shift : 0;
        elements_.scan_run(
            sum, c == 0 && fresh, skip, [&](unsigned j) { return elements_.value(items[j], first + j); },
            [](unsigned) { return false; }, result);
    }

    const Elements& elements_;
    unsigned tiles_;
    unsigned char* memory_;
};

// A block on its way through the tiles. Its first `stages` tiles are in shared memory or on their way there, the totals
// of the first `ahead` of them are published.
template <class Plan>
class persistent_block {
public:
    using A = typename Plan::elements_type::A;
    using prefix_type = running_prefix<A, Plan::warps>;
    static constexpr unsigned stages = Plan::stages, ahead = Plan::ahead, sets = ahead + 2;

    struct storage {
        block::scan_storage<A, Plan::warps> totals[sets]; // of several tiles
        typename prefix_type::storage prefix;
        unsigned tile_of[stages + 1]; // the tile in each stage; the last: the next one
    };

    __device__ persistent_block(const Plan& plan, uint4* stage_memory, storage& shared)
        : plan_(plan),
          shared_(shared),
          part_(plan, stage_memory),
          ring_(plan.workspace, plan.slots),
          prefix_(ring_, plan.tiles, shared.prefix, plan.elements.options.first) {}

    // Waits for the preceding launch, takes and fetches the first tiles, publishes the first totals.
    __device__ void begin() {
        part_.prefetch(blockIdx.x); // as one of the first tiles some block takes it
        pdl_wait();
        unsigned* const tile_of = shared_.tile_of;
        if (threadIdx.x == 0) {
            tile_of[0] = ring_.take();
        }
        __syncthreads();
        tile_ = tile_of[0];
        part_.fetch(0, tile_);
        if (threadIdx.x == 0) {
            for (unsigned k = 1; k < stages; ++k) {
                tile_of[k] = plan_.one_stage ? plan_.tiles : ring_.take();
            }
        }
        __syncthreads();
#pragma unroll
        for (unsigned k = 1; k < stages; ++k) {
            part_.fetch(k, tile_of[k]);
        }
        wait_copies<stages - ahead>();
        __syncwarp();
#pragma unroll
        for (unsigned k = 0; k < ahead; ++k) {
            if (!plan_.one_stage && tile_of[k] < plan_.tiles) {
                before_[k] = fold(k, tile_of[k], k);
            }
        }
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < ahead; ++k) {
            if (threadIdx.x < warp::lanes && !plan_.one_stage && tile_of[k] < plan_.tiles) {
                prefix_.publish(tile_of[k], shared_.totals[k], plan_.elements.op);
            }
        }
        leave_before(tile_);
    }

    [[nodiscard]] __device__ bool has_tile() const { return tile_ < plan_.tiles; }

    // Folds and publishes the total of the tile `ahead` turns away; meanwhile loads totals that the present one needs.
    __device__ void publish_ahead() {
        const unsigned further = plan_.one_stage ? 0 : ahead;
        const unsigned stage = wrapped(stage_ + further, stages), set = wrapped(set_ + further, sets);
        const unsigned tile = plan_.one_stage ? tile_ : shared_.tile_of[stage];
        unsigned fresh = 0;
        if (threadIdx.x == Plan::threads - 1) {
            fresh = ring_.take();
        }
        prefix_.request(tile_);
        if (plan_.one_stage) {
            wait_all_copies();
        } else {
            wait_copies<stages - 1 - ahead>();
        }
        __syncwarp();
        if (tile < plan_.tiles) {
            before_[ahead] = fold(stage, tile, set);
        }
        __syncthreads();
        if (threadIdx.x < warp::lanes && tile < plan_.tiles) {
            prefix_.publish(tile, shared_.totals[set], plan_.elements.op);
        }
        if (threadIdx.x == Plan::threads - 1) {
            shared_.tile_of[stages] = fresh;
        }
    }

    // Scans and stores the present tile: its prefix, then the warps and the lanes before precede a thread.
    __device__ void finish_tile() {
        const auto& op = plan_.elements.op;
        A front = prefix_.before(tile_, op);
        bool has_front = Plan::elements_type::options_type::has_first || tile_ != 0;
        next_stage_ = plan_.one_stage ? stages : wrapped(stage_ + 1, stages);
        next_tile_ = shared_.tile_of[next_stage_];
        leave_before(next_tile_);
        const auto follow = [&](const A& more) {
            front = has_front ? static_cast<A>(op(front, more)) : more;
            has_front = true;
        };
        const A warps_before = block::scan_warp_totals(shared_.totals[set_], op, Plan::warps).before();
        if (threadIdx.x >= warp::lanes) {
            follow(warps_before);
        }
        if (threadIdx.x % warp::lanes != 0) {
            follow(plan_.one_stage ? before_[ahead] : before_[0]);
        }
        part_.scan_and_store(stage_, tile_, front, has_front);
    }

    // Fetches a new tile into the stage of the finished one and goes on to the next.
    __device__ void advance() {
        const unsigned fresh = shared_.tile_of[stages];
        __syncwarp();
        part_.fetch(stage_, fresh);
        if (threadIdx.x == 0) {
            shared_.tile_of[stage_] = fresh;
        }
        tile_ = next_tile_;
        stage_ = plan_.one_stage ? 0 : next_stage_;
        set_ = wrapped(set_ + 1, sets);
#pragma unroll
        for (unsigned k = 0; k < ahead; ++k) {
            before_[k] = before_[k + 1];
        }
    }

    // Leaves the workspace zero, if no other block is left.
    __device__ void end() const {
        wait_all_copies();
        if (__syncthreads_or(is_last_ ? 1 : 0) != 0) {
            ring_.clear(plan_.tiles);
        }
    }

private:
    __device__ static unsigned wrapped(unsigned k, unsigned count) { return k < count ? k : k - count; }
    // Stores the warp's total; returns what precedes the thread in its warp, except in lane 0.
    __device__ A fold(unsigned stage, unsigned tile, unsigned set) const {
        const A through = part_.fold(stage, tile);
        block::store_warp_total(shared_.totals[set], through);
        return warp::shuffle_up(through, 1);
    }
    // Where the block's next tile is behind the last one, it needs no more totals.
    __device__ void leave_before(unsigned next) {
        if (next >= plan_.tiles && threadIdx.x == 0) {
            is_last_ = prefix_.leave();
        }
    }

    const Plan& plan_;
    storage& shared_;
    warp_part<Plan> part_;
    tile_ring<A> ring_;
    prefix_type prefix_;
    unsigned tile_ = 0, stage_ = 0, set_ = 0; // the present tile, its stage and its set of totals
    unsigned next_tile_ = 0, next_stage_ = 0;
    A before_[ahead + 1] = {}; // what precedes the thread in its warp, in the present tile and the next ones
    bool is_last_ = false;     // in thread 0: of all blocks
};

template <class Plan>
__global__ void __launch_bounds__(Plan::threads, Plan::resident_blocks) persistent_kernel(const Plan plan) {
    extern __shared__ uint4 stage_memory[];
    __shared__ typename persistent_block<Plan>::storage storage;
    persistent_block<Plan> block(plan, stage_memory, storage);
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
    const std::uint64_t all_tiles = Plan::tiles_of(elements.n + elements.shift);
    if (all_tiles > 0x7fffffffu) {
        throw invalid_argument(std::string("warpfold: ") + call + ": more elements than one launch has tiles for");
    }
    const auto tiles = static_cast<unsigned>(all_tiles);
    constexpr auto kernel = &persistent_kernel<Plan>;
    const kernel_properties facts =
        properties_of<kernel>({Plan::threads, Plan::shared, Plan::stage_bytes, Plan::resident_blocks});
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
