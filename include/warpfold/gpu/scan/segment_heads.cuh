// SPDX-License-Identifier: MIT
// Where segments begin among the elements of a scan's tile, as a bit an element in each thread.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/scan_how.hpp"
#include "warpfold/gpu/core/run.cuh"

namespace warpfold::detail {

// No segments: nothing is asked, nothing is kept.
template <class Work, class How = decltype(Work::how), class Segments = decltype(How::segments)>
struct segment_heads {
    __device__ segment_heads(const Work&, std::uint64_t, unsigned, std::uint64_t, bool) {}
    [[nodiscard]] __device__ static constexpr bool at(unsigned, unsigned) { return false; }
};

// The bits of a thread's elements, run by run.
template <class layout>
struct head_bits {
    static_assert(layout::run <= 32);
    unsigned bits[layout::rows] = {};

    [[nodiscard]] __device__ bool at(unsigned r, unsigned j) const { return (bits[r] >> j & 1) != 0; }
};

// By flags: in reversed order the element that is visited first is the last of its segment, behind which another
// begins.
template <class Work, class How, class Flags>
struct segment_heads<Work, How, heads<Flags>> : head_bits<typename Work::layout> {
    using layout = typename Work::layout;

    __device__ segment_heads(const Work& work, std::uint64_t, unsigned, std::uint64_t first, bool inside) {
        const auto& flags = work.how.segments.flags;
        using F = std::remove_cvref_t<decltype(flags[0])>;
#pragma unroll
        for (unsigned r = 0; r < layout::rows; ++r) {
            if (r >= work.rows) {
                break;
            }
            const std::uint64_t v = first + r * layout::row;
            bool loaded = false;
            if constexpr (std::is_pointer_v<Flags> && !How::reverse) {
                if (inside && reinterpret_cast<std::uintptr_t>(flags + v) % run_alignment_v<F, layout::run> == 0) {
                    F held[layout::run];
                    load_run(flags + v, held);
#pragma unroll
                    for (unsigned j = 0; j < layout::run; ++j) {
                        this->bits[r] |= (held[j] ? 1u : 0u) << j;
                    }
                    loaded = true;
                }
            }
            if (!loaded) {
#pragma unroll
                for (unsigned j = 0; j < layout::run; ++j) {
                    if (v + j != 0 && v + j < work.n) {
                        const std::uint64_t k = work.place(v + j);
                        this->bits[r] |= (flags[How::reverse ? k + 1 : k] ? 1u : 0u) << j;
                    }
                }
            }
            if (v == 0 || 0 - v < layout::run) {
                this->bits[r] |= 1u << static_cast<unsigned>(0 - v); // the first element of all
            }
        }
    }
};

// By offsets: the block looks for the first one that matters to the tile, all threads at once, and marks those that
// follow in shared memory.
template <class Work, class How, class Begins>
struct segment_heads<Work, How, offsets<Begins>> : head_bits<typename Work::layout> {
    using layout = typename Work::layout;

    __device__ segment_heads(const Work& work, std::uint64_t begin, unsigned size, std::uint64_t first, bool) {
        __shared__ unsigned marks[layout::tile / 32];
        for (unsigned k = threadIdx.x; k < layout::tile / 32; k += blockDim.x) {
            marks[k] = 0;
        }
        const auto& begins = work.how.segments.begins;
        const std::uint64_t count = work.how.segments.count;
        // Elements [low, high) are the tile's; in reversed order a segment's first element stands before its end.
        const std::uint64_t from = begin >> 63 != 0 ? 0 : begin;
        const std::uint64_t to = min(begin + size, work.n);
        const std::uint64_t low = How::reverse ? work.n - to + 1 : from;
        const std::uint64_t high = How::reverse ? work.n - from + 1 : to;
        std::uint64_t left = 0, right = count; // the first offset that is `low` or more stands in [left, right]
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
            const std::uint64_t v = How::reverse ? work.n - offset : offset;
            const auto bit = static_cast<unsigned>(v - begin);
            atomicOr(&marks[bit / 32], 1u << bit % 32);
        }
        if (threadIdx.x == 0 && begin + size - 1 < size) {
            const auto bit = static_cast<unsigned>(0 - begin); // the first element of all
            atomicOr(&marks[bit / 32], 1u << bit % 32);
        }
        __syncthreads();
#pragma unroll
        for (unsigned r = 0; r < layout::rows; ++r) {
            const auto bit = static_cast<unsigned>(first + r * layout::row - begin);
            this->bits[r] = marks[bit / 32] >> bit % 32 & (0xffffffffu >> (32 - layout::run));
        }
    }
};

} // namespace warpfold::detail
