// SPDX-License-Identifier: MIT
// One warp's part of a segmented reduction: consecutive elements and ends of segments. Where ends are few it adds up
// rows of elements and folds its lanes at each end; where they are many it takes a tile at a time, in which each lane
// has consecutive elements and ends, and a scan over the lanes joins what belongs together.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "warpfold/detail/fold.hpp"
#include "warpfold/gpu/load.cuh"
#include "warpfold/gpu/merge_path.cuh"
#include "warpfold/tuning/segmented_reduce.hpp"
#include "warpfold/warp/reduce.cuh"

namespace warpfold::detail {

inline constexpr tuning::segmented_reduce segmented_tuning = tuning::segmented_reduce_default;

// An element or the end of a segment, in registers and in shared memory.
template <class T>
struct alignas(sizeof(T) <= 4 || sizeof(T) > 8 ? 4 : 8) staged {
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
    static constexpr unsigned warps = threads / warp::lanes;
    static_assert(each <= 640, "segmented_reduce: elements and values are too large for a GPU's shared memory");
    static constexpr unsigned fit = segmented_tuning.bytes_per_thread / each;
    // Of a lane; odd, so that lanes that read at this distance find different banks.
    static constexpr unsigned items = fit < 1 ? 1 : (fit % 2 == 1 ? fit : fit - 1);
    static constexpr unsigned size = warp::lanes * items;
};

// In shared memory, a warp's.
template <class T, class A>
struct segmented_warp_storage {
    using tile = segmented_tile<T, A>;

    static constexpr unsigned slots = tile::size + 8;

    alignas(16) staged<T> item[slots];                        // elements from the front, ends from the back
    alignas(A) unsigned char results[tile::size * sizeof(A)]; // of the segments that end in the tile
    unsigned ends_of_lane[warp::lanes];
};

template <class A, class In, class Offsets, class Map, class Op, class Result, class Out>
struct segmented_warp {
    using T = element_t<In>;
    using tile = segmented_tile<T, A>;
    using storage = segmented_warp_storage<T, A>;

    const In& in;
    const segment_path<Offsets>& path;
    const Map& map;
    const Op& op;
    const Result& result;
    const Out& out;
    storage& shared;
    std::uint64_t end;       // position behind the warp's part
    std::uint64_t held_back; // the segment that began before it, or none
    std::uint64_t element;   // the next one, counted from the first segment's
    std::uint64_t segment;   // the one that it is in
    A open;                  // of that segment, spread over the lanes
    A head;                  // of the one that is held back, in lane 0
    std::uint64_t ahead;     // the number of elements before the end of segment `seen` + lane
    std::uint64_t seen;

    static constexpr bool by_vectors = std::is_pointer_v<In> && fits_vectors_v<T>;
    static constexpr unsigned width = by_vectors ? 16 / sizeof(T) : 4;
    static constexpr unsigned row = warp::lanes * width;
    static constexpr unsigned rows = segmented_tuning.rows;

    __device__ static unsigned lane() { return threadIdx.x % warp::lanes; }

    __device__ void look_ahead() {
        seen = segment;
        ahead = path.elements_before_end(segment + lane());
    }

    // All of it.
    __device__ void run() {
        look_ahead();
        while (element + segment < end) {
            if constexpr (is_commutative_v<Op>) {
                if (segment - seen >= warp::lanes / 2) {
                    look_ahead();
                }
                const std::uint64_t horizon = element + segment + row * rows;
                const unsigned near = __ballot_sync(warp::all_lanes, ahead + seen + lane() < horizon);
                if (static_cast<unsigned>(__popc(near)) - static_cast<unsigned>(segment - seen) <
                    row * rows / segmented_tuning.sparse_from) {
                    take_rows();
                    continue;
                }
            }
            take_tile();
        }
        open = warp::reduce(open, op);
    }

    // Hands out the value of a segment, of lane 0.
    __device__ void deliver(std::uint64_t s, const A& value) {
        if (s == held_back) {
            head = value;
        } else {
            out[s] = result(value);
        }
    }

    // Where this lane has its j-th element in row r.
    __device__ static unsigned place(unsigned r, unsigned j) {
        return r * row + (by_vectors ? lane() * width + j : j * warp::lanes + lane());
    }

    __device__ void load_rows(std::uint64_t first, staged<T> (&held)[rows][width]) const {
        if constexpr (by_vectors) {
            if (path.base + first + rows * row <= path.base + path.elements) {
                const uint4* const from = reinterpret_cast<const uint4*>(in + path.base + first) + lane();
                uint4 loaded[rows];
#pragma unroll
                for (unsigned r = 0; r < rows; ++r) {
                    loaded[r] = __ldcs(from + r * warp::lanes);
                }
#pragma unroll
                for (unsigned r = 0; r < rows; ++r) {
#pragma unroll
                    for (unsigned j = 0; j < width; ++j) {
                        held[r][j].put(element_of<T>(loaded[r], j));
                    }
                }
                return;
            }
        }
#pragma unroll
        for (unsigned r = 0; r < rows; ++r) {
#pragma unroll
            for (unsigned j = 0; j < width; ++j) {
                const std::uint64_t k = first + place(r, j);
                if (k < path.elements) {
                    held[r][j].put(in[path.base + k]);
                }
            }
        }
    }

