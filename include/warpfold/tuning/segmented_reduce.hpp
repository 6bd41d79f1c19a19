// SPDX-License-Identifier: MIT
// How a segmented reduction is laid out on a GPU: found with benchmarks/library on an H100, see docs/results. To
// try others define WARPFOLD_TUNING_SEGMENTED_REDUCE as "256, 3, 120, 4, 100, 512", in the order of the fields.
#pragma once

#ifndef WARPFOLD_TUNING_SEGMENTED_REDUCE
#define WARPFOLD_TUNING_SEGMENTED_REDUCE 256, 3, 120, 4, 100, 512
#endif

namespace warpfold::tuning {

struct segmented_reduce {
    unsigned threads;                   // of a block
    unsigned blocks_per_multiprocessor; // at most
    unsigned bytes_per_thread;          // of shared memory, for elements and results
    unsigned rows;                      // of 16 bytes a lane, under way in each warp
    unsigned sparse_from;               // elements a segment, on the average, from which on rows are read
    unsigned least;                     // elements and ends of a warp
};

inline constexpr segmented_reduce segmented_reduce_default{WARPFOLD_TUNING_SEGMENTED_REDUCE};

} // namespace warpfold::tuning
