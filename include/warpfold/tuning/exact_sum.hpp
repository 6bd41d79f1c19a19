// SPDX-License-Identifier: MIT
// How an exact sum is laid out on a GPU: found with benchmarks/library on an H100, see docs/results. To try others
// define WARPFOLD_TUNING_EXACT_SUM as "512, 2, 4, 4096, 20000", in the order of the fields.
#pragma once

#ifndef WARPFOLD_TUNING_EXACT_SUM
#define WARPFOLD_TUNING_EXACT_SUM 512, 2, 3, 2048, 8192
#endif

namespace warpfold::tuning {

struct exact_sum {
    unsigned threads;                   // of a block, at most
    unsigned blocks_per_multiprocessor; // at most
    unsigned loads;                     // of 16 bytes, under way in each thread; of each array of a dot product half
                                        // as many where they are of doubles, one where of floats
    unsigned one_block_vectors;         // so many times 16 bytes are left to one block,
    unsigned one_block_elements;        // if they are no more elements than these
};

inline constexpr exact_sum exact_sum_default{WARPFOLD_TUNING_EXACT_SUM};

} // namespace warpfold::tuning