    // Elements up to the end of some rows, whatever ends there.
    __device__ void take_rows() {
        // Rows begin where vectors do; what stands before `element` is passed over. The first vector of an array that
        // is not aligned is not there in full.
        std::uint64_t first = element;
        if constexpr (by_vectors) {
            const auto beyond =
                static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(in + path.base + element) % 16 / sizeof(T));
            if (beyond > element) {
                take_tile();
                return;
            }
            first -= beyond;
        }
        staged<T> held[rows][width];
        load_rows(first, held);
        // All places are counted from `first` now.
        const auto least = [](std::uint64_t a, std::uint64_t b) { return a < b ? a : b; };
        auto at = static_cast<unsigned>(element - first);
        std::uint64_t left = end - segment - first; // places that are left to the warp; one less after each end
        const auto next_end = [&] {
            if (segment - seen >= warp::lanes) {
                look_ahead();
            }
            const std::uint64_t before = warp::shuffle(ahead, static_cast<unsigned>(segment - seen)) - first;
            return static_cast<unsigned>(least(before, 0x7fffffffu));
        };
        unsigned stop = next_end();
#pragma unroll
        for (unsigned r = 0; r < rows; ++r) {
            const unsigned row_end = (r + 1) * row;
            for (;;) {
                const bool ends = stop <= row_end && stop < left;
                const unsigned until = ends ? stop : static_cast<unsigned>(least(row_end, left));
                if (at <= r * row && until == row_end) {
#pragma unroll
                    for (unsigned j = 0; j < width; ++j) {
                        take_element(held[r][j], first + place(r, j));
                    }
                } else {
#pragma unroll
                    for (unsigned j = 0; j < width; ++j) {
                        if (place(r, j) - at < until - at && at < until) {
                            take_element(held[r][j], first + place(r, j));
                        }
                    }
                }
                at = at < until ? until : at;
                if (!ends) {
                    break;
                }
                const A value = warp::reduce(open, op);
                if (lane() == 0) {
                    deliver(segment, value);
                }
                open = Op::template identity<A>();
                ++segment;
                --left;
                stop = next_end();
            }
        }
        element = first + at;
    }
    __device__ void take_element(const staged<T>& x, std::uint64_t k) {
        open = op(open, static_cast<A>(mapped(map, x.element(), path.base + k)));
    }

    // A tile of elements and ends, in their order.
    __device__ void take_tile() {
        const std::uint64_t position = element + segment;
        const unsigned count = end - position < tile::size ? static_cast<unsigned>(end - position) : tile::size;
        // Elements that turn out to be behind the tile are read in vain.
        unsigned skipped = 0; // slots before the first element
        const std::uint64_t first_ends = path.elements_before_end(segment + lane());
        if (!load_vectors(count, skipped)) {
            staged<T> held[tile::items];
#pragma unroll
            for (unsigned j = 0; j < tile::items; ++j) {
                const unsigned k = lane() + j * warp::lanes;
                if (k < count && element + k < path.elements) {
                    held[j].put(in[path.base + element + k]);
                }
            }
#pragma unroll
            for (unsigned j = 0; j < tile::items; ++j) {
                const unsigned k = lane() + j * warp::lanes;
                if (k < count && element + k < path.elements) {
                    shared.item[k] = held[j];
                }
            }
        }
        shared.ends_of_lane[lane()] = 0;
        __syncwarp();
        unsigned ends = 0;
        bool more = put_ends(first_ends, position + count, ends);
        while (more) {
            constexpr unsigned chunks = 4;
            std::uint64_t before[chunks];
#pragma unroll
            for (unsigned q = 0; q < chunks; ++q) {
                before[q] = path.elements_before_end(segment + ends + q * warp::lanes + lane());
            }
#pragma unroll
            for (unsigned q = 0; q < chunks; ++q) {
                if (more) {
                    more = put_ends(before[q], position + count, ends);
                }
            }
        }
        const unsigned elements = count - ends;
        if (lane() == 0) {
            shared.item[storage::slots - 1 - ends].word[0] = elements + 1; // no element reaches it
        }
        __syncwarp();
        fold_tile(count, ends, skipped);
        element += elements;
        segment += ends;
        __syncwarp();
    }

