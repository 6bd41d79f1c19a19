// SPDX-License-Identifier: MIT
// Segmented reductions on a GPU and on the host, for nvcc. The call is described in segmented_reduce.hpp.
#pragma once

#include <algorithm>
#include <cstddef>

#include "warpfold/gpu/segmented_reduce/segmented_reduce.cuh"
#include "warpfold/segmented_reduce.hpp"

namespace warpfold {

// Bytes of a workspace for segmented reductions on the current device with values of `bytes` bytes, with the policy of
// `on`. Includes what operations without an identity add to a value.
template <detail::gpu_target On = gpu>
[[nodiscard]] std::size_t segmented_reduce_workspace(std::size_t bytes, const On& = {}) {
    constexpr auto kernels = detail::policy_t<tuning::segmented_reduce_policy<>, On>::kernels;
    const std::size_t multiprocessors = detail::device_attribute<cudaDevAttrMultiProcessorCount>();
    const std::size_t blocks = multiprocessors * std::max(kernels.resident_blocks, kernels.few_resident_blocks);
    // Small values may have smaller blocks, and more of them.
    constexpr std::size_t smallest = 128;
    const std::size_t more = bytes <= 16 ? (kernels.max_block_threads + smallest - 1) / smallest : 1;
    return blocks * more * ((bytes + std::max<std::size_t>(bytes, 16) + 3) / 4 * 8) + 16;
}

} // namespace warpfold
