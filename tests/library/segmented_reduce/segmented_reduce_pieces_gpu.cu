// SPDX-License-Identifier: MIT
// Segmented reductions of which none is left to one block as a whole: blocks have pieces of segments.
#include "tests/library/policy/policy_target.hpp"
#include "warpfold/segmented_reduce.cuh"

namespace {

constexpr warpfold::tuning::segmented_reduce_kernels kernels{.max_block_threads = 64,
                                                             .resident_blocks = 1,
                                                             .warp_min_share = 5000,
                                                             .vector_loads_in_flight = 4,
                                                             .equal_vector_loads_in_flight = 2,
                                                             .team_max_rounds = 1,
                                                             .few_range_max_bytes = 256,
                                                             .long_segment_min_bytes = 2000};
constexpr warpfold::tuning::segmented_reduce_policy<kernels> policy{
    .few_max_segments = 8192, .short_teams_max_bytes = 64, .teams_max_bytes = 4096};
using gpu = warpfold::tests::gpu_with<policy>; // the target of the calls in the file below

} // namespace

#include "tests/library/segmented_reduce/segmented_reduce_gpu.cu"
