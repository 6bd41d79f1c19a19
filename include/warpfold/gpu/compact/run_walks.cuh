// SPDX-License-Identifier: MIT
// What a warp makes of the runs of equal keys in its range of a long array (keyed_ranges.cuh): folds of their values, or their
// lengths. A walk has
//   Value                the type of the values that are read, void if none are
//   write()              writes what the runs that end in a tile have, which begin in it or before
//   join_warps()         by whole blocks, at the end: what is missing where runs cross ranges
#pragma once

#include <cstdint>

#include "warpfold/detail/compact.hpp"
#include "warpfold/gpu/compact/keyed_fold.cuh"
#include "warpfold/gpu/compact/run_lengths.cuh"
#include "warpfold/gpu/compact/staged_results.cuh"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/gpu/core/flagged_slot.cuh"
#include "warpfold/gpu/scan/tile_prefix.cuh"

namespace warpfold::detail {

// The place behind the last of some bits.
__device__ inline unsigned behind_last_head(unsigned heads) {
    return 32 - static_cast<unsigned>(__clz(static_cast<int>(heads)));
}

// Where runs begin in a warp's tile, or in several. `heads` are bits of the lane's elements; the array's end counts as a
// beginning, too. Folds want no places, and lengths nothing of lanes.
template <class Place>
struct tile_runs {
    unsigned heads, before_lane, all;
    std::uint64_t before; // the tile
    const Place* places;
};

template <class Task>
class run_walk;

// Folds. Of a range the walk keeps the fold of its last run so far, and that of its elements before the first beginning of
// a run, which is joined with what precedes the range when all ranges of the block have been written.
template <class A, class Keys, class Values, class KeysOut, class ValuesOut, class Op, class Equal>
class run_walk<keyed_fold<A, Keys, Values, KeysOut, ValuesOut, Op, Equal>> {
public:
    using task_type = keyed_fold<A, Keys, Values, KeysOut, ValuesOut, Op, Equal>;
    using Value = element_t<Values>;
    static constexpr std::size_t open_bytes = sizeof(flagged_slot<A>);

    // The runs of one range, or of a block's.
    struct range_runs {
        A open;                     // the last run so far
        A head;                     // the elements before the first beginning of a run
        std::uint64_t head_index;   // of the run that ends there
        bool some, has_head, ended; // there are elements; those of `head`; a run begins
    };
    template <unsigned Warps>
    struct storage {
        range_runs of_warp[Warps];
    };

    __device__ static void check() {
        check_operation<Op, A>();
        check_operation<Equal, element_t<Keys>>();
    }
    // With the last block in which a run begins, counted from 1, in place of the last beginning.
    __device__ static run_beginnings of_block(const run_beginnings& block) {
        return {block.count, block.count == 0 ? 0 : blockIdx.x + 1};
    }

    __device__ explicit run_walk(const run_beginnings& /*before*/) {}

    template <class Part, class Place>
    __device__ void write(const task_type& task, const Part& part, unsigned char* values, std::uint64_t /*tile_begin*/,
                          const tile_runs<Place>& runs) {
        constexpr unsigned span = Part::run;
        Value items[span];
        part.take_run(values, items);
        A sum = static_cast<A>(items[0]);
#pragma unroll
        for (unsigned j = 1; j < span; ++j) {
            const A item = static_cast<A>(items[j]);
            sum = (runs.heads >> j & 1) != 0 ? item : static_cast<A>(task.op(sum, item));
        }
        unsigned lanes = 0; // in which a run begins
        const A through = warp::inclusive_scan(sum, task.op, runs.heads != 0, lanes);
        sum = warp::shuffle_up(through, 1);
        const A of_tile = warp::shuffle(through, warp::lanes - 1);
        if (runs.all == 0) {
            open(task, of_tile, false);
            return;
        }
        const bool is_first = threadIdx.x % warp::lanes == 0;
        const bool is_alone = is_first && !runs_.some; // no element of the range precedes the lane's
        if (is_first) {
            sum = runs_.open;
        } else if (runs.before_lane == 0 && runs_.some) {
            sum = static_cast<A>(task.op(runs_.open, sum));
        }
        const auto with = [&](const A& left, unsigned j) {
            const A item = static_cast<A>(items[j]);
            return j == 0 && is_alone ? item : static_cast<A>(task.op(left, item));
        };
        // The result of the run that began before the range is kept instead of written.
        const unsigned kept = runs.all != 0 && !runs_.ended ? 1 : 0;
        if (kept != 0) {
            const bool is_mine = runs.heads != 0 && runs.before_lane == 0;
            A head = sum;
            bool some = !is_alone;
            if (is_mine) {
#pragma unroll
                for (unsigned j = 0; j < span; ++j) {
                    if ((runs.heads & ((2u << j) - 1)) == 0) {
                        head = with(head, j);
                        some = true;
                    }
                }
            }
            const unsigned lane =
                static_cast<unsigned>(__ffs(static_cast<int>(__ballot_sync(warp::all_lanes, is_mine)))) - 1;
            runs_.head = warp::shuffle(head, lane);
            runs_.has_head = warp::shuffle(some ? 1u : 0u, lane) != 0;
            runs_.head_index = runs.before - 1;
            runs_.ended = true;
        }
        __syncwarp();
        const staged_results<ValuesOut, result_type, true> folds(values + 16, task.values_out, runs.before + kept - 1,
                                                                 runs.all - kept);
        result_type* at = folds.place(runs.before_lane) - kept;
#pragma unroll
        for (unsigned j = 0; j < span; ++j) {
            const unsigned head = runs.heads >> j & 1;
            if (head != 0) {
                *at = static_cast<result_type>(sum);
                sum = static_cast<A>(items[j]);
            } else {
                sum = with(sum, j);
            }
            at += head;
        }
        __syncwarp();
        folds.write();
        open(task, of_tile, lanes != 0);
    }

