// SPDX-License-Identifier: MIT
// How a convolution is laid out on a GPU: found with benchmarks/library on an H100, see docs/results. To try others
// define WARPFOLD_TUNING_CONVOLVE as "256, 2, 128, 1, 4, 4, 6, 32, 4, 9, 15, 128, 64, 131072", in the order of the
// fields.
#pragma once

#ifndef WARPFOLD_TUNING_CONVOLVE
#define WARPFOLD_TUNING_CONVOLVE 256, 2, 128, 1, 4, 4, 6, 32, 4, 9, 15, 128, 64, 131072
#endif

namespace warpfold::tuning {

struct convolve {
    int run_threads;   // of a block, for short masks of one dimension,
    int run_vectors;   // and how many times four results a thread has
    int slide_threads; // of a block, for columns of images that slide through registers,
    int slide_waves;   // and how many times as many blocks there are as fit the device at once, unless strips are short
    int slide_stages;  // how many rows of samples a warp has in shared memory or on their way, a power of two
    int slide_rows_3;  // of results that a strip has at most, for samples of 4 bytes and masks 3 wide,
    int slide_rows_5;  // 5 wide,
    int slide_rows_7;  // and 7 wide; of separable ones up to 9 wide
    int slide_least_rows;      // and at least
    int slide_eight;           // a thread has eight columns, of samples of 8 and 16 bits, for masks so wide at most,
    int slide_eight_separable; // and for separable ones
    int line_threads;  // of a block, for long masks of one dimension,
    int line_short;    // of which those of so many values at most have runs of 8 results, others of 16
    int few_results;   // so many at most are left to blocks that read all they need at once
};

inline constexpr convolve convolve_default{WARPFOLD_TUNING_CONVOLVE};

} // namespace warpfold::tuning
