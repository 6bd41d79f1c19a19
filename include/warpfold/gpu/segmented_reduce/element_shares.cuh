// SPDX-License-Identifier: MIT
// Segments cut across blocks: every block gets an equal share of the elements. It folds the piece of each segment in
// its share, one piece after another, with all its threads; a short piece is folded by one warp, each of many short
// segments by one thread.
#pragma once

#include <cstdint>

#include "warpfold/gpu/segmented_reduce/join_blocks.cuh"
#include "warpfold/gpu/segmented_reduce/merge_path.cuh"
#include "warpfold/gpu/segmented_reduce/teams.cuh"

namespace warpfold::detail {

// True where elements may be shared out among blocks: any order is allowed, and shared memory holds the values.
template <class Op, class A>
inline constexpr bool shares_elements_v = is_commutative_v<Op> && sizeof(A) <= 32;

// Shared memory of a block.
template <class A>
struct element_shares_storage {
    static constexpr unsigned batch = warp::lanes; // pieces at a time

    std::uint64_t before[batch + 1]; // elements before each piece's segment
    alignas(A) unsigned char of_warp[batch * warp::lanes * sizeof(A)];
    alignas(A) unsigned char open[sizeof(A)];
};

// The weight of a segment's end in elements: about what a block reads while it starts on another piece.
inline constexpr unsigned piece_weight = 512;

// Pieces of up to so many elements are folded by one warp, several pieces side by side.
inline constexpr unsigned warp_piece = 1024;

// Segments of up to so many elements are folded by one thread, if a block's next ones are all so short.
inline constexpr unsigned thread_piece = 16;

// Folds the segments from `begin` on, one a thread, as long as they are that short and end before position block_end.
// Returns their number. The whole block calls it.
template <class A, class In, class Offsets, class Map, class Op, class Result, class Out>
__device__ std::uint64_t fold_short_segments(const In& in, const segment_path<Offsets>& path, const Map& map,
                                             const Op& op, const Result& result, const Out& out, std::uint64_t begin,
                                             std::uint64_t block_end) {
    __shared__ unsigned together; // segments of a round
    std::uint64_t passed = 0;
    do {
        const std::uint64_t s = begin + passed + threadIdx.x;
        const std::uint64_t from = s == 0 ? 0 : path.elements_before(path.end_offset(s - 1));
        const std::uint64_t behind = path.elements_before_end(s);
        __syncthreads();
        if (threadIdx.x == 0) {
            together = blockDim.x;
        }
        __syncthreads();
        if (behind - from > thread_piece || behind > path.elements || behind + s * piece_weight >= block_end) {
            atomicMin(&together, threadIdx.x);
        }
        __syncthreads();
        if (threadIdx.x < together) {
            const auto length = static_cast<unsigned>(behind - from);
            out[s] = result(fold_little<A, thread_piece>(in, path.base + from, length, map, op, 0, 1));
        }
        passed += together;
    } while (together == blockDim.x);
    return passed;
}

template <class Kernels, class A, class In, class Offsets, class Signposts, class Map, class Op, class Result,
          class Out>
__device__ void fold_element_shares(const In& in, const segment_path<Offsets>& path, const Signposts& samples,
                                    const Map& map, const Op& op, const Result& result, const Out& out,
                                    flagged_slot<A>* slots, element_shares_storage<A>& shared, segment_carry<A>& whole,
                                    block::reduce_storage<A>& folding) {
    constexpr unsigned batch = element_shares_storage<A>::batch;
    // Positions count elements, and after each segment but the last piece_weight for its end.
    const std::uint64_t total = path.elements + (path.segments - 1) * piece_weight + 1;
    const std::uint64_t share = ((total + gridDim.x - 1) / gridDim.x + 1023) / 1024 * 1024;
    const std::uint64_t block_begin = blockIdx.x * share;
    if (block_begin >= total) {
        return;
    }
    const std::uint64_t block_end = block_begin + share < total ? block_begin + share : total;
    const std::uint64_t first = path.ends_before(block_begin, samples, piece_weight);
    const unsigned lane = threadIdx.x % warp::lanes, warp = threadIdx.x / warp::lanes, warps = blockDim.x / warp::lanes;
    auto* const of_warp = reinterpret_cast<A*>(shared.of_warp);
    A& open = *reinterpret_cast<A*>(shared.open);
    if (threadIdx.x == 0) {
        whole.ended = false;
        whole.begun_before = false;
        whole.segment = first;
        open = Op::template identity<A>();
    }
    bool more = true;
    std::uint64_t begin = first;
    while (more) {
        __syncthreads();
        if (threadIdx.x <= batch) {
            shared.before[threadIdx.x] = path.elements_before(path.end_offset(begin + threadIdx.x - 1));
        }
        if (blockDim.x == batch && threadIdx.x == 0) {
            shared.before[batch] = path.elements_before(path.end_offset(begin + batch - 1));
        }
        if (begin == 0 && threadIdx.x == 0) {
            shared.before[0] = 0;
        }
        __syncthreads();
        // Lane j gets the range [from, to) of piece j of the batch within the block's share; empty after the last
        // piece.
        const std::uint64_t s = begin + lane;
        // Clamped to the number of elements, in case offsets decrease.
        const std::uint64_t behind = min(shared.before[lane + 1], path.elements);
        const std::uint64_t before = min(shared.before[lane], behind);
        const std::uint64_t at = before + s * piece_weight;
        const bool there = s < path.segments && at < block_end;
        // The pieces before the first one outside the share.
        const auto pieces =
            static_cast<unsigned>(__clz(static_cast<int>(__brev(~__ballot_sync(warp::all_lanes, there)))));
        more = pieces == batch;
        const std::uint64_t from = before + (block_begin > at ? min(block_begin - at, behind - before) : 0);
        const std::uint64_t to = before + (there ? min(block_end - at, behind - before) : 0);
        const std::uint64_t length = to > from ? to - from : 0;
        const bool begins_here = shared.before[0] + begin * piece_weight >= block_begin;
        if (more && begins_here && __all_sync(warp::all_lanes, length <= thread_piece)) { // all warps decide alike
            const std::uint64_t passed = fold_short_segments<A>(in, path, map, op, result, out, begin, block_end);
            if (passed != 0) { // 0 if offsets decrease
                begin += passed;
                if (threadIdx.x == 0) {
                    whole.ended = true;
                }
                continue;
            }
        }
        const unsigned of_one_warp = __ballot_sync(warp::all_lanes, length <= warp_piece);
        for (unsigned j = 0; j < pieces; ++j) {
            const bool little = (of_one_warp >> j & 1) != 0;
            if (little && warp != j % warps) {
                continue;
            }
            const std::uint64_t elements = warp::shuffle(length, j), start = path.base + warp::shuffle(from, j);
            A mine = Op::template identity<A>();
            if (elements != 0) {
                mine = fold_by_team<Kernels, A>(in, start, elements, map, op, little ? lane : threadIdx.x,
                                                little ? warp::lanes : blockDim.x);
            }
            mine = warp::reduce(mine, op);
            if (lane == 0) {
                of_warp[j * warp::lanes + (little ? 0 : warp)] = mine;
            }
        }
        __syncthreads();
        if (threadIdx.x < pieces) {
            A value = of_warp[lane * warp::lanes];
            if ((of_one_warp >> lane & 1) == 0) {
                for (unsigned w = 1; w < warps; ++w) {
                    value = op(value, of_warp[lane * warp::lanes + w]);
                }
            }
            if (lane + 1 == pieces && behind + s * piece_weight >= block_end) {
                open = value;
            } else if (s != first) {
                out[s] = result(value);
            } else {
                whole.ended = true;
                whole.begun_before = at < block_begin;
                whole.head = value;
                if (!whole.begun_before) {
                    out[s] = result(value);
                }
            }
        }
        begin += batch;
    }
    __syncthreads();
    // The segment before the first one ended in this block, which published its part of the next.
    const auto first_block =
        first == 0 ? 0u : static_cast<unsigned>((path.begin_of(first, piece_weight) - piece_weight) / share);
    join_blocks(slots, block_end < total, open, first_block, op, result, out, whole, folding);
}

// Not inlined, so that it takes no registers from the caller.
// static: in relocatable code a kernel with a limit of registers can call no external function that takes more.
template <class Kernels, class A, class In, class Offsets, class Signposts, class Map, class Op, class Result,
          class Out>
static __device__ __noinline__ void
fold_element_shares_noinline(In in, Offsets offsets, std::uint64_t segments, segment_cut cut, Map map, Op op,
                             Result result, Out out, flagged_slot<A>* slots, Signposts& samples,
                             element_shares_storage<A>& shared, segment_carry<A>& whole,
                             block::reduce_storage<A>& folding) {
    const segment_path<Offsets> path(offsets, segments, cut, samples);
    __syncthreads();
    fold_element_shares<Kernels, A>(in, path, samples, map, op, result, out, slots, shared, whole, folding);
}

} // namespace warpfold::detail
