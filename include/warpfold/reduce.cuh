// SPDX-License-Identifier: MIT
// Reductions on a GPU and on the host, for nvcc. The calls are described in reduce.hpp.
#pragma once

#include <algorithm>
#include <cstddef>

#include "warpfold/gpu/reduce/reduce.cuh"
#include "warpfold/reduce.hpp"

namespace warpfold {

// Bytes of a workspace for every reduction on the current device with values of up to `bytes` bytes and the policy of
// `on`. Includes what operations without an identity, arg_min and arg_max add to a value.
template <detail::gpu_target On = gpu>
[[nodiscard]] std::size_t reduce_workspace(std::size_t bytes, const On& on = {}) {
    const std::size_t blocks = std::size_t{detail::device_attribute<cudaDevAttrMultiProcessorCount>()} *
                               detail::policy_of<tuning::reduce_policy<>>(on).blocks_per_multiprocessor;
    return (blocks + 1) * ((bytes + std::max<std::size_t>(bytes, 16) + 3) / 4 * 8);
}

} // namespace warpfold
