// SPDX-License-Identifier: MIT
// How a scan is laid out on a GPU: found with benchmarks/library on an H100, see docs/results. To try others define
// WARPFOLD_TUNING_SCAN as "128, 256, 6, 32, 4", in the order of the fields.
#pragma once

#ifndef WARPFOLD_TUNING_SCAN
#define WARPFOLD_TUNING_SCAN 128, 256, 6, 32, 4
#endif

namespace warpfold::tuning {

struct scan {
    unsigned threads;                   // of a block
    unsigned bytes;                     // of input or output, whichever is more, that a thread has
    unsigned blocks_per_multiprocessor; // that have to find registers at the same time
    unsigned blocks;                    // of a launch, before tiles become as large as they can
    unsigned one_block_rows;            // so many rows a warp are left to one block
};

inline constexpr scan scan_default{WARPFOLD_TUNING_SCAN};

} // namespace warpfold::tuning
