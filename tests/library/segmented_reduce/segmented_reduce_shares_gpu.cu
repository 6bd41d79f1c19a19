// SPDX-License-Identifier: MIT
// Segmented reductions with large shares for few warps, however few segments there are: long stretches without an end
// and segments that go through many warps and blocks, in little time. Lanes fold segments of elements of up to 4 bytes even
// where many are long.
#include "tests/library/policy/policy_target.hpp"
#include "warpfold/segmented_reduce.cuh"

namespace {

constexpr warpfold::tuning::segmented_reduce_kernels kernels{.max_block_threads = 64,
                                                             .resident_blocks = 1,
                                                             .lane_segment_max = 1000,
                                                             .lane_sample_max = 1u << 30,
                                                             .warp_min_share = 5000,
                                                             .vector_loads_in_flight = 4,
                                                             .equal_vector_loads_in_flight = 2,
                                                             .team_max_rounds = 1,
                                                             .few_range_max_bytes = 256,
                                                             .long_segment_min_bytes = 16000};
constexpr warpfold::tuning::segmented_reduce_policy<kernels> policy{
    .few_max_segments = 0, .short_teams_max_bytes = 64, .teams_max_bytes = 4096};
using gpu = warpfold::tests::gpu_with<policy>; // the target of the calls in the file below

} // namespace

#include "tests/library/segmented_reduce/segmented_reduce_gpu.cu"
