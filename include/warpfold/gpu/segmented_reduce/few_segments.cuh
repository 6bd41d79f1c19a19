// SPDX-License-Identifier: MIT
// Segmented reduction of up to 16,384 segments. Consecutive segments form ranges, one per block. If no range is long,
// the teams of a block fold its segments and no values cross blocks. Otherwise blocks get equal shares of the elements
// (element_shares.cuh). Each block reads where all ranges begin, so all blocks decide alike.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/block/reduce.cuh"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/segmented_reduce/element_shares.cuh"
#include "warpfold/gpu/segmented_reduce/merge_path.cuh"
#include "warpfold/gpu/segmented_reduce/teams.cuh"

namespace warpfold::detail {

struct few_segments {
    static constexpr unsigned threads = 512;
    static constexpr unsigned ranges = 256;   // at most; no more than threads
    static constexpr unsigned of_range = 128; // segments, at most
    static_assert(tuning::segmented_reduce_policy<>::most_few_segments <= ranges * of_range);
};

template <class A>
struct few_segments_storage {
    std::uint64_t begin[few_segments::of_range + 1]; // of the segments in the block's range
    offset_samples<few_segments::ranges> samples;
    element_shares_storage<A> pieces;
    block::reduce_storage<A> folding;
    alignas(segment_carry<A>) unsigned char whole[sizeof(segment_carry<A>)];
};

// How the threads of a block divide among `count` segments that are not long.
template <class Kernels, class T>
struct few_segments_teams {
    static constexpr unsigned warps = few_segments::threads / warp::lanes;
    static constexpr unsigned width = sizeof(T) >= 16 ? 1 : 16 / sizeof(T);
    static constexpr unsigned element_loads = 4; // of one element each

    unsigned log_team;

