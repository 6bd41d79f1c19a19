// SPDX-License-Identifier: MIT
// How a segmented reduction is laid out on a GPU: found with benchmarks/library on an H100, see docs/results. To
// try others define WARPFOLD_TUNING_SEGMENTED_REDUCE as "256, 3, 64, 16, 480, 8192, 131072", in the order of the
// fields.
#pragma once

#ifndef WARPFOLD_TUNING_SEGMENTED_REDUCE
#define WARPFOLD_TUNING_SEGMENTED_REDUCE 256, 3, 64, 16, 480, 8192, 131072
#endif

namespace warpfold::tuning {

struct segmented_reduce {
    unsigned threads;                   // of a block, at most
    unsigned blocks_per_multiprocessor; // at most
    unsigned bytes_per_lane;            // of a tile's elements, or values where they are larger; 16 elements at most
    unsigned dense_from;                // ends in a tile, from which on those of the next are read ahead in fours of 32
    unsigned least;                     // elements and ends of a warp, if more than a segment is shared out
    unsigned bytes_of_warp;             // of a segment at most, where few segments are left to a warp each,
    unsigned bytes_of_block;            // or to a block
};

inline constexpr segmented_reduce segmented_reduce_default{WARPFOLD_TUNING_SEGMENTED_REDUCE};

} // namespace warpfold::tuning
