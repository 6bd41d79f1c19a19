// SPDX-License-Identifier: MIT
// Reductions by key and run-length encodings of long arrays on a GPU: one launch, in which each warp goes twice through a range
// of consecutive elements. First it counts the runs that begin there, and blocks exchange their counts. Then it writes the
// results of its range, and waits for no other warp. Tiles that wait for each other's prefixes, one after the other, take
// longer than to read the keys again (decision 60). As far as shared memory lasts, a warp notes where
// runs begin, and does not read these keys again.
//
// A lane has consecutive elements, so that a warp scans once a tile. Where a run begins, the result of the run before it is
// written. What a task makes of runs: run_walks.cuh.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "warpfold/gpu/compact/run_walks.cuh"
#include "warpfold/gpu/compact/tile_rows.cuh"
#include "warpfold/gpu/compact/warp_elements.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/scan/all_tiles_prefix.cuh"
#include "warpfold/gpu/scan/persistent_block.cuh"
#include "warpfold/tuning/compact.hpp"
#include "warpfold/warp/scan.cuh"

namespace warpfold::detail {

template <class Kernels, class Task, class Count, class Place>
struct keyed_ranges_plan {
    using task_type = Task;
    using walk_type = run_walk<Task>;
    using Key = element_t<decltype(Task::keys)>;
    using Value = typename walk_type::Value; // void: none are read
    using ValueOut = element_written_t<decltype(Task::values_out), typename Task::value>;
    using prefix_type = all_tiles_prefix<run_beginnings>;

    static constexpr bool has_values = !std::is_void_v<Value>;
    static constexpr tuning::range_tiles kernels = has_values ? Kernels::value.ranges : Kernels::value.lengths;
    static constexpr unsigned threads = kernels.block_threads, warps = threads / warp::lanes;
    static constexpr unsigned resident_blocks = kernels.resident_blocks, stages = 2;
    static constexpr unsigned value_bytes = has_values ? sizeof(std::conditional_t<has_values, Value, char>) : 0;
    static constexpr unsigned read_bytes = sizeof(Key) + value_bytes; // of an element
    static constexpr unsigned run = 16 / sizeof(Key);                 // in a vector
    // Of a lane in a tile, as many as a word has bits at most.
    static constexpr unsigned span = std::bit_floor(std::clamp(kernels.bytes_per_thread / read_bytes, 1u, 32u));
    using part_type = warp_elements<span, 1>;
    static constexpr unsigned of_warp = part_type::of_warp; // elements of a tile

    // Of a warp's tile in shared memory: keys and values. Folds take the place of the values, one that is not written in front of
    // the others.
    static constexpr unsigned values_at = (of_warp * sizeof(Key) + 15) / 16 * 16, folds_at = values_at + 16;
    static constexpr unsigned warp_stage_bytes =
        has_values
            ? (std::max<unsigned>(values_at + of_warp * value_bytes, folds_at + of_warp * sizeof(ValueOut) + 16) + 15) /
                  16 * 16
            : values_at;
    // Behind its stages: where runs begin in the tile.
    static constexpr unsigned heads_at = warp_stage_bytes * stages;
    static constexpr unsigned warp_bytes =
        (heads_at + std::max<unsigned>(of_warp * sizeof(std::uint16_t), warp::lanes * sizeof(unsigned)) + 15) / 16 * 16;
    static constexpr std::size_t shared = std::size_t{warp_bytes} * warps;
    // Of cards with less shared memory; it fits every card.
    static constexpr unsigned fallback_threads = (warps + 1) / 2 * warp::lanes;
    static constexpr std::size_t stage_bytes = std::size_t{warp_bytes} * (fallback_threads / warp::lanes);
    static constexpr bool fits = stage_bytes + 2048 <= 65536;
    // Of a block, with room for places. With a smaller L1 cache copies to shared memory take up to 8 % longer.
    static constexpr std::size_t l1_bytes = 65536;
    static std::size_t shared_bytes(const kernel_properties& facts) {
        return facts.has_fallback_shared ? stage_bytes : detail::all_shared_bytes(facts, shared, l1_bytes);
    }

    static constexpr unsigned most_blocks = prefix_type::most_tiles;
    // What blocks exchange: their counts and, behind these, open runs.
    static constexpr std::size_t counts_bytes =
        (16 + most_blocks * sizeof(flagged_slot<run_beginnings>) + 15) / 16 * 16;
    static constexpr std::size_t exchange_bytes = counts_bytes + most_blocks * walk_type::open_bytes;

    // The last tile has the place behind the last element, where a run would begin that ends the last one.
    WARPFOLD_HD static constexpr std::uint64_t tiles_of(std::uint64_t n, unsigned shift = run - 1) {
        return (n + shift) / of_warp + 1;
    }
    // That have work, of so many warps.
    WARPFOLD_HD static constexpr unsigned blocks_of(std::uint64_t tiles, unsigned of_block, unsigned most) {
        const std::uint64_t blocks = (tiles + of_block - 1) / of_block;
        return blocks < most ? static_cast<unsigned>(blocks) : most;
    }

