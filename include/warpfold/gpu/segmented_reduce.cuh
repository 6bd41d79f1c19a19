// SPDX-License-Identifier: MIT
// Segmented reduction on a GPU in one launch. Elements and ends of segments together, in the order in which one passes
// them, are shared out evenly among the blocks, in tiles, and a tile among its threads; so no length of a segment
// matters. What a block leaves open it posts, and the block in which that segment ends collects it. Which elements are
// folded by whom depends on the offsets and the device alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "warpfold/block/reduce.cuh"
#include "warpfold/detail/fold.hpp"
#include "warpfold/gpu/mailbox.cuh"
#include "warpfold/gpu/merge_path.cuh"
#include "warpfold/gpu/target.hpp"
#include "warpfold/host/segmented_reduce.hpp"
#include "warpfold/tuning/segmented_reduce.hpp"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

inline constexpr tuning::segmented_reduce segmented_tuning = tuning::segmented_reduce_default;

// An element or the end of a segment, in registers and in shared memory.
template <class T>
struct alignas(sizeof(T) > 8 ? 4 : (sizeof(T) > 4 ? 8 : 4)) staged {
    static constexpr unsigned words = (sizeof(T) + 3) / 4;

    unsigned word[words];

    __device__ void put(const T& x) {
        word[words - 1] = 0;
        std::memcpy(word, &x, sizeof(T));
    }
    __device__ T element() const {
        T x;
        std::memcpy(&x, word, sizeof(T));
        return x;
    }
};

template <class T, class A>
struct segmented_tile {
    static constexpr unsigned each = sizeof(staged<T>) + sizeof(A);
    static constexpr unsigned threads = each <= 128 ? segmented_tuning.threads : 64;
    static_assert(each <= 640, "segmented_reduce: elements and values are too large for a GPU's shared memory");
    static constexpr unsigned fit = segmented_tuning.bytes_per_thread / each;
    // Of a thread; odd, so that threads that read at this distance find different banks.
    static constexpr unsigned items = fit < 1 ? 1 : (fit % 2 == 1 ? fit : fit - 1);
    static constexpr unsigned size = threads * items;
};

template <class T, class A>
struct segmented_storage {
    using tile = segmented_tile<T, A>;
    static constexpr unsigned warps = tile::threads / warp::lanes;

    staged<T> item[tile::size];                               // a tile's elements, behind them its ends
    alignas(A) unsigned char results[tile::size * sizeof(A)]; // of the segments that end in the tile
    block::reduce_storage<A> folding;
    alignas(A) unsigned char open[2][sizeof(A)];         // of the segment that the last tile left open
    alignas(A) unsigned char head[sizeof(A)];            // what the block has of the first one that ends in it
    alignas(A) unsigned char of_warp[warps * sizeof(A)]; // what each warp leaves open
    bool ends_in_warp[warps];
    std::uint64_t ends[tile::threads + 1]; // how many segments end before each of some tiles
};

// A block's tiles, one after the other.
template <class A, class In, class Offsets, class Map, class Op, class Result, class Out>
struct segmented_block {
    using T = element_t<In>;
    using tile = segmented_tile<T, A>;
    using storage = segmented_storage<T, A>;

    const In& in;
    const segment_path<Offsets>& path;
    const Map& map;
    const Op& op;
    const Result& result;
    const Out& out;
    storage& shared;
    std::uint64_t held_back; // the segment whose result is not all in this block, or none

    // The items of a tile: `elements` from in[first], and `ends` from segment `segment`.
    struct range {
        std::uint64_t first;
        std::uint64_t segment;
        unsigned elements;
        unsigned ends;
    };
    using items = staged<T>[tile::items];

    __device__ range tile_between(std::uint64_t begin, std::uint64_t end, std::uint64_t segment,
                                  std::uint64_t next) const {
        const auto ends = static_cast<unsigned>(next - segment);
        return {path.base + begin - segment, segment, static_cast<unsigned>(end - begin) - ends, ends};
    }

    __device__ void load(const range& of, items& into) const {
#pragma unroll
        for (unsigned j = 0; j < tile::items; ++j) {
            const unsigned k = threadIdx.x + j * tile::threads;
            if (k < of.elements) {
                into[j].put(in[of.first + k]);
            } else if (k < of.elements + of.ends) {
                const auto end = static_cast<std::uint64_t>(path.offsets[of.segment + 1 + (k - of.elements)]);
                into[j].word[0] = static_cast<unsigned>(end - of.first);
            }
        }
    }

    // A tile in which no segment ends: this thread's share, for an operation that commutes.
    __device__ void fold_plain(const range& of, const items& held, A& mine) const {
#pragma unroll
        for (unsigned j = 0; j < tile::items; ++j) {
            const unsigned k = threadIdx.x + j * tile::threads;
            if (k < of.elements) {
                mine = op(mine, static_cast<A>(mapped(map, held[j].element(), of.first + k)));
            }
        }
    }

