// SPDX-License-Identifier: MIT
// How a reduction is laid out on a GPU: found with benchmarks/library on an H100, see docs/results. To
// try others define WARPFOLD_TUNING_REDUCE as "1024, 2, 2, 4096, 20000, 2, 2, 16, 4, 1073741824", in the order of the fields.
#pragma once

#ifndef WARPFOLD_TUNING_REDUCE
#define WARPFOLD_TUNING_REDUCE 1024, 2, 2, 4096, 20000, 2, 2, 16, 4, 1073741824
#endif

namespace warpfold::tuning {

struct reduce {
    unsigned threads;                   // of a block, at most
    unsigned blocks_per_multiprocessor; // at most
    unsigned loads;                     // of 16 bytes, under way in each thread
    unsigned one_block_vectors;         // so many times 16 bytes are left to one block,
    unsigned one_block_elements;        // if they are no more elements than these,
    unsigned one_block_share;           // and each of its threads takes so many of them
    unsigned share;                     // the same where there are more blocks, before there are as many as may be
    unsigned long_from;                 // sixteenths of the L2 cache: beyond them an array is a long one
    unsigned loads_of_longest;          // under way in each thread, of elements of 4 bytes and more,
    unsigned bytes_of_longest;          // from so many on
};

inline constexpr reduce reduce_default{WARPFOLD_TUNING_REDUCE};

} // namespace warpfold::tuning
