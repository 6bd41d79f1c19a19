// SPDX-License-Identifier: MIT
// A block that stays and goes from tile to tile while its next ones are on their way into shared memory. It publishes the
// total of its next tile before it finishes the present one, so that the totals that it needs for a prefix are mostly there
// when it reads them, and memory never waits for that. Used by scans (persistent.cuh) and compactions
// (gpu/compact/long_selection.cuh).
//
// A card that has too little shared memory for that (compute capability 7.5) has one tile a block instead of `stages`,
// which is fetched, published and finished before the next: other blocks use memory meanwhile. Tiles are the same, and so
// are results.
#pragma once

#include <algorithm>

#include "warpfold/block/scan.cuh"
#include "warpfold/gpu/core/async_copy.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/turns.cuh"
#include "warpfold/gpu/scan/running_prefix.cuh"

namespace warpfold::detail {

// Where a persistent kernel has its tiles.
struct persistent_grid {
    void* workspace;
    unsigned slots; // of the ring
    bool one_stage; // one tile in shared memory
    bool ordered;   // what blocks have read before they publish a total may be written by those that wait for it
    unsigned turn;  // cycles from the beginning of a block to that of the next one (gpu/core/turns.cuh)
};

// `Plan`: the constants threads, warps, stages and ahead, the types local_type, of the total of a tile or a part of one,
// total_type, of many tiles' total, widen_type, from one to the other, and part_type; op(), which joins either, and
// first(), which precedes tile 0 or is a no_initial; grid, a persistent_grid.
// part_type, the part of a warp in the tiles of its block:
//   fetch(stage, tile)         starts to copy a tile into a stage
//   fold(stage, tile)          the total of the warp's part, in its last lane; keeps what finish() needs of the tile
//   finish(stage, tile, prefix, has_prefix, warps_before)   writes the results; warps_before is not defined in warp 0
//   next()                     forgets what it keeps of the oldest tile
template <class Plan>
class persistent_block {
public:
    using local_type = typename Plan::local_type;
    using total_type = typename Plan::total_type;
    using ring_type = tile_ring<total_type, local_type>;
    using prefix_type = running_prefix<total_type, Plan::warps, local_type, typename Plan::widen_type>;
    static constexpr unsigned stages = Plan::stages, ahead = Plan::ahead, sets = ahead + 2;

    struct storage {
        block::scan_storage<local_type, Plan::warps> totals[sets]; // of several tiles
        typename prefix_type::storage prefix;
        unsigned tile_of[stages + 1]; // the tile in each stage; the last: the next one
    };

    __device__ persistent_block(const Plan& plan, unsigned tiles, typename Plan::part_type& part, storage& shared)
        : plan_(plan),
          tiles_(tiles),
          one_stage_(plan.grid.one_stage),
          shared_(shared),
          part_(part),
          ring_(plan.grid.workspace, plan.grid.slots, plan.grid.ordered),
          prefix_(ring_, tiles, shared.prefix, plan.first()) {}

    // Takes and fetches the first tiles, publishes the first totals.
    __device__ void begin() {
        unsigned* const tile_of = shared_.tile_of;
        if (threadIdx.x == 0) {
            tile_of[0] = ring_.take();
            if (tile_of[0] < gridDim.x) {
                detail::wait_cycles(tile_of[0] * plan_.grid.turn);
            }
        }
        __syncthreads();
        tile_ = tile_of[0];
        fetch(0, tile_);
        if (!one_stage_) {
            fill_stages();
        }
        leave_before(tile_);
    }

    [[nodiscard]] __device__ bool has_tile() const { return tile_ < tiles_; }

    // Folds and publishes the total of the tile `ahead` turns away; meanwhile loads totals that the present one needs.
    __device__ void publish_ahead() {
        const unsigned further = one_stage_ ? 0 : ahead;
        const unsigned stage = wrapped(stage_ + further, stages), set = wrapped(set_ + further, sets);
        const unsigned tile = one_stage_ ? tile_ : shared_.tile_of[stage];
        unsigned fresh = tiles_;
        if (threadIdx.x == Plan::threads - 1) {
            fresh = ring_.take();
        }
        prefix_.request(tile_);
        if (one_stage_) {
            wait_all_copies();
        } else {
            wait_copies<stages - 1 - ahead>();
        }
        __syncwarp();
        if (tile < tiles_) {
            fold(stage, tile, set);
        }
        for (unsigned k = 0; k < ahead && one_stage_; ++k) {
            part_.next();
        }
        __syncthreads();
        if (threadIdx.x < warp::lanes && tile < tiles_) {
            prefix_.publish(tile, shared_.totals[set], plan_.op());
        }
        if (threadIdx.x == Plan::threads - 1) {
            shared_.tile_of[stages] = fresh;
        }
    }

    // Writes the results of the present tile: its prefix, then the warps before precede a warp.
    __device__ void finish_tile() {
        const auto& op = plan_.op();
        const total_type front = prefix_.before(tile_, op);
        next_stage_ = one_stage_ ? stages : wrapped(stage_ + 1, stages);
        next_tile_ = shared_.tile_of[next_stage_];
        leave_before(next_tile_);
        const local_type warps_before = block::scan_warp_totals(shared_.totals[set_], op, Plan::warps).before();
        part_.finish(stage_, tile_, front, Plan::has_first || tile_ != 0, warps_before);
    }