    __device__ void put(const items& held) const {
#pragma unroll
        for (unsigned j = 0; j < tile::items; ++j) {
            shared.item[threadIdx.x + j * tile::threads] = held[j];
        }
    }

    // How many of the tile's ends come before its item d.
    __device__ unsigned ends_before(const range& of, unsigned d) const {
        unsigned least = d > of.elements ? d - of.elements : 0;
        unsigned most = min(d, of.ends);
        while (least < most) {
            const unsigned middle = (least + most) / 2;
            if (shared.item[of.elements + middle].word[0] + middle < d) {
                least = middle + 1;
            } else {
                most = middle;
            }
        }
        return least;
    }

    // The tile in shared memory. `which` of the two open values holds, the other one does afterwards.
    __device__ void fold_tile(const range& of, unsigned which) const {
        const unsigned lane = threadIdx.x % warp::lanes, warp = threadIdx.x / warp::lanes;
        const unsigned count = of.elements + of.ends;
        const unsigned d = min(threadIdx.x * tile::items, count);
        A* const results = reinterpret_cast<A*>(shared.results);

        // This thread's items, one after the other.
        unsigned segment = ends_before(of, d);
        const unsigned first = segment;
        unsigned k = d - segment;
        unsigned end = segment < of.ends ? shared.item[of.elements + segment].word[0] : of.elements + 1;
        A open = Op::template identity<A>();
        const unsigned mine = min(tile::items, count - d);
#pragma unroll
        for (unsigned j = 0; j < tile::items; ++j) {
            if (j < mine) {
                if (k < end) {
                    open = op(open, static_cast<A>(mapped(map, shared.item[k].element(), of.first + k)));
                    ++k;
                } else {
                    results[segment] = open;
                    open = Op::template identity<A>();
                    ++segment;
                    end = segment < of.ends ? shared.item[of.elements + segment].word[0] : of.elements + 1;
                }
            }
        }

        // What comes before this thread's items and belongs to its first end.
        const bool any = segment != first;
        const unsigned who = __ballot_sync(warp::all_lanes, any);
        const unsigned up_to_here = who & (0xffffffffu >> (31 - lane));
        const unsigned reach = up_to_here != 0 ? lane - (31 - __clz(up_to_here)) : lane;
#pragma unroll
        for (unsigned distance = 1; distance < warp::lanes; distance *= 2) {
            const A other = warp::shuffle_up(open, distance);
            if (distance <= reach) {
                open = op(other, open);
            }
        }
        A* const of_warp = reinterpret_cast<A*>(shared.of_warp);
        if (lane == warp::lanes - 1) {
            of_warp[warp] = open;
            shared.ends_in_warp[warp] = who != 0;
        }
        A before = warp::shuffle_up(open, 1);
        __syncthreads();
        A of_others = *reinterpret_cast<const A*>(shared.open[which]);
        for (unsigned w = 0; w < warp; ++w) {
            of_others = shared.ends_in_warp[w] ? of_warp[w] : op(of_others, of_warp[w]);
        }
        if (lane == 0) {
            before = of_others;
        } else if ((who & ((1u << lane) - 1)) == 0) {
            before = op(of_others, before);
        }
        if (any) {
            results[first] = op(before, results[first]);
        }
        if (threadIdx.x == tile::threads - 1) {
            *reinterpret_cast<A*>(shared.open[1 - which]) = who != 0 ? open : op(of_others, open);
        }
        __syncthreads();
        for (unsigned s = threadIdx.x; s < of.ends; s += tile::threads) {
            if (of.segment + s == held_back) {
                *reinterpret_cast<A*>(shared.head) = results[s];
            } else {
                out[of.segment + s] = result(results[s]);
            }
        }
    }
};

