// SPDX-License-Identifier: MIT
// Elements and ends of segments, counted together as one passes them: segment s ends at position offsets[s + 1] -
// offsets[0] + s, behind its elements. Cut at equal distances, all parts are equally much work.
//
// After O. Green, R. McColl, D. Bader: GPU merge path, ICS 2012, and D. Merrill, M. Garland: Merge-based parallel
// sparse matrix-vector multiplication, SC 2016.
#pragma once

#include <cstdint>

#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

template <class Offsets>
struct segment_path {
    Offsets offsets;
    std::uint64_t base; // offsets[0]
    std::uint64_t segments;
    std::uint64_t elements;
    std::uint64_t total; // elements and ends

    __device__ segment_path(const Offsets& offsets_, std::uint64_t segments_)
        : offsets(offsets_),
          base(static_cast<std::uint64_t>(offsets_[0])),
          segments(segments_),
          elements(static_cast<std::uint64_t>(offsets_[segments_]) - base),
          total(elements + segments_) {}

    // The number of elements before the end of segment s, and a position behind everything where there is no segment s.
    __device__ std::uint64_t elements_before_end(std::uint64_t s) const {
        return s < segments ? static_cast<std::uint64_t>(offsets[s + 1]) - base : std::uint64_t{1} << 62;
    }
    // The position where segment s begins, s < segments.
    __device__ std::uint64_t begin_of(std::uint64_t s) const {
        return static_cast<std::uint64_t>(offsets[s]) - base + s;
    }

    // How many segments end before position d. A whole warp looks at 32 of them at a time.
    __device__ std::uint64_t ends_before(std::uint64_t d) const {
        std::uint64_t least = 0, most = d < segments ? d : segments;
        while (least < most) {
            const std::uint64_t step = (most - least + warp::lanes - 1) / warp::lanes;
            const std::uint64_t s = least + (threadIdx.x % warp::lanes) * step;
            const bool below = s < most && elements_before_end(s) + s < d;
            const auto count = static_cast<unsigned>(__popc(__ballot_sync(warp::all_lanes, below)));
            const std::uint64_t next = least + count * step;
            if (count == 0) {
                break;
            }
            least = next - step + 1;
            most = next < most ? next : most;
        }
        return least;
    }
};

} // namespace warpfold::detail
