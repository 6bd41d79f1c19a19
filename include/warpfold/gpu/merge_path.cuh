// SPDX-License-Identifier: MIT
// Elements and ends of segments, counted together as one passes them: segment s ends at position offsets[s + 1] -
// offsets[0] + s, behind its elements. Cut at equal distances, all parts are equally much work.
//
// After O. Green, R. McColl, D. Bader: GPU merge path, ICS 2012, and D. Merrill, M. Garland: Merge-based parallel
// sparse matrix-vector multiplication, SC 2016.
#pragma once

#include <cstdint>

#include "warpfold/segmented_reduce.hpp"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

// The number of elements before the end of a segment that is not there: behind everything.
inline constexpr std::uint64_t never = std::uint64_t{1} << 62;

// What a block has read of the offsets when its kernel begins, in shared memory: the positions where every step-th
// segment ends, which is each where they are no more than there is room for.
struct segment_signposts {
    static constexpr unsigned most = 1024;

    std::uint64_t end[most];

    // So many are read; of many segments fewer, since each is read from a place of its own.
    __host__ __device__ static constexpr unsigned count(std::uint64_t segments) {
        return segments <= most ? most : most / 2;
    }
};

// All threads of a block construct it together.
template <class Offsets>
struct segment_path {
    Offsets offsets;
    std::uint64_t base; // offsets[0]
    std::uint64_t segments;
    std::uint64_t elements;
    std::uint64_t total; // elements and ends
    unsigned posts;
    std::uint64_t step; // from signpost to signpost

    __device__ segment_path(const Offsets& offsets_, std::uint64_t segments_, segment_signposts& signposts)
        : offsets(offsets_),
          segments(segments_),
          posts(segment_signposts::count(segments_)),
          step((segments_ + posts - 1) / posts) {
        // Nothing here waits for anything else.
        base = static_cast<std::uint64_t>(offsets[0]);
        const auto behind = static_cast<std::uint64_t>(offsets[segments]);
        for (unsigned k = threadIdx.x; k < posts; k += blockDim.x) {
            signposts.end[k] = elements_before_end(k * step) + k * step;
        }
        elements = behind < base ? 0 : behind - base;
        total = elements + segments;
        __syncthreads();
    }

    // The number of elements before the end of segment s, `never` where there is no segment s.
    __device__ std::uint64_t elements_before_end(std::uint64_t s) const {
        return s < segments ? static_cast<std::uint64_t>(offsets[s + 1]) - base : never;
    }
    // The same in two steps, of which the first only reads. Where there is no segment s, the position s + the elements
    // before its end is not before that of the end of everything.
    using mark = element_t<Offsets>;
    __device__ mark mark_of_end(std::uint64_t s) const { return offsets[s < segments ? s + 1 : segments]; }
    __device__ std::uint64_t elements_before(mark of_end) const { return static_cast<std::uint64_t>(of_end) - base; }
    // The position where segment s begins, s < segments.
    __device__ std::uint64_t begin_of(std::uint64_t s) const {
        return static_cast<std::uint64_t>(offsets[s]) - base + s;
    }

    // The number of elements before the beginning of segment s and its end, if there is a signpost for each segment.
    __device__ bool knows_all() const { return step == 1; }
    __device__ std::uint64_t known_begin(std::uint64_t s, const segment_signposts& signposts) const {
        return s == 0 ? 0 : signposts.end[s - 1] - (s - 1);
    }
    __device__ std::uint64_t known_end(std::uint64_t s, const segment_signposts& signposts) const {
        return signposts.end[s] - s;
    }
    // Whether all segments are known and none has more elements than these. The whole block asks together.
    __device__ bool all_within(std::uint64_t most, const segment_signposts& signposts) const {
        bool longer = !knows_all();
        for (unsigned s = threadIdx.x; knows_all() && s < segments; s += blockDim.x) {
            longer = longer || known_end(s, signposts) - known_begin(s, signposts) > most;
        }
        return __syncthreads_or(longer ? 1 : 0) == 0;
    }

    // How many segments end before position d. A whole warp asks together.
    __device__ std::uint64_t ends_before(std::uint64_t d, const segment_signposts& signposts) const {
        const unsigned lane = threadIdx.x % warp::lanes;
        const unsigned each = posts / warp::lanes; // no more than lanes
        unsigned passed = each * count_of(signposts.end[lane * each + each - 1] < d);
        passed += passed == posts ? 0 : count_of(lane < each && signposts.end[passed + lane] < d);
        // The answer is behind the last signpost that is passed, and not behind the next.
        std::uint64_t least = passed == 0 ? 0 : (passed - 1) * step + 1;
        std::uint64_t most = min(passed * step, segments);
        while (least < most) {
            constexpr unsigned probes = 4;
            const std::uint64_t apart = (most - least + probes * warp::lanes - 1) / (probes * warp::lanes);
            bool below[probes];
#pragma unroll
            for (unsigned j = 0; j < probes; ++j) {
                const std::uint64_t s = least + (j * warp::lanes + lane) * apart;
                below[j] = s < most && elements_before_end(s) + s < d;
            }
            unsigned count = 0;
#pragma unroll
            for (unsigned j = 0; j < probes; ++j) {
                count += count_of(below[j]);
            }
            if (count == 0) {
                break;
            }
            const std::uint64_t next = least + count * apart;
            least = next - apart + 1;
            most = next < most ? next : most;
        }
        return least;
    }

private:
    __device__ static unsigned count_of(bool yes) {
        return static_cast<unsigned>(__popc(__ballot_sync(warp::all_lanes, yes)));
    }
};

// Of one length: nothing is read, nothing is searched.
template <>
struct segment_path<equal_segments> {
    std::uint64_t length;
    static constexpr std::uint64_t base = 0;
    std::uint64_t segments;
    std::uint64_t elements;
    std::uint64_t total;

    __device__ segment_path(const equal_segments& offsets, std::uint64_t segments_, segment_signposts&)
        : length(offsets.length), segments(segments_), elements(segments_ * length), total(elements + segments_) {}

    __device__ std::uint64_t elements_before_end(std::uint64_t s) const {
        return s < segments ? (s + 1) * length : never;
    }
    using mark = std::uint64_t;
    __device__ mark mark_of_end(std::uint64_t s) const { return (s < segments ? s + 1 : segments) * length; }
    __device__ std::uint64_t elements_before(mark of_end) const { return of_end; }
    __device__ std::uint64_t begin_of(std::uint64_t s) const { return s * (length + 1); }
    __device__ std::uint64_t known_begin(std::uint64_t s, const segment_signposts&) const { return s * length; }
    __device__ std::uint64_t known_end(std::uint64_t s, const segment_signposts&) const { return (s + 1) * length; }
    __device__ bool all_within(std::uint64_t most, const segment_signposts&) const { return length <= most; }
    __device__ std::uint64_t ends_before(std::uint64_t d, const segment_signposts&) const {
        return min(d / (length + 1), segments);
    }
};

} // namespace warpfold::detail
