// SPDX-License-Identifier: MIT
// Where elements and ends of segments, counted together as one passes them, are cut. Segment s ends at position
// offsets[s + 1] - offsets[0] + s, behind its elements.
//
// After O. Green, R. McColl, D. Bader: GPU merge path, ICS 2012, and D. Merrill, M. Garland: Merge-based parallel
// sparse matrix-vector multiplication, SC 2016.
#pragma once

#include <cstdint>

namespace warpfold::detail {

template <class Offsets>
struct segment_path {
    Offsets offsets;
    std::uint64_t base; // offsets[0]
    std::uint64_t segments;
    std::uint64_t total; // elements and ends

    __device__ segment_path(const Offsets& offsets_, std::uint64_t segments_)
        : offsets(offsets_),
          base(static_cast<std::uint64_t>(offsets_[0])),
          segments(segments_),
          total(static_cast<std::uint64_t>(offsets_[segments_]) - base + segments_) {}

    // Where segment s begins and ends; s < segments.
    __device__ std::uint64_t begin_of(std::uint64_t s) const {
        return static_cast<std::uint64_t>(offsets[s]) - base + s;
    }
    __device__ std::uint64_t end_of(std::uint64_t s) const {
        return static_cast<std::uint64_t>(offsets[s + 1]) - base + s;
    }

    // How many segments end before position d, if the answer is known to be in [least, most].
    __device__ std::uint64_t ends_before(std::uint64_t d, std::uint64_t least, std::uint64_t most) const {
        while (least < most) {
            const std::uint64_t middle = least + (most - least) / 2;
            if (end_of(middle) < d) {
                least = middle + 1;
            } else {
                most = middle;
            }
        }
        return least;
    }
};

// An interval that holds an answer, made smaller by a factor of the block's size with each look at the memory.
struct narrowed {
    std::uint64_t least, most;
    std::uint64_t step = 1;

    __device__ bool found() const { return least >= most; }
    // This thread's place to look at; `most` where there is none for it.
    __device__ std::uint64_t probe() {
        step = (most - least + blockDim.x - 1) / blockDim.x;
        const std::uint64_t at = least + threadIdx.x * step;
        return at < most ? at : most;
    }
    // `below` threads looked at places that lie before the answer.
    __device__ void narrow(unsigned below) {
        if (below == 0) {
            most = least;
            return;
        }
        const std::uint64_t next = least + below * step;
        least = least + (below - 1) * step + 1;
        most = next < most ? next : most;
    }
};

// The same for two positions, by a whole block.
template <class Path>
__device__ void ends_before(const Path& path, const std::uint64_t (&d)[2], narrowed (&in)[2]) {
    while (!in[0].found() || !in[1].found()) {
        bool below[2];
#pragma unroll
        for (unsigned which = 0; which < 2; ++which) {
            const std::uint64_t s = in[which].found() ? in[which].most : in[which].probe();
            below[which] = s < in[which].most && path.end_of(s) < d[which];
        }
#pragma unroll
        for (unsigned which = 0; which < 2; ++which) {
            const unsigned count = static_cast<unsigned>(__syncthreads_count(below[which] ? 1 : 0));
            if (!in[which].found()) {
                in[which].narrow(count);
            }
        }
    }
}

} // namespace warpfold::detail