    Task task;
    Count count;
    Place place; // of the number of results
    void* workspace;
    unsigned shift; // so many elements before the keys they are aligned to a vector
    unsigned kept;  // places that a warp has room for, behind its stages
};

// A warp in its range.
template <class Plan>
class keyed_range {
public:
    using Walk = typename Plan::walk_type;
    using Key = typename Plan::Key;
    using KeyOut = element_written_t<decltype(Plan::task_type::keys_out), Key>;
    using Part = typename Plan::part_type;
    static constexpr unsigned span = Plan::span;

    __device__ keyed_range(const Plan& plan, std::uint64_t n, unsigned blocks, uint4* stages)
        : plan_(plan), n_(n), tiles_(Plan::tiles_of(n, plan.shift)) {
        const unsigned warp = threadIdx.x / warp::lanes, warps = blockDim.x / warp::lanes;
        const std::uint64_t ranges = std::uint64_t{blocks} * warps;
        const std::uint64_t own = std::uint64_t{blockIdx.x} * warps + warp;
        begin_ = own * tiles_ / ranges;
        end_ = (own + 1) * tiles_ / ranges;
        behind_kept_ = begin_;
        memory_ = reinterpret_cast<unsigned char*>(stages) + warp * (Plan::warp_bytes + plan.kept * sizeof(unsigned));
        places_ = reinterpret_cast<unsigned*>(memory_ + Plan::warp_bytes);
    }

    // The runs that begin in the range, in all lanes. Keeps the places of the first ones.
    [[nodiscard]] __device__ run_beginnings beginnings() {
        run_beginnings of_lane{};
        bool keeps = plan_.kept != 0 && (end_ - begin_) * Plan::of_warp >> 31 == 0;
        for_each_tile<true, false>(begin_, end_, [&](std::uint64_t tile, const Part& part, unsigned char* memory) {
            Key keys[span];
            const unsigned heads = find_heads(tile, part, memory, keys);
            of_lane.count += static_cast<unsigned>(__popc(heads));
            if (heads != 0) {
                of_lane.behind_last = tile * Plan::of_warp + Part::place(0) + behind_last_head(heads);
            }
            if (keeps && __any_sync(warp::all_lanes, heads != 0)) {
                unsigned before[1] = {static_cast<unsigned>(__popc(heads))};
                const unsigned runs = detail::scan_run_counts<span>(before);
                keeps = kept_ + runs <= most_kept(tile);
                if (keeps) {
                    note_places(heads, place_in_range(tile) + Part::place(0), places_ + kept_ + before[0]);
                    kept_ += runs;
                }
            }
            behind_kept_ += keeps ? 1 : 0;
        });
#pragma unroll
        for (unsigned distance = warp::lanes / 2; distance != 0; distance /= 2) {
            of_lane.count += warp::shuffle(of_lane.count, threadIdx.x % warp::lanes ^ distance);
            of_lane.behind_last =
                max(of_lane.behind_last, warp::shuffle(of_lane.behind_last, threadIdx.x % warp::lanes ^ distance));
        }
        return of_lane;
    }

