// SPDX-License-Identifier: MIT
// How a scan is laid out on a GPU: found with benchmarks/library on an H100, see docs/results. To try others define
// WARPFOLD_TUNING_SCAN as "128, 256, 6, 32, 4", WARPFOLD_TUNING_SCAN_ONCE as "4, 8, 8, 4, 64, 128, 300, 8, 16, 1025,
// 128" and WARPFOLD_TUNING_SCAN_STREAM as "256, 8, 3, 2, 1", in the order of the fields.
#pragma once

#ifndef WARPFOLD_TUNING_SCAN
#define WARPFOLD_TUNING_SCAN 128, 256, 6, 32, 4
#endif
#ifndef WARPFOLD_TUNING_SCAN_ONCE
#define WARPFOLD_TUNING_SCAN_ONCE 4, 8, 8, 4, 64, 128, 300, 8, 16, 1025, 128
#endif
#ifndef WARPFOLD_TUNING_SCAN_STREAM
#define WARPFOLD_TUNING_SCAN_STREAM 256, 8, 3, 2, 1
#endif

namespace warpfold::tuning {

// In segments, of large elements.
struct scan {
    unsigned threads;                   // of a block
    unsigned bytes;                     // of input or output, whichever is more, that a thread has
    unsigned blocks_per_multiprocessor; // that have to find registers at the same time
    unsigned blocks;                    // of a launch, before tiles become as large as they can
    unsigned one_block_rows;            // so many rows a warp are left to one block
};

// Of short arrays.
struct scan_once {
    unsigned rows;       // of 16 bytes a lane, in the warps of short arrays
    unsigned alone;      // warps of a block that is the only one, at most,
    unsigned warps;      // and of a block among others
    unsigned few_warps;  // of a block among few: up to
    unsigned few_tiles;  // so many
    unsigned tiles;      // at most; with more of them blocks are of many_warps,
    unsigned wide_tiles; // up to so many tiles; and if that leaves more still, warps have
    unsigned many_rows;  // and
    unsigned many_warps; // are in a block, up to
    unsigned many_tiles; // and longer arrays are left to the following
    unsigned told_tiles; // up to so many tiles, each is told every total in a box of its own
};

// Of long arrays.
struct scan_stream {
    unsigned threads;                   // of a block
    unsigned chunks;                    // of 16 bytes that a thread has in a tile
    unsigned stages;                    // tiles of a block in shared memory
    unsigned blocks_per_multiprocessor;
    unsigned ahead;                     // tiles whose totals are posted before one is finished
};

inline constexpr scan scan_default{WARPFOLD_TUNING_SCAN};
inline constexpr scan_once scan_once_default{WARPFOLD_TUNING_SCAN_ONCE};
inline constexpr scan_stream scan_stream_default{WARPFOLD_TUNING_SCAN_STREAM};

} // namespace warpfold::tuning
