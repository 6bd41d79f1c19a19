// SPDX-License-Identifier: MIT
// Segments of a few elements on average: a lane folds each. A block goes through its share of the merge path tile by tile.
// The elements of a tile and the ends of its segments pass through shared memory; those of the next tile are on their way
// while one is folded. A warp folds a segment that is long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/fold.hpp"
#include "warpfold/gpu/core/async_copy.cuh"
#include "warpfold/gpu/segmented_reduce/join_blocks.cuh"
#include "warpfold/gpu/segmented_reduce/merge_path.cuh"
#include "warpfold/gpu/segmented_reduce/staged_part.cuh"
#include "warpfold/gpu/segmented_reduce/warp_tile.cuh"
#include "warpfold/warp/reduce.cuh"

namespace warpfold::detail {

// True where elements and offsets can be copied as they are, and it is faster: not for elements of 8 bytes (decision 14).
template <class A, class In, class Offsets>
inline constexpr bool has_lane_tiles_v = std::is_pointer_v<In>&& std::is_pointer_v<Offsets> &&
                                         sizeof(element_t<In>) <= 4 && sizeof(A) <= 16;

template <class T, class Offset>
struct lane_tile {
    // As much as 42 KiB of shared memory hold, with 3.75 elements for each end.
    static constexpr unsigned fitting = 42 * 1024 * 4 / (2 * 15 * sizeof(T) + 3 * 4 * sizeof(Offset)) / warp::lanes;
    static constexpr unsigned each = fitting < warp::lanes ? fitting : warp::lanes; // ends for a lane
    static constexpr unsigned ends = each * warp::lanes;                            // of segments, at most
    static constexpr unsigned size = ends * 15 / 4;                                 // elements, at most
    static constexpr unsigned lane_elements = 32; // of a segment, at most; a warp folds a longer one
};

// Shared memory of a block.
template <class A, class T, class Offset>
struct lane_tiles_storage {
    using tile = lane_tile<T, Offset>;

    staged_part<T, tile::size> elements[2];
    staged_part<Offset, tile::ends + 1> offsets[3];
    alignas(A) unsigned char carry[2][sizeof(A)]; // of the segment that is open where a tile begins
};

// That storage where it is needed, else nothing.
template <class A, class In, class Offsets>
struct lane_tiles_room {
    struct type {};
};
template <class A, class In, class Offsets>
requires has_lane_tiles_v<A, In, Offsets>
struct lane_tiles_room<A, In, Offsets> {
    using type = lane_tiles_storage<A, element_t<In>, element_t<Offsets>>;
};

template <class A, class In, class Offsets, class Map, class Op, class Result, class Out>
struct lane_tiles {
    using T = element_t<In>;
    using offset = element_t<Offsets>;
    using tile = lane_tile<T, offset>;
    using distance = std::conditional_t<sizeof(offset) <= 4, unsigned, std::uint64_t>; // of elements
    using storage = lane_tiles_storage<A, T, offset>;

    // A tile: a part of the merge path.
    struct part {
        const T* elements;
        const offset* ends; // of its segments, and the offset before them
        unsigned length;    // elements; some are not in the array if offsets decrease
        unsigned segments;  // that end in it
        unsigned pieces;    // one more if the last segment ends after it
        unsigned low;       // index of the first element, modulo 2^32
    };

    const In& in;
    const segment_path<Offsets>& path;
    const Map& map;
    const Op& op;
    const Result& result;
    const Out& out;
    storage& shared;
    const T* elements;  // of the next tile
    const offset* ends; // of the next tile
    std::uint64_t left; // elements and ends from there on
    bool is_head;       // the first segment of the tile began before the share
    unsigned read = 0;  // ends of the next tile in shared memory

    // Folds the share, and returns the value of the segment that is open at its end. Writes the results of the segments
    // that begin and end in it, and the value of the first one to `head` where that began before. The whole block calls it.
    __device__ A run(A& head) {
        if (threadIdx.x == 0) {
            carry(0) = Op::template identity<A>();
        }
        read = most_ends();
        load_ends(0, threadIdx.x, blockDim.x);
        wait_all_copies();
        __syncthreads();
        part now = plan(0);
        bool continues = is_head; // the tile's first segment began before it
        load(now, 0, 1);
        for (unsigned parity = 0, slot = 0;; parity ^= 1) { // of the tile in shared memory
            wait_all_copies();
            __syncthreads();
            const unsigned next_slot = after(slot);
            part next{};
            const bool more = left != 0;
            if (more) {
                next = plan(next_slot);
                load(next, parity ^ 1, after(next_slot));
            }
            fold(now, parity, slot, continues, head);
            continues = now.pieces != now.segments;
            is_head = is_head && now.segments == 0;
            if (!more) {
                __syncthreads();
                return continues ? carry(parity ^ 1) : Op::template identity<A>();
            }
            now = next;
            slot = next_slot;
        }
    }

private:
    __device__ A& carry(unsigned parity) { return *reinterpret_cast<A*>(shared.carry[parity]); }
    __device__ static unsigned after(unsigned slot) { return slot == 2 ? 0 : slot + 1; }

