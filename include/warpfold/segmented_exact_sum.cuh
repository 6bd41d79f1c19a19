// SPDX-License-Identifier: MIT
// Exact sums of segments on a GPU and on the host, for nvcc. The call is described in segmented_exact_sum.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "warpfold/exact_sum.cuh"
#include "warpfold/gpu/exact_sum/segments.cuh"
#include "warpfold/segmented_exact_sum.hpp"

namespace warpfold {

// Bytes of a workspace for segmented_exact_sum of up to `segments` segments of any type on the current device, with the
// policy of `on`.
template <detail::gpu_target On = gpu>
[[nodiscard]] std::size_t segmented_exact_sum_workspace(std::uint64_t segments, const On& on = {}) {
    using memory = detail::exact_memory<double, 1>;
    const std::uint64_t blocks = detail::resident_exact_blocks(detail::policy_of<tuning::exact_sum_policy<>>(on));
    return static_cast<std::size_t>(std::min(segments, blocks / 2) * sizeof(memory) +
                                    blocks * memory::words * sizeof(unsigned long long));
}

} // namespace warpfold
