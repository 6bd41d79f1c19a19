// SPDX-License-Identifier: MIT
// How a scan is laid out on a GPU: found with benchmarks/library on an H100, see docs/results. To try others define
// WARPFOLD_TUNING_SCAN as "256, 128, 6, 512", in the order of the fields.
#pragma once

#ifndef WARPFOLD_TUNING_SCAN
#define WARPFOLD_TUNING_SCAN 256, 128, 6, 512
#endif

namespace warpfold::tuning {

struct scan {
    unsigned threads;                   // of a block
    unsigned bytes;                     // of input or output, whichever is more, that a thread has
    unsigned blocks_per_multiprocessor; // that have to find registers at the same time
    unsigned blocks;                    // of a launch at least, before tiles become as large as they can
};

inline constexpr scan scan_default{WARPFOLD_TUNING_SCAN};

} // namespace warpfold::tuning