    __device__ staged_array<offset> all_offsets() const { return {path.offsets, path.offsets + path.segments + 1}; }
    __device__ unsigned most_ends() const {
        return static_cast<unsigned>(min(all_offsets().end - ends, std::ptrdiff_t{tile::ends}));
    }
    // Starts the copies of the next tile's ends, and of the offset before them.
    __device__ void load_ends(unsigned slot, unsigned thread, unsigned threads) {
        shared.offsets[slot].copy(all_offsets(), ends - 1, read + 1, thread, threads);
    }
    // Starts the copies of a tile's elements, and of the ends of the next one, each by half of the block.
    __device__ void load(const part& one, unsigned parity, unsigned slot) {
        const unsigned half = blockDim.x / 2;
        read = most_ends();
        if (threadIdx.x < half) {
            const T* const first = in + path.base;
            shared.elements[parity].copy({first, first + path.elements}, one.elements, one.length, threadIdx.x, half);
        } else {
            load_ends(slot, threadIdx.x - half, half);
        }
    }

    // The next tile: as much as fits.
    __device__ part plan(unsigned slot) {
        const offset* const end = shared.offsets[slot].at(ends - 1) + 1;
        const auto low = static_cast<distance>(elements - in);
        const auto room = static_cast<unsigned>(min(left, std::uint64_t{1} << 30));
        const auto to = [&](unsigned k) { return static_cast<distance>(end[k]) - low; };
        const auto fits = [&](unsigned k) { return to(k) <= tile::size && static_cast<unsigned>(to(k)) + k < room; };
        part one{elements, ends, 0, read, read, static_cast<unsigned>(low)};
        if (read == tile::ends && fits(read - 1)) {
            one.length = static_cast<unsigned>(to(read - 1));
        } else {
            const unsigned lane = threadIdx.x % warp::lanes;
            unsigned k = lane * tile::each + tile::each - 1;
            one.segments = tile::each * count_of(k < read && fits(k));
            k = one.segments + lane;
            one.segments += count_of(lane < tile::each && k < read && fits(k));
            const distance to_last = one.segments == 0 ? 0 : to(one.segments - 1);
            one.length = min(tile::size, room - one.segments);
            one.pieces = one.segments + (one.segments == 0 || to_last < one.length ? 1 : 0);
            if (one.segments == tile::ends && one.pieces != one.segments) { // the next end is not known
                one.length = static_cast<unsigned>(to_last);
                one.pieces = one.segments;
            }
        }
        left -= one.length + one.segments;
        elements += one.length;
        ends += one.segments;
        return one;
    }
    __device__ static unsigned count_of(bool yes) {
        return static_cast<unsigned>(__popc(__ballot_sync(warp::all_lanes, yes)));
    }

    __device__ void fold(const part& now, unsigned parity, unsigned slot, bool continues, A& head) {
        const T* const x = shared.elements[parity].at(now.elements);
        const offset* const end = shared.offsets[slot].at(now.ends - 1) + 1;
        const auto index = static_cast<std::uint64_t>(now.elements - in);
        const auto segment = static_cast<std::uint64_t>(now.ends - path.offsets) - 1;
        const unsigned low = now.low, lane = threadIdx.x % warp::lanes;
        const auto value_of = [&](const T& element, unsigned k) {
            return static_cast<A>(detail::mapped(map, element, index + k));
        };
        const auto deliver = [&](unsigned k, std::uint64_t place, A value) {
            if (k - 1 >= now.segments - 1) { // the first piece, or the one behind the last end
                if (k == 0 && continues) {
                    value = op(carry(parity), value);
                }
                if (k == now.segments) {
                    carry(parity ^ 1) = value;
                    return;
                }
                if (k == 0 && is_head) {
                    head = value;
                    return;
                }
            }
            out[place] = result(value);
        };
        // The elements of piece k, clamped to the tile: the first segment may have begun before it, and offsets may decrease.
        const auto first_of = [&](unsigned k) {
            return max(static_cast<int>(static_cast<unsigned>(end[static_cast<int>(k) - 1]) - low), 0);
        };
        const auto end_of = [&](unsigned k) {
            return static_cast<int>(min(static_cast<unsigned>(end[k]) - low, now.length));
        };
        constexpr int lane_elements = tile::lane_elements;
        int longest = 0;
        std::uint64_t place = segment + threadIdx.x; // kept: ptxas would compute it anew for each k
        for (unsigned k = threadIdx.x; k < now.pieces; k += blockDim.x, place += blockDim.x) {
            const int from = first_of(k), to = end_of(k);
            longest = max(longest, to - from);
            if (to - from <= lane_elements) {
                deliver(k, place, fold_staged<A>(x, from, to, 1, op, value_of));
            }
        }
        if (__any_sync(warp::all_lanes, longest > lane_elements) == 0) {
            return;
        }
        for (unsigned k = threadIdx.x; k - lane < now.pieces; k += blockDim.x) {
            const int from = k < now.pieces ? first_of(k) : 0, to = k < now.pieces ? end_of(k) : 0;
            unsigned rest = __ballot_sync(warp::all_lanes, to - from > lane_elements);
            for (; rest != 0; rest &= rest - 1) {
                const unsigned of = static_cast<unsigned>(__ffs(static_cast<int>(rest)) - 1);
                const A value = fold_by_warp(x, warp::shuffle(from, of), warp::shuffle(to, of), value_of);
                if (lane == of) {
                    deliver(k, segment + k, value);
                }
            }
        }
    }

