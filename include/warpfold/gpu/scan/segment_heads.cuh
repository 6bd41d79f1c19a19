// SPDX-License-Identifier: MIT
// Where segments begin among the elements of a scan's tile: one bit an element in each thread, run by run.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/scan_options.hpp"
#include "warpfold/gpu/core/thread_items.cuh"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

// A scan without segments: nothing is looked up or kept. The others have, too:
//   find(elements, begin, size, first, rows, inside)  by all threads of the block: looks up the segments of the tile of
//                                                     `size` positions from `begin` on, of which the thread's begin at
//                                                     `first`, in so many rows; `inside`: all of them hold elements
//   at(r, j)                                          whether a segment begins at element j of the run in row r
//   any(r)                                            whether one begins in the run
template <class Elements, unsigned Rows, unsigned Tile, class Options = typename Elements::options_type,
          class Segments = decltype(Options::segments)>
struct segment_heads {
    __device__ void find(const Elements&, std::uint64_t, unsigned, std::uint64_t, unsigned, bool) {}
    [[nodiscard]] __device__ static constexpr bool at(unsigned, unsigned) { return false; }
    [[nodiscard]] __device__ static constexpr bool any(unsigned) { return false; }
};

template <unsigned Rows, unsigned Run>
struct head_bits {
    static_assert(Run <= 32);
    unsigned bits[Rows] = {};

    [[nodiscard]] __device__ bool at(unsigned r, unsigned j) const { return (bits[r] >> j & 1) != 0; }
    [[nodiscard]] __device__ bool any(unsigned r) const { return bits[r] != 0; }
};

// By flags: in reversed order a segment begins at its last element, before which, in memory, another one ends.
template <class Elements, unsigned Rows, unsigned Tile, class Options, class Flags>
struct segment_heads<Elements, Rows, Tile, Options, heads<Flags>> : head_bits<Rows, Elements::run> {
    static constexpr unsigned run = Elements::run, row = run * warp::lanes;

    __device__ void find(const Elements& elements, std::uint64_t, unsigned, std::uint64_t first, unsigned rows,
                         bool inside) {
        const auto& flags = elements.options.segments.flags;
        using F = std::remove_cvref_t<decltype(flags[0])>;
#pragma unroll
        for (unsigned r = 0; r < Rows; ++r) {
            if (r >= rows) {
                break;
            }
            const std::uint64_t v = first + r * row;
            bool loaded = false;
            if constexpr (std::is_pointer_v<Flags> && !Options::reverse) {
                if (inside && reinterpret_cast<std::uintptr_t>(flags + v) % items_alignment_v<F, run> == 0) {
                    F held[run];
                    load_items(flags + v, held);
#pragma unroll
                    for (unsigned j = 0; j < run; ++j) {
                        this->bits[r] |= (held[j] ? 1u : 0u) << j;
                    }
                    loaded = true;
                }
            }
            if (!loaded) {
#pragma unroll
                for (unsigned j = 0; j < run; ++j) {
                    if (v + j != 0 && v + j < elements.n) {
                        const std::uint64_t k = elements.place(v + j);
                        this->bits[r] |= (flags[Options::reverse ? k + 1 : k] ? 1u : 0u) << j;
                    }
                }
            }
            if (v == 0 || 0 - v < run) {
                this->bits[r] |= 1u << static_cast<unsigned>(0 - v); // the first element of all
            }
        }
    }
};

// By offsets: the block searches for the first one that matters to the tile, all threads at once, and marks those that
// follow in shared memory.
template <class Elements, unsigned Rows, unsigned Tile, class Options, class Begins>
struct segment_heads<Elements, Rows, Tile, Options, offsets<Begins>> : head_bits<Rows, Elements::run> {
    static constexpr unsigned run = Elements::run, row = run * warp::lanes;

    __device__ void find(const Elements& elements, std::uint64_t begin, unsigned size, std::uint64_t first, unsigned,
                         bool) {
        __shared__ unsigned marks[Tile / 32];
        for (unsigned k = threadIdx.x; k < Tile / 32; k += blockDim.x) {
            marks[k] = 0;
        }
        const auto& begins = elements.options.segments.begins;
        const std::uint64_t count = elements.options.segments.count, n = elements.n;
        // The tile has elements [low, high); in reversed order a segment begins before its end.
        const std::uint64_t from = begin >> 63 != 0 ? 0 : begin;
        const std::uint64_t to = min(begin + size, n);
        const std::uint64_t low = Options::reverse ? n - to + 1 : from;
        const std::uint64_t high = Options::reverse ? n - from + 1 : to;
        std::uint64_t left = 0, right = count; // the first offset of `low` or more is in [left, right]
        while (right - left > 0) {
            const std::uint64_t step = (right - left + blockDim.x - 1) / blockDim.x;
            const std::uint64_t probe = left + threadIdx.x * step;
            const bool below = probe < right && static_cast<std::uint64_t>(begins[probe]) < low;
            const unsigned below_count = static_cast<unsigned>(__syncthreads_count(below ? 1 : 0));
            if (below_count == 0) {
                right = left;
            } else {
                right = min(left + below_count * step, right);
                left = left + (below_count - 1) * step + 1;
            }
        }
        __syncthreads();
        for (std::uint64_t s = left + threadIdx.x; s < count; s += blockDim.x) {
            const auto offset = static_cast<std::uint64_t>(begins[s]);
            if (offset >= high) {
                break;
            }
            if (offset >= low) { // or offsets decrease
                const std::uint64_t v = Options::reverse ? n - offset : offset;
                const auto bit = static_cast<unsigned>(v - begin);
                atomicOr(&marks[bit / 32], 1u << bit % 32);
            }
        }
        if (threadIdx.x == 0 && begin + size - 1 < size) {
            const auto bit = static_cast<unsigned>(0 - begin); // the first element of all
            atomicOr(&marks[bit / 32], 1u << bit % 32);
        }
        __syncthreads();
#pragma unroll
        for (unsigned r = 0; r < Rows; ++r) {
            const auto bit = static_cast<unsigned>(first + r * row - begin);
            this->bits[r] = marks[bit / 32] >> bit % 32 & (0xffffffffu >> (32 - run));
        }
    }
};

} // namespace warpfold::detail
