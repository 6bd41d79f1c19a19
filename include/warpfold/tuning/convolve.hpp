// SPDX-License-Identifier: MIT
// How a convolution is laid out on a GPU: found with benchmarks/library on an H100, see docs/results. To try others
// define WARPFOLD_TUNING_CONVOLVE as "256, 4, 128, 2, 128, 16, 16, 32, 256", in the order of the fields.
#pragma once

#ifndef WARPFOLD_TUNING_CONVOLVE
#define WARPFOLD_TUNING_CONVOLVE 256, 2, 128, 1, 128, 16, 16
#endif

namespace warpfold::tuning {

struct convolve {
    int run_threads;   // of a block, for short masks of one dimension,
    int run_vectors;   // and how many times four results a thread has
    int slide_threads; // of a block, for columns of images that slide through registers,
    int slide_waves;   // and how many times as many blocks there are as fit the device at once
    int line_threads;  // of a block, for long masks of one dimension,
    int line_columns;  // how many results a thread has, 4, 8 or 16,
    int line_taps;     // and how many values of the mask are done at a time
};

inline constexpr convolve convolve_default{WARPFOLD_TUNING_CONVOLVE};

} // namespace warpfold::tuning
