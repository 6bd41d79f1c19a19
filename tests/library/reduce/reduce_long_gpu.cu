// SPDX-License-Identifier: MIT
// The tests of reduce_gpu.cu with a policy by which every array is a long one, in blocks of 64 threads.
#include "warpfold/reduce.cuh"

#include "tests/library/policy/policy_target.hpp"

namespace {

constexpr warpfold::tuning::reduce_kernels kernels{.max_block_threads = 64, .resident_blocks = 1};
constexpr warpfold::tuning::reduce_policy<kernels> all_long{.one_block_max_vectors = 1,
                                                            .one_block_max_elements = 1,
                                                            .one_block_vectors_per_thread = 1,
                                                            .short_block_vectors_per_thread = 1,
                                                            .long_min_l2_sixteenths = 0,
                                                            .longest_min_bytes = 65536};
using gpu = warpfold::tests::gpu_with<all_long>; // the target of the calls in the file below

} // namespace

#include "tests/library/reduce/reduce_gpu.cu"
