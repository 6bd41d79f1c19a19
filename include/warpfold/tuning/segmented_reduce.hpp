// SPDX-License-Identifier: MIT
// How a segmented reduction is laid out on a GPU: found with benchmarks/library on an H100, see docs/results. To
// try others define WARPFOLD_TUNING_SEGMENTED_REDUCE as "256, 3, 64, 16, 480, 8, 4, 4, 1, 262144, 16384, 1048576,
// 268435456, 1024, 16384", in the order of the fields.
#pragma once

#ifndef WARPFOLD_TUNING_SEGMENTED_REDUCE
#define WARPFOLD_TUNING_SEGMENTED_REDUCE 256, 3, 64, 16, 480, 8, 4, 4, 1, 262144, 16384, 1048576, 268435456, 1024, 16384
#endif

namespace warpfold::tuning {

struct segmented_reduce {
    unsigned threads;                   // of a block, at most
    unsigned blocks_per_multiprocessor; // at most
    unsigned bytes_per_lane;            // of a tile's elements, or values where they are larger; 16 elements at most
    unsigned dense_from;                // ends in a tile, from which on those of the next are read ahead in fours of 32
    unsigned least;                     // elements and ends of a warp, if more than a segment is shared out
    unsigned loads;                     // of 16 bytes, under way in each thread that folds a segment with others,
    unsigned team_loads;                // and where all segments have one length
    unsigned rounds;                    // of the former, after which a segment is a block's
    unsigned few_blocks;                // a multiprocessor, for few segments
    unsigned bytes_of_range;            // no longer ranges of few segments are left to a block each
    unsigned bytes_of_long;             // of a segment on average, from which on blocks share out elements
    unsigned bytes_of_short;            // of all segments of one short length, up to which each is a team's,
    unsigned bytes_by_teams;            // of all segments of one length, the same,
    unsigned bytes_of_team;             // or of one of them, from which on
    unsigned few;                       // segments, at most
};

inline constexpr segmented_reduce segmented_reduce_default{WARPFOLD_TUNING_SEGMENTED_REDUCE};

} // namespace warpfold::tuning
