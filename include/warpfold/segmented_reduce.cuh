// SPDX-License-Identifier: MIT
// Segmented reductions on a GPU and on the host's cores: for nvcc. The call is described in segmented_reduce.hpp.
#pragma once

#include "warpfold/gpu/segmented_reduce.cuh"
#include "warpfold/segmented_reduce.hpp"

namespace warpfold {

// Bytes of a workspace that a segmented reduction needs on the current device whose values have `bytes` bytes.
[[nodiscard]] inline std::size_t segmented_reduce_workspace(std::size_t bytes) {
    const std::size_t blocks = std::size_t{detail::device_attribute(cudaDevAttrMultiProcessorCount)} *
                               detail::segmented_tuning.blocks_per_multiprocessor;
    return blocks * ((bytes + 3) / 4 * 8) + 16;
}

} // namespace warpfold
