// SPDX-License-Identifier: MIT
// A tile of a reduction by key on a GPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "warpfold/detail/compact.hpp"
#include "warpfold/gpu/compact/kernel.cuh"
#include "warpfold/gpu/compact/staged_results.cuh"
#include "warpfold/gpu/compact/tile_rows.cuh"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/gpu/scan/elements.cuh"

namespace warpfold::detail {

// The fold of a stretch of keyed elements: of those since the last beginning of a run, of which there are count(). Where
// there is none, of all. In words, so that nothing of it is undefined.
template <class A, class Count>
struct keyed_total {
    static constexpr unsigned value_words = (sizeof(A) + 3) / 4, count_words = sizeof(Count) / 4;
    unsigned word[value_words + count_words];

    __device__ static keyed_total of(const A& value, Count count) {
        keyed_total total{};
        std::memcpy(total.word, &value, sizeof(A));
        std::memcpy(total.word + value_words, &count, sizeof(Count));
        return total;
    }
    [[nodiscard]] __device__ A value() const {
        A value;
        std::memcpy(&value, word, sizeof(A));
        return value;
    }
    [[nodiscard]] __device__ Count count() const {
        Count count;
        std::memcpy(&count, word + value_words, sizeof(Count));
        return count;
    }
};

// Joins totals of neighbouring stretches.
template <class A, class Op>
struct keyed_operation {
    template <class Count>
    __device__ keyed_total<A, Count> operator()(const keyed_total<A, Count>& left,
                                                const keyed_total<A, Count>& right) const {
        const A value = right.count() != 0 ? right.value() : static_cast<A>(op(left.value(), right.value()));
        return keyed_total<A, Count>::of(value, left.count() + right.count());
    }

    const Op& op;
};

// The totals of the warp's runs before each one, from theirs; of values, not defined for the first. Returns the total of all,
// in all lanes.
template <unsigned Run, class A, class Op, unsigned Rows>
__device__ keyed_total<A, unsigned> scan_run_totals(keyed_total<A, unsigned> (&runs)[Rows],
                                                    const keyed_operation<A, Op>& keyed) {
    const unsigned lane = threadIdx.x % warp::lanes;
    unsigned counts[Rows];
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) {
        counts[r] = runs[r].count();
    }
    const unsigned all = scan_run_counts<Run>(counts);
    A through{};
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) {
        unsigned heads = 0; // lanes in whose run one begins
        const A value = warp::inclusive_scan(runs[r].value(), keyed.op, runs[r].count() != 0, heads);
        const A in_row = warp::shuffle_up(value, 1), row = warp::shuffle(value, warp::lanes - 1);
        A before = in_row;
        if (r != 0 && (lane == 0 || (heads & ((1u << lane) - 1)) == 0)) {
            before = lane == 0 ? through : static_cast<A>(keyed.op(through, in_row));
        }
        through = r == 0 || heads != 0 ? row : static_cast<A>(keyed.op(through, row));
        runs[r] = keyed_total<A, unsigned>::of(before, counts[r]);
    }
    return keyed_total<A, unsigned>::of(through, all);
}

template <class A, class Keys, class Values, class KeysOut, class ValuesOut, class Op, class Equal>
struct compact_layout<keyed_fold<A, Keys, Values, KeysOut, ValuesOut, Op, Equal>> {
    using task_type = keyed_fold<A, Keys, Values, KeysOut, ValuesOut, Op, Equal>;
    using local_type = keyed_total<A, unsigned>;
    template <class N>
    using total_type = keyed_total<A, N>;
    using Key = element_t<Keys>;
    using Value = element_t<Values>;
    static constexpr std::size_t read_bytes =
        std::is_pointer_v<Values> ? std::max(sizeof(Key), sizeof(Value)) : sizeof(Key);
    static constexpr std::size_t bytes = std::max(
        {sizeof(Key), sizeof(Value), sizeof(element_written_t<KeysOut, Key>), sizeof(element_written_t<ValuesOut, A>)});
    static constexpr tuning::compact_tiles tiles_of(const tuning::compact_kernels& kernels) { return kernels.keyed; }
    static constexpr bool few_registers = sizeof(Key) <= 8 && sizeof(Value) <= 8 && sizeof(A) <= 8;
    static constexpr unsigned staged_arrays = 2;

    static const Keys& first_input(const task_type& task) { return task.keys; }
    template <class Rows>
    __device__ static void prefetch(const task_type& task, const Rows& rows, unsigned tiles) {
        rows.prefetch(task.keys, tiles);
        rows.prefetch(task.values, tiles);
    }
    __device__ static keyed_operation<A, Op> sums(const task_type& task) { return {task.op}; }
    template <class N>
    __device__ static std::uint64_t count_of(const total_type<N>& total) {
        return total.count();
    }
};

