// SPDX-License-Identifier: MIT
// One warp's share of the merge path, tile by tile. The next tile is loaded while one is folded.
//
// If no segment ends in a tile, each lane adds what it loaded. Otherwise each lane folds a row of consecutive elements,
// restarts at every first element of a segment, and stores the running value after each element in shared memory. A
// scan over the lanes gives what precedes each row. The segments that end in the tile, one per lane, then read their
// values there.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "warpfold/gpu/segmented_reduce/merge_path.cuh"
#include "warpfold/gpu/segmented_reduce/warp_tile.cuh"
#include "warpfold/warp/reduce.cuh"

namespace warpfold::detail {

// Shared memory of a warp.
template <class Kernels, class T, class A>
struct warp_share_storage {
    using tile = warp_tile<Kernels, T, A>;
    using elements = typename tile::elements;
    using values = typename tile::values;
    static constexpr unsigned alignment =
        elements::alignment > values::alignment ? elements::alignment : values::alignment;

    // First the elements; then, in their place, the running value after each of them.
    alignas(alignment) unsigned char item[elements::bytes > values::bytes ? elements::bytes : values::bytes];
    alignas(A) unsigned char before[warp::lanes * sizeof(A)]; // of the segment at a lane's first element
    alignas(16) unsigned char begins[tile::size];             // 1 where a segment begins; all 0 between tiles
    unsigned short stop[tile::size];                          // where the segments of the tile end
};

// Consecutive segments that may have one element each, in a warp's registers, about `Bytes` bytes per lane.
template <class Kernels, class A, class In, class Offsets, unsigned Bytes>
struct unit_segment_run {
    using T = element_t<In>;
    using offset_type = typename segment_path<Offsets>::offset_type;
    static constexpr unsigned all = warp_tile<Kernels, T, A>::items, bytes = sizeof(T) + sizeof(offset_type);
    static constexpr unsigned items = all == 1 || all * bytes <= Bytes ? all : all / 2; // of a lane
    static constexpr unsigned size = items * warp::lanes;

    offset_type ends[items];
    raw_value<T> x[items];

    __device__ static unsigned lane() { return threadIdx.x % warp::lanes; }

    // Loads `count` segments from `segment` on, whose first element is in[element].
    __device__ void load(const In& in, const Offsets& offsets, std::uint64_t element, std::uint64_t segment,
                         unsigned count) {
        element += lane();
        segment += lane() + 1;
#pragma unroll
        for (unsigned j = 0; j < items; ++j) {
            ends[j] = {};
            x[j] = {};
            if (j * warp::lanes + lane() < count) {
                ends[j] = offsets[segment + j * warp::lanes];
                x[j].put(in[element + j * warp::lanes]);
            }
        }
    }
    // If all of them have one element, writes their results and returns true. The whole warp calls it.
    template <class Map, class Op, class Result, class Out>
    __device__ bool fold(const Map& map, const Op& op, const Result& result, const Out& out, std::uint64_t element,
                         std::uint64_t segment, unsigned count) const {
        element += lane();
        segment += lane();
        bool single = true;
#pragma unroll
        for (unsigned j = 0; j < items; ++j) {
            if (j * warp::lanes + lane() < count) {
                single = single && ends[j] == static_cast<offset_type>(element + 1 + j * warp::lanes);
            }
        }
        if (!__all_sync(warp::all_lanes, single)) {
            return false;
        }
#pragma unroll
        for (unsigned j = 0; j < items; ++j) {
            if (j * warp::lanes + lane() < count) {
                const A one = static_cast<A>(detail::mapped(map, x[j].element(), element + j * warp::lanes));
                out[segment + j * warp::lanes] = result(static_cast<A>(op(Op::template identity<A>(), one)));
            }
        }
        return true;
    }
};

template <class Kernels, class A, class In, class Offsets, class Map, class Op, class Result, class Out>
struct warp_share {
    using T = element_t<In>;
    using tile = warp_tile<Kernels, T, A>;
    using storage = warp_share_storage<Kernels, T, A>;
    using elements = tile_elements<Kernels, In, A>;
    using values = typename tile::values;
    using flags = typename access_word<tile::items>::type;
    static constexpr unsigned end_groups = 4;
    static constexpr bool has_offsets = !std::is_same_v<Offsets, equal_segments>;

    const In& in;
    const segment_path<Offsets>& path;
    const Map& map;
    const Op& op;
    const Result& result;
    const Out& out;
    storage& shared;
    std::uint64_t left;    // elements and ends left in the warp's share
    bool began_before;     // the next segment that ends began before the share
    std::uint64_t begin;   // of the tile, from the first segment's first element; modulo 2^64 before that
    unsigned at;           // next element of the tile
    std::uint64_t segment; // its segment
    A open;                // value of that segment, in lane 0 or spread over the lanes
    A head;                // value of the segment that began before the share, in lane 0
    bool open_is_spread = false;
    typename segment_path<Offsets>::offset_type next_ends[end_groups]; // of the next 32 or 128 segments' ends
    bool has_four = false;

    __device__ static unsigned lane() { return threadIdx.x % warp::lanes; }