    // Writes the results of the range; `before`: the runs that begin before it.
    __device__ void write(const run_beginnings& before, Walk& walk) {
        runs_ = before.count;
        if (behind_kept_ != begin_) {
            write_kept(walk);
        }
        for_each_tile<true, Plan::has_values>(
            behind_kept_, end_,
            [&](std::uint64_t tile, const Part& part, unsigned char* memory) { write_tile(tile, part, memory, walk); });
    }

private:
    // Calls each(tile, part, memory) for the tiles of [first, last) with their keys in shared memory, the values behind them, or
    // both.
    template <bool Keys, bool Values, class Each>
    __device__ void for_each_tile(std::uint64_t first, std::uint64_t last, const Each& each) {
        if (first == last) {
            return;
        }
        if constexpr (Keys) {
            last_key_ = plan_.task.keys[first == 0 ? 0 : part(first).begin - 1];
        }
        fetch<Keys, Values>(first);
#pragma unroll 1
        for (std::uint64_t tile = first; tile != last; ++tile) {
            if (tile + 1 < last) {
                fetch<Keys, Values>(tile + 1);
            } else {
                commit_copies();
            }
            wait_copies<1>();
            __syncwarp();
            each(tile, part(tile), stage_of(tile));
            __syncwarp();
        }
    }
    // Tiles take turns.
    [[nodiscard]] __device__ unsigned char* stage_of(std::uint64_t tile) const {
        return memory_ + tile % Plan::stages * Plan::warp_stage_bytes;
    }
    template <bool Keys, bool Values>
    __device__ void fetch(std::uint64_t tile) const {
        const Part of = part(tile);
        unsigned char* const memory = stage_of(tile);
        if constexpr (Keys) {
            of.fetch_runs(plan_.task.keys, memory);
        }
        if constexpr (Values) {
            of.fetch_runs(plan_.task.values, memory + Plan::values_at);
        }
        commit_copies();
    }
    // How many runs are kept up to a tile, at most: where there are more, reading the keys again is faster.
    [[nodiscard]] __device__ unsigned most_kept(std::uint64_t tile) const {
        const auto tiles = static_cast<unsigned>(tile - begin_) + 8; // a few more, as runs are not of one length
        return min(plan_.kept - 1, tiles * (Plan::of_warp / Plan::kernels.kept_run)); // and the end of the array
    }
    // Of the first place of a tile.
    [[nodiscard]] __device__ unsigned place_in_range(std::uint64_t tile) const {
        return static_cast<unsigned>(tile - begin_) * Plan::of_warp;
    }
    // Notes the places of the lane's runs, of which the first element is at place `first`.
    template <class Place>
    __device__ static void note_places(unsigned heads, unsigned first, Place* at) {
#pragma unroll 1
        for (unsigned rest = heads; rest != 0; rest &= rest - 1) {
            *at++ = static_cast<Place>(first + static_cast<unsigned>(__ffs(static_cast<int>(rest))) - 1);
        }
    }

    // Bits: at which of the lane's elements a run begins. Loads the keys.
    __device__ unsigned find_heads(std::uint64_t tile, const Part& part, unsigned char* memory, Key (&keys)[span]) {
        part.take_run(memory, keys);
        Key before = warp::shuffle_up(keys[span - 1], 1);
        if (threadIdx.x % warp::lanes == 0) {
            before = last_key_;
        }
        last_key_ = warp::shuffle(keys[span - 1], warp::lanes - 1);
        unsigned heads = 0;
#pragma unroll
        for (unsigned j = 0; j < span; ++j) {
            const Key& left = j == 0 ? before : keys[j == 0 ? 0 : j - 1];
            heads |= detail::equal_by(plan_.task.equal, left, keys[j]) ? 0u : 1u << j;
        }
        if (!part.whole) {
            heads &= part.present();
        }
        if (tile == 0 && threadIdx.x % warp::lanes == part.missing / span) { // element 0 begins a run
            heads |= 1u << part.missing % span;
        }
        return heads;
    }

    __device__ void write_tile(std::uint64_t tile, const Part& part, unsigned char* memory, Walk& walk) {
        Key keys[span];
        unsigned heads = find_heads(tile, part, memory, keys);
        const bool is_last = tile + 1 == tiles_;
        if (is_last && threadIdx.x % warp::lanes == part.behind / span) { // the end of the array ends its last run
            heads |= 1u << part.behind % span;
        }
        unsigned lane_runs[1] = {static_cast<unsigned>(__popc(heads))};
        const unsigned runs = detail::scan_run_counts<span>(lane_runs);
        auto* const places = reinterpret_cast<std::uint16_t*>(memory_ + Plan::heads_at);
        note_places(heads, Part::place(0), places + lane_runs[0]);
        __syncwarp();
        // From consecutive lanes to consecutive places.
#pragma unroll 1
        for (unsigned k = threadIdx.x % warp::lanes; k < runs - (is_last ? 1 : 0); k += warp::lanes) {
            plan_.task.keys_out[runs_ + k] = static_cast<KeyOut>(Part::template element<Key>(memory, places[k]));
        }
        walk.write(plan_.task, part, memory + Plan::values_at, tile * Plan::of_warp,
                   tile_runs<std::uint16_t>{heads, lane_runs[0], runs, runs_, places});
        runs_ += runs;
    }

