// SPDX-License-Identifier: MIT
// The merge path of a segmented reduction. Elements and ends of segments are merged into one sequence: segment s ends
// at position offsets[s + 1] - offsets[0] + s, after its elements. Equal parts of the sequence are equal work, whatever
// the lengths of the segments.
//
// O. Green, R. McColl, D. Bader: GPU merge path, ICS 2012. D. Merrill, M. Garland: Merge-based parallel sparse
// matrix-vector multiplication, SC 2016.
#pragma once

#include <cstdint>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/segments.hpp"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

// The number of elements before the end of a segment that does not exist.
inline constexpr std::uint64_t past_the_end = std::uint64_t{1} << 62;

// Cuts segments into consecutive ranges whose sizes differ by at most one. The host divides, so that no thread has to.
struct segment_cut {
    segment_cut(std::uint64_t segments, unsigned most)
        : ranges(segments < most ? static_cast<unsigned>(segments) : most),
          more(static_cast<unsigned>(segments % ranges)),
          each(segments / ranges) {}

    // The first segment of range k; for k == ranges, the number of segments.
    __host__ __device__ std::uint64_t begin(unsigned k) const { return k * each + (k < more ? k : more); }
    __host__ __device__ std::uint64_t count(unsigned k) const { return each + (k < more ? 1 : 0); }

    unsigned ranges;
    unsigned more; // so many ranges have each + 1 segments
    std::uint64_t each;
};

// Offsets that a block reads when its kernel begins, in shared memory: the elements before each range, and before the
// end of all segments.
template <unsigned Ranges>
struct offset_samples {
    std::uint64_t before[Ranges + 1];
};

// Constructed by all threads of a block together.
template <class Offsets>
struct segment_path {
    Offsets offsets;
    std::uint64_t base; // offsets[0]
    std::uint64_t segments;
    segment_cut cut;
    std::uint64_t elements;
    std::uint64_t total; // elements and ends of segments

    // A barrier is needed before the samples are read.
    template <class Signposts>
    __device__ segment_path(const Offsets& offsets_, std::uint64_t segments_, const segment_cut& cut_,
                            Signposts& samples)
        : offsets(offsets_), segments(segments_), cut(cut_) {
        // These loads do not depend on each other.
        base = static_cast<std::uint64_t>(offsets[0]);
        const auto behind = static_cast<std::uint64_t>(offsets[segments]);
        for (unsigned k = threadIdx.x; k <= cut.ranges; k += blockDim.x) {
            samples.before[k] = from_base(offsets[cut.begin(k)]);
        }
        elements = behind < base ? 0 : behind - base;
        total = elements + segments;
    }

    // The number of elements before the end of segment s; past_the_end if there is no segment s.
    __device__ std::uint64_t elements_before_end(std::uint64_t s) const {
        return s < segments ? from_base(offsets[s + 1]) : past_the_end;
    }
    // The same in two steps, of which only the first loads. If there is no segment s, the position of its end is not
    // before that of the last segment's end.
    using offset_type = element_t<Offsets>;
    __device__ offset_type end_offset(std::uint64_t s) const { return offsets[s < segments ? s + 1 : segments]; }
    __device__ std::uint64_t elements_before(offset_type of_end) const { return from_base(of_end); }
    // The position of the first element of segment s, s < segments.
    __device__ std::uint64_t begin_of(std::uint64_t s, unsigned weight = 1) const {
        return from_base(offsets[s]) + s * weight;
    }

    // The number of segments that end before position d, where an end has weight `weight`. A whole warp calls it.
    template <class Signposts>
    __device__ std::uint64_t ends_before(std::uint64_t d, const Signposts& samples, unsigned weight = 1) const {
        const unsigned lane = threadIdx.x % warp::lanes;
        // The last segment of range k ends `weight` before the next range begins.
        const auto ends = [&](unsigned k) {
            return k < cut.ranges && samples.before[k + 1] + (cut.begin(k + 1) - 1) * weight < d;
        };
        const unsigned each = (cut.ranges + warp::lanes - 1) / warp::lanes; // at most 32
        unsigned passed = each * count_of(ends(lane * each + each - 1));
        passed += count_of(lane < each && ends(passed + lane));
        std::uint64_t least = cut.begin(passed);
        std::uint64_t most = passed == cut.ranges ? segments : cut.begin(passed + 1) - 1;
        while (least < most) {
            constexpr unsigned probes = 4;
            const std::uint64_t stride = (most - least + probes * warp::lanes - 1) / (probes * warp::lanes);
            bool below[probes];
#pragma unroll
            for (unsigned j = 0; j < probes; ++j) {
                const std::uint64_t s = least + (j * warp::lanes + lane) * stride;
                below[j] = s < most && elements_before_end(s) + s * weight < d;
            }
            unsigned count = 0;
#pragma unroll
            for (unsigned j = 0; j < probes; ++j) {
                count += count_of(below[j]);
            }
            if (count == 0) {
                break;
            }
            const std::uint64_t next = least + count * stride;
            least = next - stride + 1;
            most = next < most ? next : most;
        }
        return least;
    }

private:
    // None before an offset that is less than the first one, where offsets decrease.
    template <class Offset>
    __device__ std::uint64_t from_base(const Offset& offset) const {
        const auto first = static_cast<Offset>(base);
        return static_cast<std::uint64_t>(offset < first ? first : offset) - base;
    }
    __device__ static unsigned count_of(bool yes) {
        return static_cast<unsigned>(__popc(__ballot_sync(warp::all_lanes, yes)));
    }
};

// Segments of one length need no loads and no search.
template <>
struct segment_path<equal_segments> {
    equal_segments offsets;
    std::uint64_t length;
    static constexpr std::uint64_t base = 0;
    std::uint64_t segments;
    std::uint64_t elements;
    std::uint64_t total;

    template <class Signposts>
    __device__ segment_path(const equal_segments& offsets_, std::uint64_t segments_, const segment_cut&, Signposts&)
        : offsets(offsets_),
          length(offsets.length),
          segments(segments_),
          elements(segments_ * length),
          total(elements + segments_) {}

    __device__ std::uint64_t elements_before_end(std::uint64_t s) const {
        return s < segments ? (s + 1) * length : past_the_end;
    }
    using offset_type = std::uint64_t;
    __device__ offset_type end_offset(std::uint64_t s) const { return (s < segments ? s + 1 : segments) * length; }
    __device__ std::uint64_t elements_before(offset_type of_end) const { return of_end; }
    __device__ std::uint64_t begin_of(std::uint64_t s, unsigned weight = 1) const { return s * (length + weight); }
    template <class Signposts>
    __device__ std::uint64_t ends_before(std::uint64_t d, const Signposts&, unsigned weight = 1) const {
        // Segment s ends at s * (length + weight) + length.
        return d <= length ? 0 : min((d - length - 1) / (length + weight) + 1, segments);
    }
};

} // namespace warpfold::detail
