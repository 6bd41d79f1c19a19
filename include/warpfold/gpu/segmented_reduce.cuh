// SPDX-License-Identifier: MIT
// Segmented reduction on a GPU in one launch. Elements and ends of segments together, in the order in which one passes
// them, are shared out evenly among the warps of the grid; so no length of a segment matters. What a warp leaves open
// its block joins, what a block leaves open it posts, and the block in which that segment ends collects it. Which
// elements are folded by whom depends on the offsets and the device alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "warpfold/block/reduce.cuh"
#include "warpfold/gpu/mailbox.cuh"
#include "warpfold/gpu/segmented_equal.cuh"
#include "warpfold/gpu/segmented_warp.cuh"
#include "warpfold/gpu/target.hpp"
#include "warpfold/host/segmented_reduce.hpp"

namespace warpfold::detail {

// What a warp has of the segments at both ends of its part.
template <class A>
struct segment_ends {
    A head;                // of the first one that ends here, if it began before
    A open;                // of the one that does not end here
    std::uint64_t segment; // the one with the head
    bool some;             // whether the warp has anything
    bool ended;            // whether a segment ended
    bool begun_before;
};

template <class T, class A>
struct segmented_storage {
    static constexpr unsigned warps = segmented_tile<T, A>::warps;

    segmented_warp_storage<T, A> of_warp[warps];
    alignas(segment_ends<A>) unsigned char ends[warps * sizeof(segment_ends<A>)];
    block::reduce_storage<A> folding;
    alignas(segment_ends<A>) unsigned char whole[sizeof(segment_ends<A>)]; // the block's
};

// What one of `team` threads has of `count` elements from `first` on, every so many vectors.
template <class A, class In, class Map, class Op>
__device__ A fold_by_team(const In& in, std::uint64_t first, std::uint64_t count, const Map& map, const Op& op,
                          unsigned thread, unsigned team) {
    using T = element_t<In>;
    A mine = Op::template identity<A>();
    const auto take = [&](const T& x, std::uint64_t k) {
        mine = op(mine, static_cast<A>(mapped(map, x, first + k)));
    };
    if constexpr (std::is_pointer_v<In> && fits_vectors_v<T>) {
        const vector_view<T> view(in + first, count);
        constexpr unsigned width = vector_view<T>::width;
        constexpr unsigned loads = 4;
        for (std::uint64_t k = thread; k < view.vectors; k += loads * team) {
            uint4 loaded[loads];
#pragma unroll
            for (unsigned i = 0; i < loads; ++i) {
                if (k + i * team < view.vectors) {
                    loaded[i] = __ldcs(view.data + k + i * team);
                }
            }
#pragma unroll
            for (unsigned i = 0; i < loads; ++i) {
                if (k + i * team < view.vectors) {
#pragma unroll
                    for (unsigned j = 0; j < width; ++j) {
                        take(element_of<T>(loaded[i], j), view.head + (k + i * team) * width + j);
                    }
                }
            }
        }
        for (std::uint64_t k = thread; k < view.head; k += team) {
            take(in[first + k], k);
        }
        for (std::uint64_t k = view.tail + thread; k < count; k += team) {
            take(in[first + k], k);
        }
    } else {
#pragma unroll 4
        for (std::uint64_t k = thread; k < count; k += team) {
            take(in[first + k], k);
        }
    }
    return mine;
}

template <class A, class In, class Offsets, class Map, class Op, class Result, class Out>
__global__ void __launch_bounds__(segmented_tile<element_t<In>, A>::threads,
                                  segmented_tile<element_t<In>, A>::blocks_per_multiprocessor)
    segmented_kernel(In in, Offsets offsets, std::uint64_t segments, Map map, Op op, Result result, Out out,
                     mailbox<A>* boxes) {
    using tile = segmented_tile<element_t<In>, A>;
    __shared__ segmented_storage<element_t<In>, A> shared;
    __shared__ segment_signposts signposts;

    const segment_path<Offsets> path(offsets, segments, signposts);
    if constexpr (is_commutative_v<Op>) {
        // Where that leaves none with much, a segment is a warp's or a block's and nobody waits for anybody.
        constexpr std::uint64_t of_warp = segmented_tuning.bytes_of_warp / sizeof(element_t<In>);
        constexpr std::uint64_t of_block = segmented_tuning.bytes_of_block / sizeof(element_t<In>);
        const bool by_blocks = segments <= gridDim.x;
        if (segments <= std::uint64_t{gridDim.x} * tile::warps &&
            path.all_within(by_blocks ? of_block : of_warp, signposts)) {
            const unsigned team = by_blocks ? tile::threads : warp::lanes;
            const std::uint64_t s = blockIdx.x + std::uint64_t{threadIdx.x / team} * gridDim.x;
            if (s < segments) {
                const std::uint64_t begin = path.known_begin(s, signposts);
                A mine = fold_by_team<A>(in, path.base + begin, path.known_end(s, signposts) - begin, map, op,
                                         threadIdx.x % team, team);
                mine = by_blocks ? warpfold::block::reduce(mine, op, shared.folding) : warp::reduce(mine, op);
                if (threadIdx.x % team == 0) {
                    out[s] = result(mine);
                }
            }
            return;
        }
    }
    const std::uint64_t warps = std::uint64_t{gridDim.x} * tile::warps;
    const std::uint64_t even = (path.total + warps - 1) / warps;
    const std::uint64_t share = even <= segmented_tuning.least ? segmented_tuning.least : (even + 31) / 32 * 32;
    const std::uint64_t block_begin = blockIdx.x * tile::warps * share;
    if (block_begin >= path.total) {
        return;
    }
    const unsigned warp = threadIdx.x / warp::lanes;
    const std::uint64_t begin = block_begin + warp * share;
    auto* const ends = reinterpret_cast<segment_ends<A>*>(shared.ends);
    if (begin < path.total) {
        const std::uint64_t end = begin + share < path.total ? begin + share : path.total;
        const std::uint64_t first = path.ends_before(begin, signposts);
        const bool begun_before = first < segments && path.begin_of(first) < begin;
        const A nothing = Op::template identity<A>();
        segmented_warp<A, In, Offsets, Map, Op, Result, Out> mine{
            in,          path, map,         op, result, out, shared.of_warp[warp], end - begin, begun_before,
            begin - first, 0,  first,       nothing, nothing};
        mine.run();
        if (threadIdx.x % warp::lanes == 0) {
            ends[warp] = {mine.head, mine.open, first, true, mine.segment != first, begun_before};
        }
    } else if (threadIdx.x % warp::lanes == 0) {
        ends[warp].some = false;
    }
    __syncthreads();

    // The warps' ends together: what the block has of the first segment that ends in it, if that began before the
    // block, and of the one that it leaves open.
    auto& whole = *reinterpret_cast<segment_ends<A>*>(shared.whole);
    if (threadIdx.x == 0) {
        A open = Op::template identity<A>();
        whole.ended = false;
        whole.begun_before = false;
        for (unsigned w = 0; w < tile::warps && ends[w].some; ++w) {
            const segment_ends<A>& one = ends[w];
            if (!one.ended) {
                open = op(open, one.open);
                continue;
            }
            if (!whole.ended) {
                whole.ended = true;
                whole.segment = one.segment;
                whole.begun_before = path.begin_of(one.segment) < block_begin;
                whole.head = op(open, one.head);
                if (one.begun_before && !whole.begun_before) {
                    out[one.segment] = result(whole.head);
                }
            } else if (one.begun_before) {
                out[one.segment] = result(static_cast<A>(op(open, one.head)));
            }
            open = one.open;
        }
        // A block posts before it waits for those before it, which started earlier and wait for none behind them.
        const std::uint64_t block_end = block_begin + tile::warps * share;
        if (block_end < path.total) {
            detail::post(&boxes[blockIdx.x], open);
        }
    }
    __syncthreads();
    // A block takes the boxes from the one where the segment before its first one ended up to its own: so each box is
    // emptied once.
    if (blockIdx.x != 0 && whole.ended) {
        const std::uint64_t begun = path.begin_of(whole.segment);
        const auto first_block = static_cast<unsigned>(begun == 0 ? 0 : (begun - 1) / (tile::warps * share));
        const unsigned count = first_block < blockIdx.x ? blockIdx.x - first_block : 0; // 0 if the offsets decrease
        const unsigned each = (count + tile::threads - 1) / tile::threads;
        const unsigned stop = min((threadIdx.x + 1) * each, count);
        A before = Op::template identity<A>();
        for (unsigned k = threadIdx.x * each; k < stop; ++k) {
            before = op(before, detail::collect(&boxes[first_block + k]));
        }
        before = warpfold::block::reduce(before, op, shared.folding);
        if (threadIdx.x == 0 && whole.begun_before) {
            out[whole.segment] = result(static_cast<A>(op(before, whole.head)));
        }
    }
}

template <>
struct segmented_engine<gpu> {
    template <class A, class In, class Offsets, class Map, class Op, class Result, class Out>
    static void into(const gpu& on, const In& in, const Offsets& offsets, std::uint64_t segments, const Map& map,
                     const Op& op, const Result& result, const Out& out, const char* call) {
        check_array(in, call);
        check_array(offsets, call);
        if (segments == 0) {
            return;
        }
        if constexpr (std::is_same_v<Offsets, equal_segments> && short_segments<In>::possible) {
            using shape = short_segments<In>;
            if (offsets.length != 0 && offsets.length <= shape::longest) {
                const std::uint64_t most = device_attribute(cudaDevAttrMultiProcessorCount) *
                                           std::uint64_t{shape::blocks_per_multiprocessor};
                const std::uint64_t of_block = shape::items / offsets.length * shape::threads; // segments
                const auto blocks = static_cast<unsigned>(std::min(most, (segments + of_block - 1) / of_block));
                short_segments_kernel<A><<<blocks, shape::threads, 0, on.stream>>>(
                    in, static_cast<unsigned>(offsets.length), segments, map, op, result, out);
                WARPFOLD_CHECK_CUDA(cudaGetLastError());
                return;
            }
        }
        using tile = segmented_tile<element_t<In>, A>;
        const unsigned blocks = device_attribute(cudaDevAttrMultiProcessorCount) * tile::blocks_per_multiprocessor;
        const call_memory memory(on, blocks * sizeof(mailbox<A>), 0, call);
        segmented_kernel<A><<<blocks, tile::threads, 0, on.stream>>>(
            in, offsets, segments, map, op, result, out, static_cast<mailbox<A>*>(memory.boxes()));
        WARPFOLD_CHECK_CUDA(cudaGetLastError());
    }
};

} // namespace warpfold::detail