    __device__ explicit few_segments_teams(unsigned count)
        : log_team(count <= warps ? 5 : (count <= 2 * warps ? 4 : (count <= 4 * warps ? 3 : 2))) {}
    __device__ unsigned team() const { return 1u << log_team; }
    __device__ unsigned thread() const { return threadIdx.x & (team() - 1); }
    __device__ unsigned own() const { return threadIdx.x >> log_team; } // index of the team's segment in the range
    // The most elements that a team folds, and that a warp folds.
    __device__ unsigned longest() const {
        return team() * width * Kernels::value.vector_loads_in_flight * Kernels::value.team_max_rounds;
    }
    __device__ static constexpr unsigned longest_of_warp() {
        return warp::lanes * width * Kernels::value.vector_loads_in_flight * Kernels::value.team_max_rounds;
    }
};

// Folds the team's own segment, if it is not too long for a team.
template <class Kernels, class A, class In, class Map, class Op, class Result, class Out>
__device__ void fold_team_segment(const In& in, std::uint64_t from, unsigned length,
                                  const few_segments_teams<Kernels, element_t<In>>& teams, std::uint64_t segment,
                                  bool some, const Map& map, const Op& op, const Result& result, const Out& out) {
    constexpr unsigned element_loads = few_segments_teams<Kernels, element_t<In>>::element_loads;
    A mine = Op::template identity<A>();
    if (length <= element_loads * teams.team()) {
        mine = fold_little<A, element_loads>(in, from, length, map, op, teams.thread(), teams.team());
    } else if (length <= teams.longest()) {
        mine = fold_by_team<Kernels, A, Kernels::value.vector_loads_in_flight, 2>(in, from, length, map, op,
                                                                                  teams.thread(), teams.team());
    }
    mine = reduce_team(mine, op, teams.team());
    if (teams.thread() == 0 && some && length <= teams.longest()) {
        out[segment] = result(mine);
    }
}

// Folds the only segment of a block's range, by one warp or by all threads.
template <class Kernels, class A, class In, class Map, class Op, class Result, class Out>
__device__ void fold_single_segment(const In& in, std::uint64_t from, std::uint64_t length,
                                    const few_segments_teams<Kernels, element_t<In>>& teams, std::uint64_t segment,
                                    const Map& map, const Op& op, const Result& result, const Out& out,
                                    block::reduce_storage<A>& folding) {
    if (length > teams.longest()) {
        A mine = fold_by_team<Kernels, A>(in, from, static_cast<unsigned>(length), map, op, threadIdx.x,
                                          few_segments::threads);
        mine = block::reduce(mine, op, folding);
        if (threadIdx.x == 0) {
            out[segment] = result(mine);
        }
    } else if (threadIdx.x < warp::lanes) {
        fold_team_segment<Kernels, A>(in, from, static_cast<unsigned>(length), teams, segment, true, map, op, result,
                                      out);
    }
}

// Folds those segments of a block's range that are too long for a team, with all threads. `begin` has their offsets.
template <class Kernels, class A, class In, class Map, class Op, class Result, class Out>
__device__ void fold_long_segments(const In& in, const std::uint64_t* begin, std::uint64_t first, unsigned count,
                                   unsigned longest, const Map& map, const Op& op, const Result& result, const Out& out,
                                   A* of_warp) {
    constexpr unsigned warps = few_segments::threads / warp::lanes;
    // Clamped to the range, in case offsets decrease.
    const std::uint64_t least = begin[0], most = begin[count];
    const auto at = [&](unsigned s) { return min(max(begin[min(s, count)], least), most); };
    const auto length_of = [&](unsigned s) {
        const std::uint64_t from = at(s), to = at(s + 1);
        return static_cast<unsigned>(to > from ? to - from : 0);
    };
    const unsigned lane = threadIdx.x % warp::lanes, warp = threadIdx.x / warp::lanes;
    const unsigned little =
        few_segments_teams<Kernels, element_t<In>>::longest_of_warp(); // longest segment for one warp
    for (unsigned begun = 0; begun < count; begun += warp::lanes) {
        const unsigned length_here = length_of(begun + lane);
        const unsigned longer = __ballot_sync(warp::all_lanes, length_here > longest);
        const unsigned of_block = __ballot_sync(warp::all_lanes, length_here > little && length_here > longest);
        if (longer == 0) {
            continue;
        }
        // No barrier between segments: warps need not wait for each other.
        unsigned turn = 0;
        for (unsigned rest = longer; rest != 0; rest &= rest - 1) {
            const unsigned j = static_cast<unsigned>(__ffs(static_cast<int>(rest)) - 1), s = begun + j;
            const bool alone = (of_block >> j & 1) == 0;
            if (alone && turn++ % warps != warp) {
                continue;
            }
            A mine = fold_by_team<Kernels, A>(in, at(s), length_of(s), map, op, alone ? lane : threadIdx.x,
                                              alone ? warp::lanes : few_segments::threads);
            mine = warp::reduce(mine, op);
            if (lane == 0) {
                of_warp[j * warps + (alone ? 0 : warp)] = mine;
            }
        }
        __syncthreads();
        if (threadIdx.x < warp::lanes && (longer >> lane & 1) != 0) {
            A mine = of_warp[lane * warps];
            if ((of_block >> lane & 1) != 0) {
#pragma unroll
                for (unsigned w = 1; w < warps; ++w) {
                    mine = op(mine, of_warp[lane * warps + w]);
                }
            }
            out[first + begun + lane] = result(mine);
        }
        __syncthreads();
    }
}

template <class Kernels, class A, class In, class Offsets, class Map, class Op, class Result, class Out>
__global__ void __launch_bounds__(few_segments::threads, Kernels::value.few_resident_blocks)
    few_segments_kernel(In in, Offsets offsets, std::uint64_t segments, Map map, Op op, Result result, Out out,
                        segment_cut cut, std::uint64_t fair_part, flagged_slot<A>* slots) {
    __shared__ few_segments_storage<A> shared;
    check_operation<Op, A>();

    pdl_trigger();
    pdl_wait();
    if constexpr (!std::is_same_v<Offsets, equal_segments>) {
        // All these loads are in flight together.
        using offset_type = element_t<Offsets>;
        using index = std::conditional_t<sizeof(offset_type) <= 4, unsigned, std::uint64_t>;
        const unsigned k = min(threadIdx.x, cut.ranges - 1);
        const std::uint64_t first = cut.begin(min(blockIdx.x, cut.ranges));
        const unsigned count = blockIdx.x < cut.ranges ? static_cast<unsigned>(cut.count(blockIdx.x)) : 0;
        const few_segments_teams<Kernels, element_t<In>> teams(count);
        const unsigned own = count == 1 ? 0 : min(teams.own(), count), next = min(own + 1, count);
        const offset_type of_all = offsets[0], behind_all = offsets[segments];
        const offset_type of_range = offsets[cut.begin(k)], behind_range = offsets[cut.begin(k + 1)];
        const offset_type of_own = offsets[first + own], behind_own = offsets[first + next];
        const auto place = [](offset_type of) { return static_cast<index>(of); };
        // Clamped to the number of elements, in case offsets decrease.
        const index least = place(of_all), most = place(behind_all), total = most - least;
        const index from = min(max(place(of_own), least), most), to = min(max(place(behind_own), from), most);
        const index length = to - from;
        if (teams.thread() == 0 && teams.own() < count && count != 1) {
            shared.begin[own] = from;
            if (next == count) {
                shared.begin[count] = to;
            }
        }
        constexpr index small = Kernels::value.few_range_max_bytes / sizeof(element_t<In>);
        // If there are few elements, no range is long. Otherwise all blocks check for a range longer than an even
        // share.
        bool ranges_suit = total <= small;
        if (!ranges_suit) {
            const std::uint64_t fair = total < 1ull << 40 ? min(__umul64hi(total, fair_part), 1ull << 30) : 0;
            const index much = max(small, static_cast<index>(fair));
            ranges_suit = __syncthreads_or(place(behind_range) - place(of_range) > much ? 1 : 0) == 0;
        }
        if (ranges_suit) {
            if (count == 1) {
                fold_single_segment<Kernels, A>(in, from, length, teams, first, map, op, result, out, shared.folding);
            } else if (count != 0) {
                const bool mine = length <= teams.longest();
                fold_team_segment<Kernels, A>(in, from, mine ? static_cast<unsigned>(length) : ~0u, teams, first + own,
                                              teams.own() < count, map, op, result, out);
                if (__syncthreads_or(mine ? 0 : 1) != 0) {
                    fold_long_segments<Kernels, A>(in, shared.begin, first, count, teams.longest(), map, op, result,
                                                   out, reinterpret_cast<A*>(shared.pieces.of_warp));
                }
            }
            return;
        }
    }
    fold_element_shares_noinline<Kernels, A>(in, offsets, segments, cut, map, op, result, out, slots, shared.samples,
                                             shared.pieces, *reinterpret_cast<segment_carry<A>*>(shared.whole),
                                             shared.folding);
}

} // namespace warpfold::detail
