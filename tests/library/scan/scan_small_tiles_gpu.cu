// SPDX-License-Identifier: MIT
// The tests of scan_gpu.cu with tiles so small that there are several districts of them.
#include "tests/library/policy/policy_target.hpp"
#include "warpfold/scan.cuh"

namespace {

constexpr warpfold::tuning::scan_kernels kernels{.short_rows = 1,
                                                 .short_tall_rows = 2,
                                                 .short_max_block_threads = 128,
                                                 .short_private_max_tiles = 4,
                                                 .short_resident_max_tiles = 5,
                                                 .long_block_threads = 128,
                                                 .long_runs_per_thread = 4,
                                                 .long_stages = 4,
                                                 .long_resident_blocks = 1,
                                                 .long_tiles_ahead = 2,
                                                 .general_block_threads = 64,
                                                 .general_max_bytes_per_thread = 32,
                                                 .general_resident_blocks = 1};
constexpr warpfold::tuning::scan_policy<kernels> small_tiles{.one_block_max_threads = 64,
                                                             .small_block_threads = 32,
                                                             .small_block_max_tiles = 3,
                                                             .medium_block_threads = 64,
                                                             .medium_block_max_tiles = 5,
                                                             .tall_max_tiles = 9,
                                                             .general_one_block_max_rows = 1,
                                                             .general_blocks_before_growth = 1};
using gpu = warpfold::tests::gpu_with<small_tiles>; // the target of the calls in the file below

} // namespace

#include "tests/library/scan/scan_gpu.cu"
