// SPDX-License-Identifier: MIT
// How a convolution is laid out on a GPU: found with benchmarks/library on an H100, see docs/results. To try others
// define WARPFOLD_TUNING_CONVOLVE as "256, 2, 128, 1, 4, 7, 9, 32, 128, 16", in the order of the fields.
#pragma once

#ifndef WARPFOLD_TUNING_CONVOLVE
#define WARPFOLD_TUNING_CONVOLVE 256, 2, 128, 1, 4, 7, 9, 32, 128, 16
#endif

namespace warpfold::tuning {

struct convolve {
    int run_threads;   // of a block, for short masks of one dimension,
    int run_vectors;   // and how many times four results a thread has
    int slide_threads; // of a block, for columns of images that slide through registers,
    int slide_waves;   // and how many times as many blocks there are as fit the device at once
    int slide_stages;  // how many rows of samples a warp has in shared memory or on their way, a power of two
    int slide_small;   // up to which width of a mask,
    int slide_small_separable; // or of a separable one,
    int slide_rows;    // a strip has so many rows at most
    int line_threads;  // of a block, for long masks of one dimension,
    int line_columns;  // and how many results a thread has, 8 or 16, with as many values of the mask at a time
};

inline constexpr convolve convolve_default{WARPFOLD_TUNING_CONVOLVE};

} // namespace warpfold::tuning