    // Writes the results of the tiles whose runs are kept.
    __device__ void write_kept(Walk& walk) {
        const unsigned lane = threadIdx.x % warp::lanes;
        __syncwarp();
        const std::uint64_t first = begin_ * Plan::of_warp - plan_.shift;
#pragma unroll 4
        for (unsigned k = lane; k < kept_; k += warp::lanes) {
            plan_.task.keys_out[runs_ + k] = static_cast<KeyOut>(plan_.task.keys[first + places_[k]]);
        }
        unsigned all = kept_;
        if (behind_kept_ == tiles_) { // the end of the array ends its last run
            if (lane == 0) {
                places_[all] = static_cast<unsigned>(n_ - first);
            }
            __syncwarp();
            ++all;
        }
        if constexpr (!Plan::has_values) {
            walk.write(plan_.task, part(begin_), nullptr, begin_ * Plan::of_warp,
                       tile_runs<unsigned>{0, 0, all, runs_, places_});
        } else {
            unsigned next = 0; // place
            for_each_tile<false, true>(
                begin_, behind_kept_, [&](std::uint64_t tile, const Part& part, unsigned char* memory) {
                    unsigned lane_runs[1] = {};
                    unsigned runs = 0, heads = 0;
                    if (next != all && places_[next] < place_in_range(tile) + Plan::of_warp) {
                        heads = heads_of_kept(tile, next, all);
                        lane_runs[0] = static_cast<unsigned>(__popc(heads));
                        runs = detail::scan_run_counts<span>(lane_runs);
                    }
                    walk.write(plan_.task, part, memory + Plan::values_at, tile * Plan::of_warp,
                               tile_runs<unsigned>{heads, lane_runs[0], runs, runs_ + next, nullptr});
                    next += runs;
                });
        }
        runs_ += all;
    }
    // As by find_heads(), from places_[next] and on of `all`.
    __device__ unsigned heads_of_kept(std::uint64_t tile, unsigned next, unsigned all) {
        const unsigned lane = threadIdx.x % warp::lanes, first = place_in_range(tile);
        auto* const heads = reinterpret_cast<unsigned*>(memory_ + Plan::heads_at);
        heads[lane] = 0;
        __syncwarp();
        for (unsigned k = next + lane; k < all && places_[k] < first + Plan::of_warp; k += warp::lanes) {
            const unsigned place = places_[k] - first;
            atomicOr(&heads[place / span], 1u << place % span);
        }
        __syncwarp();
        return heads[lane];
    }

    // The last tile has the end of the array, and is never whole.
    [[nodiscard]] __device__ Part part(std::uint64_t tile) const {
        return {plan_.shift, n_, tile, tile + 1 < tiles_ && (tile != 0 || plan_.shift == 0)};
    }

    const Plan& plan_;
    std::uint64_t n_, tiles_, begin_, end_;
    std::uint64_t behind_kept_; // the first tile whose runs are not kept
    std::uint64_t runs_ = 0;    // that begin before the tile
    unsigned char* memory_;
    unsigned* places_; // of kept runs, from that of tile begin_ on
    unsigned kept_ = 0;
    Key last_key_; // before the tile
};

template <class Plan>
__global__ void __launch_bounds__(Plan::threads, Plan::resident_blocks) keyed_ranges_kernel(const Plan plan) {
    using Walk = typename Plan::walk_type;
    extern __shared__ uint4 stage_memory[];
    __shared__ typename Plan::prefix_type::storage prefix_storage;
    __shared__ run_beginnings of_warp[Plan::warps];
    __shared__ typename Walk::template storage<Plan::warps> walk_storage;
    Walk::check();
    pdl_trigger();
    pdl_wait();
    const std::uint64_t n = plan.count.value();
    if (n == 0) {
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            detail::write_number(plan.place, 0);
        }
        return;
    }
    const unsigned warp = threadIdx.x / warp::lanes, warps = blockDim.x / warp::lanes, lane = threadIdx.x % warp::lanes;
    const unsigned blocks = Plan::blocks_of(Plan::tiles_of(n, plan.shift), warps, gridDim.x);
    if (blockIdx.x >= blocks) {
        return;
    }
    keyed_range<Plan> range(plan, n, blocks, stage_memory);
    const run_beginnings own = range.beginnings();
    if (lane == 0) {
        of_warp[warp] = own;
    }
    __syncthreads();
    const join_beginnings join;
    const run_beginnings through = warp::inclusive_scan(lane < warps ? of_warp[lane] : run_beginnings{}, join);
    const run_beginnings of_block = warp::shuffle(through, warps - 1);
    run_beginnings warps_before = warp::shuffle(through, warp == 0 ? 0 : warp - 1);
    warps_before = warp == 0 ? run_beginnings{} : warps_before;
    // Of blocks a walk may want the last one in which a run begins instead of the place.
    const run_beginnings published = Walk::of_block(of_block);
    typename Plan::prefix_type prefix(plan.workspace, false, prefix_storage, blocks);
    run_beginnings before{};
    if (blocks != 1) {
        prefix.publish(published);
        const run_beginnings found = prefix.before(published, no_initial{}, join);
        before = blockIdx.x == 0 ? before : found;
    }
    const std::uint64_t all_runs = before.count + of_block.count;
    if (blockIdx.x + 1 == blocks && threadIdx.x == 0) {
        detail::write_number(plan.place, all_runs);
    }
    Walk walk(join(before, warps_before));
    range.write(join(before, warps_before), walk);
    walk.join_warps(plan.task, walk_storage, static_cast<unsigned char*>(plan.workspace) + Plan::counts_bytes, before,
                    blocks);
    if (blocks != 1) {
        prefix.release();
    }
}

} // namespace warpfold::detail
