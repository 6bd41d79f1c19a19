// SPDX-License-Identifier: MIT
// How segmented reductions are launched on a GPU. See policy.hpp.
//
// Every field decides which thread folds which elements, and so the bits of floating-point sums and products. Segmented
// reductions of integers, minima and maxima are the same with any policy. The order of elements is kept for operations
// that do not commute.
#pragma once

#include <cstdint>

#include "warpfold/tuning/policy.hpp"

namespace warpfold::tuning {

// Kernels:
//   merge path    any segments: warps have equal shares of elements and ends
//   few           few segments: blocks have ranges of segments, and their teams fold them
//   team          segments of one length, each by some lanes of a warp, a warp or a block
struct segmented_reduce_kernels {
    unsigned max_block_threads = 256;    // merge path; elements and values over 16 bytes have smaller blocks
    unsigned resident_blocks = 3;        // of a multiprocessor, for which registers are left, and of a launch
    unsigned tile_bytes_per_lane = 64;   // of elements, or of half the values where they are larger; 16 elements
                                         // at most
    unsigned dense_tile_min_ends = 16;   // from so many in a tile on, more of the next ends are read ahead
    unsigned lane_segment_max = 5;       // elements: below so many on average, and none above lane_sample_max in a
    unsigned lane_sample_max = 24;       // sample, a lane folds each segment of a block's share
    unsigned warp_min_share = 480;       // elements and ends of a warp that shares segments with others, even
    unsigned vector_loads_in_flight = 8; // of 16 bytes, in each thread that folds a segment with others
    unsigned equal_vector_loads_in_flight = 4; // the same for teams, where all segments have one length
    unsigned team_max_rounds = 4;              // of vector_loads_in_flight; longer segments are the block's
    unsigned few_resident_blocks = 1;          // of a multiprocessor, as above, of the kernel for few segments
    unsigned few_range_max_bytes = 262144;     // where a range of few segments is longer, all blocks share out elements
    unsigned long_segment_min_bytes = 16384;   // on average; blocks share out the elements of longer segments

    bool operator==(const segmented_reduce_kernels&) const = default;
};

template <segmented_reduce_kernels Kernels = segmented_reduce_kernels{}>
struct segmented_reduce_policy {
    static constexpr primitive calls = primitive::segmented_reduce;
    static constexpr segmented_reduce_kernels kernels = Kernels;
    static_assert(is_block_size(Kernels.max_block_threads) && Kernels.max_block_threads <= 256,
                  "segmented_reduce_kernels: max_block_threads is not a multiple of 32 from 32 to 256");
    static_assert(Kernels.resident_blocks >= 1 && Kernels.resident_blocks * Kernels.max_block_threads <= 2048 &&
                      Kernels.few_resident_blocks >= 1 && Kernels.few_resident_blocks <= 4,
                  "segmented_reduce_kernels: resident_blocks have no thread, or more than 2,048, the most of a "
                  "multiprocessor");
    static_assert(Kernels.warp_min_share >= 2 && Kernels.warp_min_share % 2 == 0,
                  "segmented_reduce_kernels: warp_min_share is odd, or 0");
    static_assert(Kernels.vector_loads_in_flight >= 2 && Kernels.equal_vector_loads_in_flight >= 1 &&
                      Kernels.team_max_rounds >= 1,
                  "segmented_reduce_kernels: too few loads in flight, or no round");
    static constexpr unsigned most_few_segments = 32768;

    unsigned few_max_segments = 16384; // for the kernel for few segments, 32,768 at most
    // Segments of one length: those below 2 KiB are copied to shared memory first where all of them have more bytes than
    // this. Others are a team's each where all have no more bytes than this, or one has at least so many.
    std::uint64_t short_teams_max_bytes = std::uint64_t{1} << 20;
    std::uint64_t teams_max_bytes = std::uint64_t{1} << 28;
    std::uint64_t team_segment_min_bytes = 1024;

    // Defaults of an architecture:
    //   9.0  Measured on an H100 (docs/results/library/segmented-reduce-h100.md): the values above.
    //   7.5, 8.0, 8.6, 8.9, 12.x
    //        Derived: as 9.0. Registers limit the blocks of a multiprocessor, and all of them have 65,536; 768 threads fit
    //        on all of them.
    //   10.x As 9.0, until measured.
    static constexpr segmented_reduce_policy of(unsigned /*compute_capability*/) { return {}; }

    // Throws invalid_argument where a value cannot work.
    constexpr void check() const {
        check_field("segmented_reduce_policy: few_max_segments", few_max_segments, 0, most_few_segments);
    }
};

} // namespace warpfold::tuning
