// SPDX-License-Identifier: MIT
// Part of policy_gpu.cu's program: sums in one block.
#include "tests/library/policy/policy_other.hpp"

#include "warpfold/reduce.cuh"

namespace warpfold::tests {

namespace {

constexpr tuning::reduce_kernels kernels{.max_block_threads = 512, .resident_blocks = 1};
constexpr tuning::reduce_policy<kernels> one_block{.one_block_max_vectors = 1u << 20,
                                                   .one_block_max_elements = 1u << 20};

} // namespace

float sum_in_one_block(const float* data, std::uint64_t n) { return reduce(gpu{}.with(one_block), data, n); }

unsigned blocks_of_sum(std::uint64_t n) { return detail::shape_of_reduce<float, float>(one_block, n, 1).blocks; }

} // namespace warpfold::tests