template <class A, class In, class Offsets, class Map, class Op, class Result, class Out>
__global__ void __launch_bounds__(segmented_tile<element_t<In>, A>::threads, segmented_tuning.blocks_per_multiprocessor)
    segmented_kernel(In in, Offsets offsets, std::uint64_t segments, Map map, Op op, Result result, Out out,
                     mailbox<A>* boxes) {
    using block_t = segmented_block<A, In, Offsets, Map, Op, Result, Out>;
    using tile = typename block_t::tile;
    __shared__ typename block_t::storage shared;
    constexpr std::uint64_t none = ~std::uint64_t{0};

    const segment_path<Offsets> path(offsets, segments);
    // Each block has as much as the others, but no less than a tile.
    const std::uint64_t even = (path.total + gridDim.x - 1) / gridDim.x;
    const std::uint64_t share = even <= tile::size ? tile::size : (even + 31) / 32 * 32;
    const std::uint64_t begin = blockIdx.x * share;
    if (begin >= path.total) {
        return;
    }
    const std::uint64_t end = begin + share < path.total ? begin + share : path.total;
    narrowed bounds[2] = {{0, begin == 0 ? 0 : min(begin, segments)},
                          {end == path.total ? segments : 0, end == path.total ? segments : min(end, segments)}};
    const std::uint64_t borders[2] = {begin, end};
    ends_before(path, borders, bounds);
    const std::uint64_t first_segment = bounds[0].least, next_segment = bounds[1].least;
    const bool begun_before = first_segment < segments && path.begin_of(first_segment) < begin;
    block_t block{in, path, map, op, result, out, shared, begun_before ? first_segment : none};

    if (threadIdx.x == 0) {
        *reinterpret_cast<A*>(shared.open[0]) = Op::template identity<A>();
    }
    unsigned which = 0;
    A mine = Op::template identity<A>(); // of tiles without an end
    bool plain = false;                  // whether there were any since
    const auto join_plain = [&] {
        mine = warpfold::block::reduce(mine, op, shared.folding);
        if (threadIdx.x == 0) {
            A& open = *reinterpret_cast<A*>(shared.open[which]);
            open = op(open, mine);
        }
        mine = Op::template identity<A>();
        plain = false;
    };
    std::uint64_t segment = first_segment;
    for (std::uint64_t from = begin; from < end; from += std::uint64_t{tile::threads} * tile::size) {
        // How many segments end before each of the next tiles, all searched at the same time.
        const std::uint64_t left = (end - from + tile::size - 1) / tile::size;
        const unsigned tiles = left < tile::threads ? static_cast<unsigned>(left) : tile::threads;
        __syncthreads();
        if (threadIdx.x < tiles) {
            const std::uint64_t border = from + (threadIdx.x + std::uint64_t{1}) * tile::size;
            shared.ends[threadIdx.x + 1] =
                border >= end ? next_segment : path.ends_before(border, segment, next_segment);
        }
        if (threadIdx.x == 0) {
            shared.ends[0] = segment;
        }
        __syncthreads();
        const auto range_of = [&](unsigned q) {
            const std::uint64_t at = from + std::uint64_t{q} * tile::size;
            return block.tile_between(at, at + tile::size < end ? at + tile::size : end, shared.ends[q],
                                      shared.ends[q + 1]);
        };
        typename block_t::range range = range_of(0);
        typename block_t::items held;
        block.load(range, held);
        for (unsigned q = 0; q < tiles; ++q) {
            typename block_t::range next{};
            if (is_commutative_v<Op> && range.ends == 0) {
                typename block_t::items following;
                if (q + 1 < tiles) {
                    next = range_of(q + 1);
                    block.load(next, following);
                }
                block.fold_plain(range, held, mine);
                plain = true;
#pragma unroll
                for (unsigned j = 0; j < tile::items; ++j) {
                    held[j] = following[j];
                }
            } else {
                if (plain) {
                    join_plain();
                }
                block.put(held);
                __syncthreads();
                if (q + 1 < tiles) {
                    next = range_of(q + 1);
                    block.load(next, held);
                }
                block.fold_tile(range, which);
                which = 1 - which;
            }
            range = next;
        }
        segment = shared.ends[tiles];
    }
    if (plain) {
        join_plain();
    }
    // A block posts what it leaves open before it waits for those before it: they started earlier, and wait for none
    // behind them.
    __syncthreads();
    if (threadIdx.x == 0 && next_segment < segments && path.begin_of(next_segment) < end) {
        post(&boxes[blockIdx.x], *reinterpret_cast<const A*>(shared.open[which]));
    }
    if (begun_before && next_segment > first_segment) {
        const auto first_block = static_cast<unsigned>(path.begin_of(first_segment) / share);
        const unsigned count = blockIdx.x - first_block;
        const unsigned each = (count + tile::threads - 1) / tile::threads;
        const unsigned stop = min((threadIdx.x + 1) * each, count);
        A before = Op::template identity<A>();
        for (unsigned k = threadIdx.x * each; k < stop; ++k) {
            before = op(before, collect(&boxes[first_block + k]));
        }
        before = warpfold::block::reduce(before, op, shared.folding);
        if (threadIdx.x == 0) {
            out[first_segment] = result(static_cast<A>(op(before, *reinterpret_cast<const A*>(shared.head))));
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
        const unsigned blocks =
            device_attribute(cudaDevAttrMultiProcessorCount) * segmented_tuning.blocks_per_multiprocessor;
        const call_memory memory(on, blocks * sizeof(mailbox<A>), 0, call);
        segmented_kernel<A><<<blocks, segmented_tile<element_t<In>, A>::threads, 0, on.stream>>>(
            in, offsets, segments, map, op, result, out, static_cast<mailbox<A>*>(memory.boxes()));
        WARPFOLD_CHECK_CUDA(cudaGetLastError());
    }
};

} // namespace warpfold::detail