    // `memory`: for each of the blocks a slot. `before`: of the blocks before this one, as by of_block().
    template <unsigned Warps>
    __device__ void join_warps(const task_type& task, storage<Warps>& shared, unsigned char* memory,
                               const run_beginnings& before, unsigned blocks) const {
        const unsigned lane = threadIdx.x % warp::lanes;
        if (lane == 0) {
            shared.of_warp[threadIdx.x / warp::lanes] = runs_;
        }
        __syncthreads();
        if (threadIdx.x >= warp::lanes) {
            return;
        }
        // A lane has a warp's range.
        const range_runs range = lane < blockDim.x / warp::lanes ? shared.of_warp[lane] : range_runs{};
        const open_run through = warp::inclusive_scan(
            open_run{range.open, range.some, range.ended},
            [&](const open_run& left, const open_run& right) { return joined(task, left, right); });
        open_run left = warp::shuffle_up(through, 1);
        if (lane == 0) {
            left = open_run{};
        }
        auto* const slots = reinterpret_cast<flagged_slot<A>*>(memory);
        if (blockIdx.x + 1 != blocks && lane == warp::lanes - 1) {
            detail::publish(&slots[blockIdx.x], through.fold);
        }
        bool writes = range.ended && left.ended;
        const bool ends_earlier = range.ended && !left.ended; // a run that began in an earlier block
        if (blockIdx.x != 0 && __any_sync(warp::all_lanes, ends_earlier)) {
            const A earlier = warp::shuffle(take_open(task, slots, static_cast<unsigned>(before.behind_last) - 1), 0);
            if (ends_earlier) {
                left = {joined(task, true, earlier, left.some, left.fold), true, true};
                writes = true;
            }
        }
        if (writes) {
            task.values_out[range.head_index] =
                static_cast<result_type>(joined(task, left.some, left.fold, range.has_head, range.head));
        }
    }

private:
    using result_type = element_written_t<ValuesOut, A>;

    // Adds the last run of a tile, or all of the tile if none begins there.
    __device__ void open(const task_type& task, const A& of_tile, bool begins) {
        runs_.open = begins || !runs_.some ? of_tile : static_cast<A>(task.op(runs_.open, of_tile));
        runs_.some = true;
    }
    __device__ static A joined(const task_type& task, bool has_left, const A& left, bool has_right, const A& right) {
        return has_left && has_right ? static_cast<A>(task.op(left, right)) : (has_left ? left : right);
    }
    // The last run so far of neighbouring ranges; whether they have elements, and whether it begins there.
    struct open_run {
        A fold;
        bool some, ended;
    };
    __device__ static open_run joined(const task_type& task, const open_run& left, const open_run& right) {
        return right.ended ? right
                           : open_run{joined(task, left.some, left.fold, right.some, right.fold),
                                      left.some || right.some, left.ended};
    }
    // By one warp: the fold of what the blocks from `first` to this one have open, in lane 0. No other block takes it.
    __device__ static A take_open(const task_type& task, flagged_slot<A>* slots, unsigned first) {
        A all{};
        for (unsigned begin = first; begin < blockIdx.x; begin += warp::lanes) {
            const unsigned count = min(warp::lanes, blockIdx.x - begin);
            A open{};
            if (threadIdx.x < count) {
                open = detail::take_slot(&slots[begin + threadIdx.x]);
            }
            __syncwarp();
            open = fold_lanes(open, count, joined_by{task.op});
            all = joined(task, begin != first, all, true, open);
        }
        return all;
    }

    range_runs runs_{};
};

// Lengths: from places, which count from where tile 0 begins.
template <class A, class Keys, class KeysOut, class Lengths, class Op, class Equal>
class run_walk<keyed_fold<A, Keys, all_ones, KeysOut, Lengths, Op, Equal>> {
public:
    using task_type = keyed_fold<A, Keys, all_ones, KeysOut, Lengths, Op, Equal>;
    using Value = void;
    static constexpr std::size_t open_bytes = 0;
    template <unsigned Warps>
    struct storage {};

    __device__ static void check() { check_operation<Equal, element_t<Keys>>(); }
    __device__ static const run_beginnings& of_block(const run_beginnings& block) { return block; }

    __device__ explicit run_walk(const run_beginnings& before) : behind_last_(before.behind_last) {}

    template <class Part, class Place>
    __device__ void write(const task_type& task, const Part&, unsigned char*, std::uint64_t tile_begin,
                          const tile_runs<Place>& runs) {
        const auto behind = [&](unsigned k) { return tile_begin + runs.places[k] + 1; };
#pragma unroll 1
        for (unsigned k = threadIdx.x % warp::lanes; k < runs.all; k += warp::lanes) {
            if (runs.before + k != 0) { // element 0 ends no run
                task.values_out[runs.before + k - 1] =
                    static_cast<element_written_t<Lengths, A>>(behind(k) - (k == 0 ? behind_last_ : behind(k - 1)));
            }
        }
        if (runs.all != 0) {
            behind_last_ = behind(runs.all - 1);
        }
    }
    template <unsigned Warps>
    __device__ void join_warps(const task_type&, storage<Warps>&, unsigned char*, const run_beginnings&,
                               unsigned) const {}

private:
    std::uint64_t behind_last_; // the last beginning of a run
};

} // namespace warpfold::detail
