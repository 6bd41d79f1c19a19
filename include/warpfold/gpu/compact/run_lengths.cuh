// SPDX-License-Identifier: MIT
// A tile of a run-length encoding on a GPU: a reduction by key of ones, which needs no fold. A run is as long as its beginning
// lies before the next one; each beginning writes the length of the run before it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "warpfold/detail/compact.hpp"
#include "warpfold/gpu/compact/kernel.cuh"
#include "warpfold/gpu/compact/staged_results.cuh"
#include "warpfold/gpu/compact/tile_rows.cuh"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/gpu/scan/elements.cuh"

namespace warpfold::detail {

// Of the beginnings of runs in a stretch: how many, and the place behind the last one, 0 if there is none. Places count from where
// tile 0 begins.
template <class N>
struct beginnings {
    N count, behind_last;
};
using run_beginnings = beginnings<std::uint64_t>;

// The same in a tile: the count in the lower half, the place, counted from where the tile begins, in the upper half.
struct tile_beginnings {
    WARPFOLD_HD static unsigned count(unsigned packed) { return packed & 0xffff; }
    WARPFOLD_HD static unsigned behind_last(unsigned packed) { return packed >> 16; }
};

// Joins neighbouring stretches.
struct join_beginnings {
    __device__ unsigned operator()(unsigned left, unsigned right) const {
        return right == 0 ? left : tile_beginnings::count(left) + right;
    }
    template <class N>
    __device__ beginnings<N> operator()(const beginnings<N>& left, const beginnings<N>& right) const {
        return {left.count + right.count, right.count == 0 ? left.behind_last : right.behind_last};
    }
};

template <unsigned Run, unsigned Rows>
__device__ unsigned scan_run_totals(unsigned (&runs)[Rows], const join_beginnings&) {
    unsigned counts[Rows];
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) {
        counts[r] = tile_beginnings::count(runs[r]);
    }
    const unsigned all = scan_run_counts<Run>(counts);
    const unsigned lanes_before = (1u << threadIdx.x % warp::lanes) - 1;
    unsigned through = 0; // behind the last beginning so far
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) {
        const unsigned lanes = __ballot_sync(warp::all_lanes, runs[r] != 0), before = lanes & lanes_before;
        const unsigned of_row = tile_beginnings::behind_last(runs[r]);
        const unsigned nearest = warp::shuffle(of_row, 31 - __clz(static_cast<int>(before | 1)));
        const unsigned last = warp::shuffle(of_row, 31 - __clz(static_cast<int>(lanes | 1)));
        runs[r] = counts[r] | (before != 0 ? nearest : through) << 16;
        through = lanes != 0 ? last : through;
    }
    return all | through << 16;
}

template <class A, class Keys, class KeysOut, class Lengths, class Op, class Equal>
struct compact_layout<keyed_fold<A, Keys, all_ones, KeysOut, Lengths, Op, Equal>> {
    using task_type = keyed_fold<A, Keys, all_ones, KeysOut, Lengths, Op, Equal>;
    using local_type = unsigned;
    template <class N>
    using total_type = beginnings<N>;
    using Key = element_t<Keys>;
    static constexpr std::size_t read_bytes = sizeof(Key);
    static constexpr std::size_t bytes =
        std::max({sizeof(Key), sizeof(element_written_t<KeysOut, Key>), sizeof(element_written_t<Lengths, A>)});
    static constexpr tuning::compact_tiles tiles_of(const tuning::compact_kernels& kernels) {
        return sizeof(Key) < 4 ? kernels.narrow : kernels.wide;
    }
    static constexpr bool few_registers = sizeof(Key) <= 16;
    static constexpr unsigned staged_arrays = 1;

    static const Keys& first_input(const task_type& task) { return task.keys; }
    template <class Rows>
    __device__ static void prefetch(const task_type& task, const Rows& rows, unsigned tiles) {
        rows.prefetch(task.keys, tiles);
    }
    __device__ static join_beginnings sums(const task_type&) { return {}; }
    template <class N>
    __device__ static std::uint64_t count_of(const beginnings<N>& total) {
        return total.count;
    }
};

template <class A, class Keys, class KeysOut, class Lengths, class Op, class Equal, class Shape>
class compact_tile<keyed_fold<A, Keys, all_ones, KeysOut, Lengths, Op, Equal>, Shape> {
public:
    using task_type = keyed_fold<A, Keys, all_ones, KeysOut, Lengths, Op, Equal>;
    using Key = element_t<Keys>;
    using KeyOut = element_written_t<KeysOut, Key>;
    using Length = element_written_t<Lengths, A>;
    using Rows = typename Shape::rows_type;
    static_assert(Shape::tile < 0xffff && sizeof(Length) <= 16);