    // Fetches a new tile into the stage of the finished one and goes on to the next.
    __device__ void advance() {
        const unsigned fresh = shared_.tile_of[stages];
        __syncwarp();
        fetch(stage_, fresh);
        if (threadIdx.x == 0) {
            shared_.tile_of[stage_] = fresh;
        }
        tile_ = next_tile_;
        stage_ = one_stage_ ? 0 : next_stage_;
        set_ = wrapped(set_ + 1, sets);
        if (!one_stage_) {
            part_.next();
        }
    }

    // Leaves the workspace zero, if no other block is left.
    __device__ void end() const {
        wait_all_copies();
        if (__syncthreads_or(is_last_ ? 1 : 0) != 0) {
            ring_.clear(tiles_);
        }
    }

private:
    __device__ static unsigned wrapped(unsigned k, unsigned count) { return k < count ? k : k - count; }
    // Fetches the further tiles; folds and publishes the first ones.
    __device__ void fill_stages() {
        unsigned* const tile_of = shared_.tile_of;
        if (threadIdx.x == 0) {
            for (unsigned k = 1; k < stages; ++k) {
                if (k != 1) {
                    detail::wait_cycles(gridDim.x * plan_.grid.turn); // until the other blocks have taken as many
                }
                tile_of[k] = ring_.take();
            }
        }
        __syncthreads();
#pragma unroll
        for (unsigned k = 1; k < stages; ++k) {
            fetch(k, tile_of[k]);
        }
        wait_copies<stages - ahead>();
        __syncwarp();
#pragma unroll 1
        for (unsigned k = 0; k < ahead; ++k) {
            if (tile_of[k] < tiles_) {
                fold(k, tile_of[k], k);
            }
            part_.next();
        }
        __syncthreads();
#pragma unroll 1
        for (unsigned k = 0; k < ahead; ++k) {
            if (threadIdx.x < warp::lanes && tile_of[k] < tiles_) {
                prefix_.publish(tile_of[k], shared_.totals[k], plan_.op());
            }
        }
    }
    __device__ void fetch(unsigned stage, unsigned tile) const {
        if (tile < tiles_) {
            part_.fetch(stage, tile);
        }
        commit_copies();
    }
    __device__ void fold(unsigned stage, unsigned tile, unsigned set) const {
        block::store_warp_total(shared_.totals[set], part_.fold(stage, tile));
    }
    // Where the block's next tile is behind the last one, it needs no more totals.
    __device__ void leave_before(unsigned next) {
        if (next >= tiles_ && threadIdx.x == 0) {
            is_last_ = prefix_.leave();
        }
    }

    const Plan& plan_;
    unsigned tiles_;
    bool one_stage_;
    storage& shared_;
    typename Plan::part_type& part_;
    ring_type ring_;
    prefix_type prefix_;
    unsigned tile_ = 0, stage_ = 0, set_ = 0; // the present tile, its stage and its set of totals
    unsigned next_tile_ = 0, next_stage_ = 0;
    bool is_last_ = false; // in thread 0: of all blocks
};

// What the runtime says of a persistent kernel on the current device.
template <auto Kernel, class Plan>
kernel_properties persistent_properties() {
    return properties_of<Kernel>({Plan::threads, Plan::shared, Plan::stage_bytes, Plan::resident_blocks});
}

// The most shared memory that each block of such a kernel can have, but for `left`, which its L1 cache keeps; at least `least`.
inline std::size_t all_shared_bytes(const kernel_properties& facts, std::size_t least, std::size_t left = 0) {
    const std::size_t other = 3072 + left; // the runtime's, and static
    const unsigned of_device = device_attribute<cudaDevAttrMultiProcessorCount>() *
                               device_attribute<cudaDevAttrMaxSharedMemoryPerMultiprocessor>();
    const std::size_t all = std::min<std::size_t>(of_device / facts.resident_blocks,
                                                  device_attribute<cudaDevAttrMaxSharedMemoryPerBlockOptin>());
    return all <= other ? least : std::max(least, (all - other) / 1024 * 1024);
}

// The grid of a launch whose ring has so many slots. Blocks begin half of a tile's time apart: each one fetches several tiles
// (decision 97).
template <class Plan>
persistent_grid grid_of(const kernel_properties& facts, void* workspace, unsigned slots, bool ordered) {
    return {workspace, slots, facts.has_fallback_shared, ordered, cycles_of_memory(Plan::stage_bytes) / 2};
}

// The threads of its blocks: a plan may have fewer where a block gets `stage_bytes` only.
template <class Plan>
unsigned threads_of(const kernel_properties& facts) {
    if constexpr (requires { Plan::fallback_threads; }) {
        return facts.has_fallback_shared ? Plan::fallback_threads : Plan::threads;
    } else {
        (void)facts;
        return Plan::threads;
    }
}

// Enqueues as many blocks of the kernel as fit, at most one a tile.
template <auto Kernel, class Plan>
void launch_persistent_blocks(const kernel_properties& facts, unsigned tiles, cudaStream_t stream, const Plan& plan) {
    std::size_t shared = facts.has_fallback_shared ? Plan::stage_bytes : Plan::shared;
    if constexpr (requires { Plan::shared_bytes(facts); }) {
        shared = Plan::shared_bytes(facts);
    }
    // Again for each launch: cudaDeviceReset() takes it back.
    WARPFOLD_CHECK_CUDA(
        cudaFuncSetAttribute(Kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
    pdl_launch(facts, Kernel, std::max(1u, std::min(facts.resident_blocks, tiles)), detail::threads_of<Plan>(facts),
               shared, stream, plan);
}

} // namespace warpfold::detail