    // Processes the whole share; `begin` is its first element when this is called.
    __device__ void run() {
        const bool readable = elements::readable(in);
        reinterpret_cast<flags*>(shared.begins)[lane()] = flags{};
        bool single = false; // the next tiles may consist of segments of one element, and none is open
        do {
            if (single) {
                fold_unit_segments();
            }
            at = elements::beyond(in, path.base + begin);
            begin -= at;
            load_next_ends(false);
            bool loaded = readable && is_whole(begin);
            elements now{};
            if (loaded) {
                now.load(in, path.base + begin);
            }
            single = false;
            __syncwarp();
            while (left != 0 && !single) {
                const auto room = static_cast<unsigned>(min(left, std::uint64_t{1} << 30));
                const std::uint64_t first = segment;
                const unsigned ends = note_ends(room);
                // Segments that end after the noted ones are left to the next round.
                const unsigned last_stop = ends == 0 ? 0 : shared.stop[ends - 1];
                const unsigned until = ends == tile::size ? last_stop : min(tile::size, at + (room - ends));
                segment = first + ends;
                left -= until - at + ends;
                single = has_offsets && ends >= tile::size / 2 && ends == until - at && last_stop == until;
                load_next_ends(ends >= Kernels::value.dense_tile_min_ends);
                const bool load_next = left != 0 && until == tile::size && readable && is_whole(begin + tile::size);
                const std::uint64_t next = path.base + begin + tile::size;
                const bool full = at == 0 && until == tile::size && loaded;
                if (is_commutative_v<Op> && full && ends == 0) {
                    now.each(in, next, load_next, [&](const T& x, unsigned k) {
                        open = op(open, static_cast<A>(detail::mapped(map, x, path.base + begin + k)));
                    });
                    open_is_spread = true;
                } else {
                    if (loaded) {
                        now.put(shared.item);
                    } else {
                        // Clamped to the number of elements, in case offsets decrease.
                        const auto there = static_cast<std::int64_t>(path.elements - begin);
                        const unsigned to = there < until ? static_cast<unsigned>(max(there, std::int64_t{0})) : until;
                        elements::copy(in, path.base + begin, at, to, shared.item);
                    }
                    if (load_next) {
                        now.load(in, next);
                    }
                    __syncwarp();
                    if (full) {
                        fold<true>(first, ends, until, last_stop);
                    } else {
                        fold<false>(first, ends, until, last_stop);
                    }
                    __syncwarp();
                }
                at = until;
                loaded = load_next;
                if (until == tile::size) {
                    at = 0;
                    begin += tile::size;
                }
            }
            begin += at;
        } while (left != 0);
        open = open_is_spread ? warp::reduce(open, op) : open;
    }

private:
    // True if all elements of the tile that begins at `first` exist.
    __device__ bool is_whole(std::uint64_t first) const {
        return first <= path.elements && first + tile::size <= path.elements;
    }

    __device__ void load_next_ends(bool all_four) {
        has_four = all_four;
#pragma unroll
        for (unsigned q = 0; q < end_groups; ++q) {
            if (q == 0 || has_four) {
                next_ends[q] = path.end_offset(segment + q * warp::lanes + lane());
            }
        }
    }

    // Writes results while the next segments have one element each, from element `begin` and `segment` on. The next
    // ones are loaded while some are checked.
    __device__ void fold_unit_segments() {
        if constexpr (has_offsets) {
            using singles = unit_segment_run<Kernels, A, In, Offsets, 96>; // loaded twice
            // Clamped to the number of elements, in case offsets decrease.
            const std::uint64_t there = min(begin < path.elements ? path.elements - begin : 0, path.segments - segment);
            const std::uint64_t most = min(left / 2, there);
            std::uint64_t done = 0; // elements, and as many segments
            const auto count = [&](std::uint64_t k) {
                return static_cast<unsigned>(min(most - k, std::uint64_t{singles::size}));
            };
            singles now;
            now.load(in, path.offsets, path.base + begin, segment, count(0));
            while (done < most) {
                const std::uint64_t next = done + count(done);
                singles later;
                later.load(in, path.offsets, path.base + begin + next, segment + next, count(next));
                if (!now.fold(map, op, result, out, path.base + begin + done, segment + done, count(done))) {
                    break;
                }
                done = next;
                now = later;
            }
            left -= 2 * done;
            begin += done;
            segment += done;
        }
    }

    // Notes where segments end in the rest of the tile, as far as `room` elements and ends reach. Returns their number,
    // at most the tile's elements.
    __device__ unsigned note_ends(unsigned room) {
        unsigned ends = 0;
        for (;;) {
#pragma unroll
            for (unsigned q = 0; q < end_groups; ++q) {
                if (q == 0 || has_four) {
                    const std::uint64_t behind = path.elements_before(next_ends[q]) - begin;
                    const auto stop = static_cast<unsigned>(behind);
                    const bool empty = __shfl_up_sync(warp::all_lanes, stop, 1) == stop;
                    const bool inside = behind <= tile::size && stop - at + ends + lane() < room;
                    if (inside) {
                        shared.stop[ends + lane()] = static_cast<unsigned short>(stop);
                        if (stop < tile::size && !(empty && lane() != 0)) {
                            shared.begins[stop] = 1;
                        }
                    }
                    const auto some =
                        static_cast<unsigned>(__clz(static_cast<int>(__brev(~__ballot_sync(warp::all_lanes, inside)))));
                    ends += some;
                    if (some < warp::lanes || ends == tile::size) {
                        __syncwarp();
                        return ends;
                    }
                }
            }
            segment += has_four ? end_groups * warp::lanes : warp::lanes;
            load_next_ends(true);
        }
    }

