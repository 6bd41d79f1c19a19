// SPDX-License-Identifier: MIT
// How a histogram is laid out on a GPU: found with benchmarks/library/histogram.cu on an H100, see docs/results. To try
// others define WARPFOLD_TUNING_HISTOGRAM as a list in the order of the fields.
#pragma once

#ifndef WARPFOLD_TUNING_HISTOGRAM
#define WARPFOLD_TUNING_HISTOGRAM 1024, 1, 4, 4, 1, 6, 131072, 3, 9, 24, 65536, 16384, 2, 512, 8192, 64, 32768, 32768, 32
#endif

namespace warpfold::tuning {

struct histogram {
    unsigned threads;                   // of a block
    unsigned blocks_per_multiprocessor; // at most
    unsigned loads;                     // of 16 bytes, under way in each thread
    unsigned value_loads;               // the same for samples of 8 bits,
    unsigned packed_blocks;             // and blocks of a multiprocessor and loads
    unsigned packed_loads;              // for counters of 8 bits
    unsigned copies_bytes;              // of shared memory that copies of a block's counters may take
    unsigned whole_parts;               // counters of 32 bits where so many blocks hold all of them together
    unsigned packed_parts;              // else counters of 8 bits, likewise; else none: all is added to global memory
    unsigned pass_bytes_log2;           // that many bytes of counts stay in the cache in one pass over the samples
    unsigned zeroed_inside;             // so many counts are set to zero by the kernel itself
    unsigned samples_each;              // a block has at least so many samples
    unsigned samples_a_counter;         // and private counters pay from so many samples a counter on
    unsigned few_threads;               // 256 or 512, of a block that counts few samples of 8 bits,
    unsigned few_each;                  // which are so many each,
    unsigned few_blocks;                // and twice as many where there would be more blocks,
    unsigned few_most;                  // if there are no more than so many for every multiprocessor
    unsigned most_cells;                // of a table of edges,
    unsigned cells_a_bin;               // and so many for each bin
};

inline constexpr histogram histogram_default{WARPFOLD_TUNING_HISTOGRAM};

} // namespace warpfold::tuning