// Element 0 begins a run. So a fold before it, which has no meaning, is never used.
template <class A, class Keys, class Values, class KeysOut, class ValuesOut, class Op, class Equal, class Shape>
class compact_tile<keyed_fold<A, Keys, Values, KeysOut, ValuesOut, Op, Equal>, Shape> {
public:
    using task_type = keyed_fold<A, Keys, Values, KeysOut, ValuesOut, Op, Equal>;
    using Key = element_t<Keys>;
    using KeyOut = element_written_t<KeysOut, Key>;
    using ValueOut = element_written_t<ValuesOut, A>;
    using Rows = typename Shape::rows_type;
    using local_type = keyed_total<A, unsigned>;

    // Keys and values of the tile where runs are staged, and later the results.
    static constexpr std::size_t keys_bytes = (Rows::staging_bytes(sizeof(Key), Shape::threads) + 15) / 16 * 16,
                                 staging = keys_bytes + Rows::staging_bytes(sizeof(element_t<Values>), Shape::threads);
    struct storage {
        alignas(16) unsigned char results[std::max(staging, Shape::tile* Shape::bytes + 16)];
        bool joins; // the first element belongs to a run that begins in an earlier tile
        bool open;  // the last run goes on in the next tile
    };

    __device__ compact_tile(const task_type& task, const Rows& rows, storage& shared)
        : task_(task), rows_(rows), shared_(shared) {
        check_operation<Op, A>();
        check_operation<Equal, Key>();
        rows.start(task.keys, shared.results);
        rows.start(task.values, shared.results + keys_bytes);
        const Key edge = rows.edge(task.keys);
        rows.template take<1>(task.keys, shared.results, keys_);
        detail::find_heads(rows, edge, keys_, task.equal, heads_);
        detail::find_tails(rows, edge, keys_, task.equal, heads_, tails_);
        rows.take(task.values, shared.results + keys_bytes, values_);
        if (threadIdx.x == 0) {
            shared.joins = blockIdx.x != 0 && (heads_[0] & 1) == 0;
        }
        if (threadIdx.x == Shape::threads - 1) {
            shared.open = rows.has(Rows::rows - 1, Rows::run - 1) && tails_[Rows::rows - 1] >> (Rows::run - 1) == 0;
        }
    }

    [[nodiscard]] __device__ local_type total(unsigned r) const {
        A sum = value(r, 0);
#pragma unroll
        for (unsigned j = 1; j < Rows::run; ++j) {
            sum = is_head(r, j) ? value(r, j) : static_cast<A>(task_.op(sum, value(r, j)));
        }
        return local_type::of(sum, static_cast<unsigned>(__popc(heads_[r])));
    }

    template <class Total>
    [[nodiscard]] __device__ Total widened(const local_type& total) const {
        return Total::of(total.value(), total.count());
    }

    // Barriers.
    template <class Total>
    __device__ void write(const local_type (&before)[Rows::rows], const Total& prefix, const local_type& total, bool) {
        const staged_results<KeysOut, KeyOut> keys(shared_.results, task_.keys_out, prefix.count(), total.count());
#pragma unroll
        for (unsigned r = 0; r < Rows::rows; ++r) {
            keys.put(before[r].count(), heads_[r], keys_[r]);
        }
        __syncthreads();
        keys.write();
        __syncthreads();

        const unsigned joins = shared_.joins ? 1 : 0, open = shared_.open ? 1 : 0; // runs
        const staged_results<ValuesOut, ValueOut> values(shared_.results, task_.values_out, prefix.count() - joins,
                                                         total.count() + joins - open);
#pragma unroll
        for (unsigned r = 0; r < Rows::rows; ++r) {
            A sum = before[r].value();
            // Runs of the tile that have ended: those that have begun, but for one that goes on in this row.
            ValueOut* at = values.place(before[r].count() + joins - (is_head(r, 0) || !rows_.has(r, 0) ? 0 : 1));
            if (r == 0 && threadIdx.x == 0) {
                sum = prefix.value();
            } else if (before[r].count() == 0) {
                sum = static_cast<A>(task_.op(prefix.value(), sum));
            }
#pragma unroll
            for (unsigned j = 0; j < Rows::run; ++j) {
                sum = is_head(r, j) ? value(r, j) : static_cast<A>(task_.op(sum, value(r, j)));
                const unsigned tail = tails_[r] >> j & 1;
                if (tail != 0) {
                    *at = static_cast<ValueOut>(sum);
                }
                at += tail;
            }
        }
        __syncthreads();
        values.write();
    }

private:
    [[nodiscard]] __device__ A value(unsigned r, unsigned j) const { return static_cast<A>(values_[r][j]); }
    [[nodiscard]] __device__ bool is_head(unsigned r, unsigned j) const { return (heads_[r] >> j & 1) != 0; }

    const task_type& task_;
    const Rows& rows_;
    storage& shared_;
    Key keys_[Rows::rows][Rows::run];
    element_t<Values> values_[Rows::rows][Rows::run];
    unsigned heads_[Rows::rows], tails_[Rows::rows]; // where runs begin and end
};

} // namespace warpfold::detail