    struct storage {
        // Behind a gap in which a length that is not written has a place.
        alignas(16) unsigned char results[16 + (Shape::tile + 1) * Shape::bytes + 16];
    };

    __device__ compact_tile(const task_type& task, const Rows& rows, storage& shared)
        : task_(task), rows_(rows), memory_(shared.results + 16) {
        check_operation<Equal, Key>();
        rows.start(task.keys, memory_);
        const Key edge = rows.edge(task.keys);
        rows.take(task.keys, memory_, keys_);
        detail::find_heads(rows, edge, keys_, task.equal, heads_);
    }

    [[nodiscard]] __device__ unsigned total(unsigned r) const {
        const unsigned behind_last = place(r) + 32 - static_cast<unsigned>(__clz(static_cast<int>(heads_[r])));
        return heads_[r] == 0 ? 0 : static_cast<unsigned>(__popc(heads_[r])) | behind_last << 16;
    }
    template <class Total>
    [[nodiscard]] __device__ Total widened(unsigned total) const {
        using N = decltype(Total::count);
        return {tile_beginnings::count(total),
                total == 0 ? 0 : static_cast<N>(tile_begin() + tile_beginnings::behind_last(total))};
    }

    // Barriers.
    template <class Total>
    __device__ void write(const unsigned (&before)[Rows::rows], const Total& prefix, unsigned total, bool) {
        const unsigned runs = tile_beginnings::count(total);
        const staged_results<KeysOut, KeyOut> keys(memory_, task_.keys_out, prefix.count, runs);
#pragma unroll
        for (unsigned r = 0; r < Rows::rows; ++r) {
            keys.put(tile_beginnings::count(before[r]), heads_[r], keys_[r]);
        }
        __syncthreads();
        keys.write();
        __syncthreads();

        // Element 0 ends no run; the end of the last tile does.
        const unsigned first = prefix.count == 0 ? 1 : 0, closing = blockIdx.x == last_tile() ? 1 : 0;
        const staged_results<Lengths, Length> lengths(memory_, task_.values_out, prefix.count + first - 1,
                                                      runs + closing - first);
#pragma unroll
        for (unsigned r = 0; r < Rows::rows; ++r) {
            unsigned behind_last = tile_beginnings::behind_last(before[r]);
            Length* at = lengths.place(tile_beginnings::count(before[r])) - first;
#pragma unroll
            for (unsigned j = 0; j < Rows::run; ++j) {
                const unsigned head = heads_[r] >> j & 1, behind = place(r) + j + 1;
                if (head != 0) {
                    *at = static_cast<Length>(behind - behind_last);
                    behind_last = behind;
                }
                at += head;
            }
            const bool first_of_tile = tile_beginnings::count(before[r]) == 0 && heads_[r] != 0;
            if (first_of_tile && first == 0) { // the run before it began in another tile
                *lengths.place(0) = static_cast<Length>(tile_begin() + place(r) + __ffs(static_cast<int>(heads_[r])) -
                                                        prefix.behind_last);
            }
        }
        if (closing != 0 && threadIdx.x == 0) {
            const Total all = join_beginnings{}(prefix, widened<Total>(total));
            *lengths.place(runs - first) =
                static_cast<Length>(rows_.n - rows_.begin + tile_begin() + 1 - all.behind_last);
        }
        __syncthreads();
        lengths.write();
    }

private:
    // Of the run in row r, in the tile.
    [[nodiscard]] __device__ unsigned place(unsigned r) const {
        return static_cast<unsigned>(rows_.index(r) - rows_.begin);
    }
    [[nodiscard]] __device__ std::uint64_t tile_begin() const { return std::uint64_t{blockIdx.x} * Shape::tile; }
    [[nodiscard]] __device__ unsigned last_tile() const {
        const std::uint64_t shift = tile_begin() - rows_.begin;
        return static_cast<unsigned>(Shape::tiles_of(rows_.n, static_cast<unsigned>(shift)) - 1);
    }

    const task_type& task_;
    const Rows& rows_;
    unsigned char* memory_;
    Key keys_[Rows::rows][Rows::run];
    unsigned heads_[Rows::rows]; // where runs begin
};

} // namespace warpfold::detail
