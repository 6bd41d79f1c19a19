// SPDX-License-Identifier: MIT
// What a warp makes of the runs of equal keys in its range of a long array (keyed_ranges.cuh): folds of their values, or their
// lengths. A walk has
//   Value                the type of the values that are read, void if none are
//   skips_result(runs)   whether the first beginning of a run, before which so many are, ends one whose result is not known
//   in_tile              the lane's elements: runs() of the warp's tile and runs_before_lane(); then, element by element,
//                        result(j) of the run that ends before it, and begin(j) of a run or go_on(j); end() of the array
//   keep_first()         keeps the result that is skipped
//   leave()              goes on to the next tile
//   close()              at the end of the array
//   join_warps()         by whole blocks, at the end: what is missing where runs cross ranges
#pragma once

#include <cstdint>

#include "warpfold/detail/compact.hpp"
#include "warpfold/gpu/compact/keyed_fold.cuh"
#include "warpfold/gpu/compact/run_lengths.cuh"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/gpu/core/flagged_slot.cuh"
#include "warpfold/gpu/scan/tile_prefix.cuh"

namespace warpfold::detail {

// The place behind the last of some bits.
__device__ inline unsigned behind_last_head(unsigned heads) {
    return 32 - static_cast<unsigned>(__clz(static_cast<int>(heads)));
}

template <class Task>
class run_walk;

// Folds. Of a range the walk keeps the fold of its last run so far, and that of its elements before the first beginning of
// a run, which is joined with what precedes the range when all ranges of the block have been written.
template <class A, class Keys, class Values, class KeysOut, class ValuesOut, class Op, class Equal>
class run_walk<keyed_fold<A, Keys, Values, KeysOut, ValuesOut, Op, Equal>> {
public:
    using task_type = keyed_fold<A, Keys, Values, KeysOut, ValuesOut, Op, Equal>;
    using Value = element_t<Values>;
    using Local = keyed_total<A, unsigned>;
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

    [[nodiscard]] __device__ bool skips_result(std::uint64_t /*runs*/) const { return !runs_.ended; }

    template <class Part>
    class in_tile {
    public:
        __device__ in_tile(const run_walk& walk, const task_type& task, const Part& part, unsigned char* values,
                           std::uint64_t /*tile_begin*/, unsigned heads) {
            part.take_run(values, items_);
            A sum = static_cast<A>(items_[0]);
#pragma unroll
            for (unsigned j = 1; j < Part::run; ++j) {
                const A item = static_cast<A>(items_[j]);
                sum = (heads >> j & 1) != 0 ? item : static_cast<A>(task.op(sum, item));
            }
            Local lane[1] = {Local::of(sum, static_cast<unsigned>(__popc(heads)))};
            total_ = detail::scan_run_totals<Part::run>(lane, keyed_operation<A, Op>{task.op});
            before_ = lane[0].count();
            const bool is_first = threadIdx.x % warp::lanes == 0;
            is_alone_ = is_first && !walk.runs_.some;
            if (is_first) {
                sum_ = walk.runs_.open;
            } else if (before_ != 0 || !walk.runs_.some) {
                sum_ = lane[0].value();
            } else {
                sum_ = static_cast<A>(task.op(walk.runs_.open, lane[0].value()));
            }
        }

        [[nodiscard]] __device__ unsigned runs() const { return total_.count(); }
        [[nodiscard]] __device__ unsigned runs_before_lane() const { return before_; }
        [[nodiscard]] __device__ const A& result(unsigned /*j*/) const { return sum_; }
        __device__ void begin(unsigned j) { sum_ = static_cast<A>(items_[j]); }
        __device__ void go_on(const task_type& task, unsigned j) { sum_ = with(task, sum_, j); }
        __device__ void end() { last_ = sum_; }

    private:
        friend run_walk;
        __device__ A with(const task_type& task, const A& sum, unsigned j) const {
            const A item = static_cast<A>(items_[j]);
            return j == 0 && is_alone_ ? item : static_cast<A>(task.op(sum, item));
        }

        Value items_[Part::run];
        Local total_;
        A sum_, last_{}; // of the run up to the present element, and up to the array's last one
        unsigned before_;
        bool is_alone_; // no element of the range precedes the lane's
    };

    template <class Elements>
    __device__ void keep_first(const Elements& elements, const task_type& task, unsigned heads, std::uint64_t runs) {
        const bool is_mine = heads != 0 && elements.before_ == 0;
        A head = elements.sum_;
        bool some = !elements.is_alone_;
        if (is_mine) {
#pragma unroll
            for (unsigned j = 0; j < sizeof(elements.items_) / sizeof(Value); ++j) {
                if ((heads & ((2u << j) - 1)) == 0) {
                    head = elements.with(task, head, j);
                    some = true;
                }
            }
        }
        const unsigned lane =
            static_cast<unsigned>(__ffs(static_cast<int>(__ballot_sync(warp::all_lanes, is_mine)))) - 1;
        runs_.head = warp::shuffle(head, lane);
        runs_.has_head = warp::shuffle(some ? 1u : 0u, lane) != 0;
        runs_.head_index = runs - 1;
        runs_.ended = true;
    }