    // The fold of the tile's elements [from, to), in all lanes.
    template <class Value>
    __device__ A fold_by_warp(const T* x, int from, int to, const Value& value_of) const {
        constexpr int lanes = warp::lanes;
        const int lane = static_cast<int>(threadIdx.x) % lanes;
        A value = Op::template identity<A>();
        if constexpr (is_commutative_v<Op>) {
            value = fold_staged<A>(x, from + lane, to, lanes, op, value_of);
        } else {
            // Consecutive elements, an odd number of them, so that no two lanes read the same bank.
            const int each = (to - from + lanes - 1) / lanes | 1;
            const int begin = min(from + lane * each, to);
            value = fold_staged<A>(x, begin, min(begin + each, to), 1, op, value_of);
        }
        return warp::shuffle(warp::reduce(value, op), 0);
    }
};

// True if the segments of a block's share, `length` elements and ends from position `begin` on, suit lanes: they are short
// on average, and by a sample none is long. Sets `first` to the ends before the share. The whole block calls it.
template <class Kernels, class Offsets, class Signposts>
__device__ bool lanes_suit(const segment_path<Offsets>& path, const Signposts& samples, std::uint64_t begin,
                           std::uint64_t length, std::uint64_t& first) {
    __shared__ std::uint64_t bounds[2]; // ends before the share, and before its end
    const std::uint64_t end = min(begin + length, path.total);
    // The first and the last warp search at the same time.
    const unsigned warp = threadIdx.x / warp::lanes, last = blockDim.x / warp::lanes - 1;
    for (unsigned k = 0; k < 2; ++k) {
        if (warp == k * last) {
            const std::uint64_t ends = path.ends_before(k == 0 ? begin : end, samples);
            if (threadIdx.x % warp::lanes == 0) {
                bounds[k] = ends;
            }
        }
    }
    __syncthreads();
    first = bounds[0];
    const std::uint64_t ends = bounds[1] > first ? bounds[1] - first : 0;
    bool suits = ends >= blockDim.x && end - begin - ends < ends * Kernels::value.lane_segment_max;
    if (suits) {
        const std::uint64_t s = first + ends / blockDim.x * threadIdx.x;
        suits = path.elements_before_end(s) - path.begin_of(s, 0) <= Kernels::value.lane_sample_max;
    }
    return __syncthreads_and(suits ? 1 : 0) != 0;
}

// Folds a block's share of the merge path, `share_length` elements and ends, if it suits lanes, and returns whether it does.
// Not inlined, so that it takes no registers from the caller.
// static: in relocatable code a kernel with a limit of registers can call no external function that takes more.
template <class Kernels, class A, class In, class Offsets, class Signposts, class Map, class Op, class Result,
          class Out>
static __device__ __noinline__ bool
fold_by_lanes(In in, segment_path<Offsets> path, const Signposts& samples, Map map, Op op, Result result, Out out,
              flagged_slot<A>* slots, lane_tiles_storage<A, element_t<In>, element_t<Offsets>>& shared,
              segment_carry<A>& whole, block::reduce_storage<A>& folding, std::uint64_t share_length) {
    const std::uint64_t begin = blockIdx.x * share_length, end = min(begin + share_length, path.total);
    std::uint64_t segment = 0;
    if (!lanes_suit<Kernels>(path, samples, begin, share_length, segment)) {
        return false;
    }
    const std::uint64_t begun = segment < path.segments ? path.begin_of(segment) : begin;
    const auto* const ends = path.offsets + segment + 1;
    lane_tiles<A, In, Offsets, Map, Op, Result, Out> share{
        in, path, map, op, result, out, shared, in + path.base + (begin - segment), ends, end - begin, begun < begin};
    const A open = share.run(whole.head);
    if (threadIdx.x == 0) {
        whole.segment = segment;
        whole.ended = share.ends != ends;
        whole.begun_before = whole.ended && begun < begin;
    }
    __syncthreads();
    const auto first_block = static_cast<unsigned>(begun == 0 ? 0 : (begun - 1) / share_length);
    join_blocks(slots, end < path.total, open, first_block, op, result, out, whole, folding);
    return true;
}

} // namespace warpfold::detail
