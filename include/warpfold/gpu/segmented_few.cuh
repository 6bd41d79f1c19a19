// SPDX-License-Identifier: MIT
// Segmented reduction of no more than a few thousand segments on a GPU. Consecutive segments are a range, one a block. If
// no range is long, each segment is folded by a team of its block, and nothing is joined; else blocks have equal shares
// of the elements (segmented_pieces.cuh). Every block finds out by itself, from where the ranges begin.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/block/reduce.cuh"
#include "warpfold/gpu/launch.cuh"
#include "warpfold/gpu/merge_path.cuh"
#include "warpfold/gpu/segmented_pieces.cuh"
#include "warpfold/gpu/segmented_team.cuh"

namespace warpfold::detail {

struct few_segments {
    static constexpr unsigned threads = 512;
    static constexpr unsigned blocks_per_multiprocessor = segmented_tuning.few_blocks;
    static constexpr unsigned ranges = 256;  // at most; no more than threads
    static constexpr unsigned of_range = 64; // segments, at most
    static constexpr std::uint64_t most = segmented_tuning.few;
    static_assert(most <= ranges * of_range);
};

template <class A>
struct few_segments_storage {
    std::uint64_t begin[few_segments::of_range + 1]; // of the segments of the block's range
    segment_signposts<few_segments::ranges> signposts;
    segment_pieces_storage<A> pieces;
    block::reduce_storage<A> folding;
    alignas(segment_ends<A>) unsigned char whole[sizeof(segment_ends<A>)];
};

// A block's range of segments, of which `begin` tells where they are.
template <class A, class In, class Map, class Op, class Result, class Out>
__device__ void fold_range(const In& in, const std::uint64_t* begin, std::uint64_t first, unsigned count, const Map& map,
                           const Op& op, const Result& result, const Out& out, block::reduce_storage<A>& folding) {
    using T = element_t<In>;
    constexpr unsigned width = sizeof(T) >= 16 ? 1 : 16 / sizeof(T);
    constexpr unsigned warps = few_segments::threads / warp::lanes;
    constexpr unsigned few_loads = 4; // of an element each
    const unsigned log_team = count <= warps ? 5 : (count <= 2 * warps ? 4 : 3);
    const unsigned team = 1u << log_team, thread = threadIdx.x & (team - 1), own = threadIdx.x >> log_team;
    const unsigned longest = team * width * segmented_tuning.loads * segmented_tuning.rounds; // that a team folds
    // No more than the range has, should the offsets decrease in it.
    const std::uint64_t least = begin[0], most = begin[count];
    const auto at = [&](unsigned s) { return min(max(begin[min(s, count)], least), most); };
    const auto length_of = [&](unsigned s) {
        const std::uint64_t from = at(s), to = at(s + 1);
        return static_cast<unsigned>(to > from ? to - from : 0);
    };
    const unsigned length = length_of(own);
    A mine = Op::template identity<A>();
    if (length <= few_loads * team) {
        mine = fold_little<A, few_loads>(in, at(own), length, map, op, thread, team);
    } else if (length <= longest) {
        mine = fold_by_team<A>(in, at(own), length, map, op, thread, team);
    }
    mine = reduce_team(mine, op, team);
    if (thread == 0 && own < count && length <= longest) {
        out[first + own] = result(mine);
    }
    for (unsigned begun = 0; begun < count; begun += warp::lanes) {
        unsigned longer = __ballot_sync(warp::all_lanes, length_of(begun + threadIdx.x % warp::lanes) > longest);
        while (longer != 0) {
            const unsigned s = begun + static_cast<unsigned>(__ffs(static_cast<int>(longer)) - 1);
            longer &= longer - 1;
            mine = fold_by_team<A>(in, at(s), length_of(s), map, op, threadIdx.x, few_segments::threads);
            mine = block::reduce(mine, op, folding);
            if (threadIdx.x == 0) {
                out[first + s] = result(mine);
            }
            __syncthreads();
        }
    }
}

template <class A, class In, class Offsets, class Map, class Op, class Result, class Out>
__global__ void __launch_bounds__(few_segments::threads, few_segments::blocks_per_multiprocessor)
    few_segments_kernel(In in, Offsets offsets, std::uint64_t segments, Map map, Op op, Result result, Out out,
                        segment_cut cut, mailbox<A>* boxes) {
    __shared__ few_segments_storage<A> shared;

    allow_later();
    await_earlier();
    if constexpr (!std::is_same_v<Offsets, equal_segments>) {
        // All that is read here is on its way at the same time.
        const unsigned k = threadIdx.x;
        const std::uint64_t first = cut.begin(blockIdx.x);
        const unsigned count = blockIdx.x < cut.ranges ? static_cast<unsigned>(cut.count(blockIdx.x)) : 0;
        std::uint64_t elements = 0; // of a range; many where the offsets decrease
        if (k < cut.ranges) {
            elements = static_cast<std::uint64_t>(offsets[cut.begin(k + 1)]) -
                       static_cast<std::uint64_t>(offsets[cut.begin(k)]);
        }
        if (k <= count && count != 0) {
            shared.begin[k] = static_cast<std::uint64_t>(offsets[first + k]);
        }
        constexpr std::uint64_t small = segmented_tuning.bytes_of_range / sizeof(element_t<In>);
        if (__syncthreads_or(elements > small ? 1 : 0) == 0) {
            if (count != 0) {
                fold_range<A>(in, shared.begin, first, count, map, op, result, out, shared.folding);
            }
            return;
        }
    }
    const segment_path<Offsets> path(offsets, segments, cut, shared.signposts);
    __syncthreads();
    fold_pieces<A>(in, path, shared.signposts, map, op, result, out, boxes, shared.pieces,
                   *reinterpret_cast<segment_ends<A>*>(shared.whole), shared.folding);
}

} // namespace warpfold::detail