    template <bool Whole, class Elements, class Part>
    __device__ void leave(const Elements& elements, const task_type& task, const Part& part, std::uint64_t) {
        if (!Whole && part.begin + part.behind == part.n) {
            runs_.open = warp::shuffle(elements.last_, (part.behind - 1) / Part::run);
        } else if (elements.total_.count() != 0 || !runs_.some) {
            runs_.open = elements.total_.value();
        } else {
            runs_.open = static_cast<A>(task.op(runs_.open, elements.total_.value()));
        }
        runs_.some = true;
    }

    __device__ void close(const task_type&, std::uint64_t, std::uint64_t) const {}

    // `memory`: for each of the blocks a slot. `before`: of the blocks before this one, as by of_block().
    template <unsigned Warps>
    __device__ void join_warps(const task_type& task, storage<Warps>& shared, unsigned char* memory,
                               const run_beginnings& before, unsigned blocks, std::uint64_t all_runs) const {
        if (threadIdx.x % warp::lanes == 0) {
            shared.of_warp[threadIdx.x / warp::lanes] = runs_;
        }
        __syncthreads();
        if (threadIdx.x >= warp::lanes) {
            return;
        }
        const bool writes = threadIdx.x == 0;
        range_runs block{};
#pragma unroll 1
        for (unsigned w = 0; w < Warps; ++w) {
            const range_runs range = shared.of_warp[w];
            if (range.ended) {
                const A ended = joined(task, block.some, block.open, range.has_head, range.head);
                if (!block.ended) {
                    block.head = ended;
                    block.has_head = block.some || range.has_head;
                    block.head_index = range.head_index;
                    block.ended = true;
                } else if (writes) {
                    task.values_out[range.head_index] = static_cast<result_type>(ended);
                }
                block.open = range.open;
            } else {
                block.open = joined(task, block.some, block.open, range.some, range.open);
            }
            block.some = block.some || range.some;
        }
        auto* const slots = reinterpret_cast<flagged_slot<A>*>(memory);
        if (blockIdx.x + 1 != blocks) {
            if (writes) {
                detail::publish(&slots[blockIdx.x], block.open);
            }
        } else if (block.ended) {
            if (writes) {
                task.values_out[all_runs - 1] = static_cast<result_type>(block.open);
            }
        } else {
            block.head = block.open;
            block.head_index = all_runs - 1;
            block.has_head = block.ended = true;
        }
        if (blockIdx.x != 0 && block.ended) {
            const A open = take_open(task, slots, static_cast<unsigned>(before.behind_last) - 1);
            if (writes) {
                task.values_out[block.head_index] =
                    static_cast<result_type>(joined(task, true, open, block.has_head, block.head));
            }
        }
    }

private:
    using result_type = element_written_t<ValuesOut, A>;

    __device__ static A joined(const task_type& task, bool has_left, const A& left, bool has_right, const A& right) {
        return has_left && has_right ? static_cast<A>(task.op(left, right)) : (has_left ? left : right);
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

    [[nodiscard]] __device__ static bool skips_result(std::uint64_t runs) { return runs == 0; }

    template <class Part>
    class in_tile {
    public:
        __device__ in_tile(const run_walk& walk, const task_type&, const Part&, unsigned char*,
                           std::uint64_t tile_begin, unsigned heads) {
            const unsigned place = Part::place(0);
            unsigned lane[1] = {
                heads == 0 ? 0 : static_cast<unsigned>(__popc(heads)) | (place + behind_last_head(heads)) << 16};
            total_ = detail::scan_run_totals<Part::run>(lane, join_beginnings{});
            before_ = tile_beginnings::count(lane[0]);
            since_ = tile_begin + place + 1 -
                     (before_ == 0 ? walk.behind_last_ : tile_begin + tile_beginnings::behind_last(lane[0]));
        }

        [[nodiscard]] __device__ unsigned runs() const { return tile_beginnings::count(total_); }
        [[nodiscard]] __device__ unsigned runs_before_lane() const { return before_; }
        [[nodiscard]] __device__ std::uint64_t result(unsigned j) const { return since_ + j; }
        __device__ void begin(unsigned j) { since_ = 0 - std::uint64_t{j}; }
        __device__ void go_on(const task_type&, unsigned) {}
        __device__ void end() {}

    private:
        friend run_walk;
        unsigned total_, before_;
        std::uint64_t since_; // so many elements lie from the beginning of the run to the lane's first one
    };

    template <class Elements>
    __device__ void keep_first(const Elements&, const task_type&, unsigned, std::uint64_t) const {}
    template <bool Whole, class Elements, class Part>
    __device__ void leave(const Elements& elements, const task_type&, const Part&, std::uint64_t tile_begin) {
        if (elements.total_ != 0) {
            behind_last_ = tile_begin + tile_beginnings::behind_last(elements.total_);
        }
    }
    __device__ void close(const task_type& task, std::uint64_t end, std::uint64_t runs) const {
        if (threadIdx.x % warp::lanes == 0) {
            task.values_out[runs - 1] = static_cast<element_written_t<Lengths, A>>(end + 1 - behind_last_);
        }
    }
    template <unsigned Warps>
    __device__ void join_warps(const task_type&, storage<Warps>&, unsigned char*, const run_beginnings&, unsigned,
                               std::uint64_t) const {}

private:
    std::uint64_t behind_last_; // the last beginning of a run
};

} // namespace warpfold::detail
