// SPDX-License-Identifier: MIT
// How a scan is laid out on a GPU: found with benchmarks/library on an H100, see docs/results. To try others define
// WARPFOLD_TUNING_SCAN as "256, 64, 4, 128", in the order of the fields.
#pragma once

#ifndef WARPFOLD_TUNING_SCAN
#define WARPFOLD_TUNING_SCAN 256, 64, 4, 128
#endif

namespace warpfold::tuning {

struct scan {
    unsigned threads;                   // of a block
    unsigned bytes;                     // of input or output, whichever is more, that a thread has
    unsigned blocks_per_multiprocessor; // that have to find registers at the same time
    unsigned group;                     // tiles that look at each other's totals, a multiple of 32
};

inline constexpr scan scan_default{WARPFOLD_TUNING_SCAN};

} // namespace warpfold::tuning