    // The tile's elements by vectors, where they can be, into shared memory.
    __device__ bool load_vectors(unsigned count, unsigned& skipped) {
        if constexpr (by_vectors && sizeof(staged<T>) == sizeof(T) && sizeof(T) <= 8) {
            constexpr unsigned groups = (tile::size + width - 1 + row - 1) / row;
            skipped =
                static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(in + path.base + element) % 16 / sizeof(T));
            if (skipped <= element && element + groups * row <= path.elements) {
                const uint4* const from = reinterpret_cast<const uint4*>(in + path.base + element - skipped) + lane();
                uint4 loaded[groups];
#pragma unroll
                for (unsigned g = 0; g < groups; ++g) {
                    if ((g * warp::lanes + lane()) * width < count + skipped) {
                        loaded[g] = __ldg(from + g * warp::lanes);
                    }
                }
#pragma unroll
                for (unsigned g = 0; g < groups; ++g) {
                    if ((g * warp::lanes + lane()) * width < count + skipped) {
                        reinterpret_cast<uint4*>(shared.item)[g * warp::lanes + lane()] = loaded[g];
                    }
                }
                return true;
            }
            skipped = 0;
        }
        return false;
    }

    // Puts 32 ends, one of each lane, behind those that are there, but none that is at position `behind` or later.
    // Whether there may be more.
    __device__ bool put_ends(std::uint64_t before, std::uint64_t behind, unsigned& ends) {
        const unsigned k = ends + lane();
        const bool inside = before + segment + k < behind;
        if (inside) {
            const auto stop = static_cast<unsigned>(before - element);
            shared.item[storage::slots - 1 - k].word[0] = stop;
            atomicAdd(&shared.ends_of_lane[(stop + k) / tile::items], 1u);
        }
        const unsigned who = __ballot_sync(warp::all_lanes, inside);
        ends += static_cast<unsigned>(__popc(who));
        return who == warp::all_lanes;
    }

    // This lane's items, of which there are `count`, one after the other: from element k and end s on.
    struct way {
        unsigned k, s, stop;
        A mine;
    };
    __device__ void step(way& at, unsigned skipped) {
        const bool is_element = at.k < at.stop;
        if (is_element) {
            at.mine =
                op(at.mine,
                   static_cast<A>(mapped(map, shared.item[skipped + at.k].element(), path.base + element + at.k)));
        } else {
            reinterpret_cast<A*>(shared.results)[at.s] = at.mine;
            at.stop = shared.item[storage::slots - 2 - at.s].word[0];
        }
        at.mine = is_element ? at.mine : Op::template identity<A>();
        at.k += is_element ? 1 : 0;
        at.s += is_element ? 0 : 1;
    }
    __device__ void fold_items(way& at, unsigned count, unsigned skipped) {
        if (count == tile::items) {
#pragma unroll
            for (unsigned j = 0; j < tile::items; ++j) {
                step(at, skipped);
            }
        } else {
#pragma unroll 1
            for (unsigned j = 0; j < count; ++j) {
                step(at, skipped);
            }
        }
    }

    __device__ void fold_tile(unsigned count, unsigned ends, unsigned skipped) {
        A* const results = reinterpret_cast<A*>(shared.results);
        const unsigned own = shared.ends_of_lane[lane()];
        unsigned s = own;
#pragma unroll
        for (unsigned distance = 1; distance < warp::lanes; distance *= 2) {
            const unsigned other = __shfl_up_sync(warp::all_lanes, s, distance);
            s += lane() >= distance ? other : 0;
        }
        s -= own;
        const unsigned first = s;
        const unsigned d = min(lane() * tile::items, count);
        way at{d - s, s, shared.item[storage::slots - 1 - s].word[0], Op::template identity<A>()};
        fold_items(at, min(tile::items, count - d), skipped);
        s = at.s;
        A mine = at.mine;
        // What comes before this lane's items and belongs to its first end.
        const A before_all = warp::shuffle(warp::reduce(open, op), 0);
        const bool any = s != first;
        const unsigned who = __ballot_sync(warp::all_lanes, any);
        const unsigned up_to_here = who & (0xffffffffu >> (31 - lane()));
        const unsigned reach =
            up_to_here != 0 ? lane() - (31 - static_cast<unsigned>(__clz(static_cast<int>(up_to_here)))) : lane();
#pragma unroll
        for (unsigned distance = 1; distance < warp::lanes; distance *= 2) {
            const A other = warp::shuffle_up(mine, distance);
            if (distance <= reach) {
                mine = op(other, mine);
            }
        }
        A before = warp::shuffle_up(mine, 1);
        if (lane() == 0) {
            before = before_all;
        } else if ((who & ((1u << lane()) - 1)) == 0) {
            before = op(before_all, before);
        }
        if (any) {
            results[first] = op(before, results[first]);
        }
        const A last = warp::shuffle(mine, warp::lanes - 1);
        open = Op::template identity<A>();
        if (lane() == 0) {
            open = who != 0 ? last : op(before_all, last);
        }
        __syncwarp();
        for (unsigned q = lane(); q < ends; q += warp::lanes) {
            deliver(segment + q, results[q]); // the one that is held back is the first, and lane 0's
        }
    }
};

} // namespace warpfold::detail