    // Folds the rest of the tile, in shared memory, up to element `until`, and writes the segments from `first` on that
    // end there, the last at `last_stop`.
    template <bool Full>
    __device__ void fold(std::uint64_t first, unsigned ends, unsigned until, unsigned last_stop) {
        constexpr unsigned items = tile::items;
        raw_value<T> x[items];
        elements::take_run(shared.item, x);
        const flags begins = reinterpret_cast<const flags*>(shared.begins)[lane()];
        __syncwarp();
        reinterpret_cast<flags*>(shared.begins)[lane()] = flags{};
        unsigned begins_at[(items + 3) / 4] = {}; // a byte for each element
        std::memcpy(begins_at, &begins, items);
        A value = Op::template identity<A>();
        raw_value<A> after[items];
#pragma unroll
        for (unsigned j = 0; j < items; ++j) {
            const unsigned k = lane() * items + j;
            if (Full || (k >= at && k < until)) {
                const A one = static_cast<A>(detail::mapped(map, x[j].element(), path.base + begin + k));
                const bool begins_here = (begins_at[j / 4] & 1u << j % 4 * 8) != 0;
                if (Full && j == 0) {
                    value = one;
                } else {
                    const A both = op(value, one);
                    value = begins_here ? one : both;
                }
            }
            after[j].put(value);
        }
        put_values(after);

        // What precedes this lane's row and belongs to its first segment.
        const A of_all = warp::shuffle(open_is_spread ? warp::reduce(open, op) : open, 0);
        open_is_spread = false;
        unsigned any = 0; // a segment begins in the row, or behind the last element
#pragma unroll
        for (const unsigned some : begins_at) {
            any |= some;
        }
        const unsigned heads = __ballot_sync(warp::all_lanes, any != 0);
        const unsigned up_to_here = heads & (warp::all_lanes >> (31 - lane()));
        const unsigned scan_distance =
            up_to_here != 0 ? lane() - (31 - static_cast<unsigned>(__clz(static_cast<int>(up_to_here)))) : lane();
#pragma unroll
        for (unsigned distance = 1; distance < warp::lanes; distance *= 2) {
            const A other = warp::shuffle_up(value, distance);
            if (distance <= scan_distance) {
                value = op(other, value);
            }
        }
        A before = warp::shuffle_up(value, 1);
        if (lane() == 0) {
            before = of_all;
        } else if ((heads & ((1u << lane()) - 1)) == 0) {
            before = op(of_all, before);
        }
        reinterpret_cast<A*>(shared.before)[lane()] = before;
        const A last = warp::shuffle(value, warp::lanes - 1);
        open = Op::template identity<A>();
        if (lane() == 0 && (ends == 0 || last_stop != until)) {
            open = heads != 0 ? last : op(of_all, last);
        }
        __syncwarp();
#pragma unroll 1
        for (unsigned k = lane(); k < ends; k += warp::lanes) {
            const int stop = shared.stop[k];
            // The open segment began before every row.
            const int start = k == 0 ? (stop == static_cast<int>(at) ? stop : -1) : shared.stop[k - 1];
            A of_segment = k == 0 ? of_all : Op::template identity<A>();
            if (stop > start) {
                const auto owner = static_cast<unsigned>(stop - 1) / items;
                const A before_run = reinterpret_cast<const A*>(shared.before)[owner];
                of_segment = start < static_cast<int>(owner * items) ? before_run : Op::template identity<A>();
                raw_value<A> of_run;
                of_run.take_from(shared.item + values::place(static_cast<unsigned>(stop - 1)));
                of_segment = op(of_segment, of_run.element());
            }
            if (k == 0 && began_before) {
                head = of_segment;
            } else {
                out[first + k] = result(of_segment);
            }
        }
        began_before = began_before && ends == 0;
    }
    __device__ void put_values(const raw_value<A> (&after)[tile::items]) {
        unsigned char* const mine = shared.item + lane() * values::stride;
        if constexpr (values::by_vectors) {
            constexpr unsigned width = 16 / sizeof(A);
#pragma unroll
            for (unsigned g = 0; g < tile::items / width; ++g) {
                A some[width];
#pragma unroll
                for (unsigned j = 0; j < width; ++j) {
                    some[j] = after[g * width + j].element();
                }
                uint4 vector;
                std::memcpy(&vector, some, 16);
                reinterpret_cast<uint4*>(mine)[g] = vector;
            }
        } else {
#pragma unroll
            for (unsigned j = 0; j < tile::items; ++j) {
                after[j].bring_to(mine + j * sizeof(A));
            }
        }
    }
};

} // namespace warpfold::detail
