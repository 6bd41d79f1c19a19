// SPDX-License-Identifier: MIT
// Exact sums on a GPU and on the host, for nvcc. The calls are described in exact_sum.hpp.
#pragma once

#include <cstddef>

#include <vector_types.h>

#include "warpfold/detail/exact/exact_complex.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/gpu/exact_sum/exact_sum.cuh"
#include "warpfold/gpu/exact_sum/finish.cuh"

namespace warpfold {

template <>
struct detail::with_parts<float2, double> {
    using type = double2;
};

// Bytes of a workspace for exact_sum and exact_dot of any type on the current device, with the policy of `on`.
template <detail::gpu_target On = gpu>
[[nodiscard]] std::size_t exact_sum_workspace(const On& on = {}) {
    const unsigned blocks = detail::device_attribute<cudaDevAttrMultiProcessorCount>() *
                            detail::policy_of<tuning::exact_sum_policy<>>(on).blocks_per_multiprocessor;
    return detail::exact_memory<double, 2>::bytes(blocks) + 2 * sizeof(double);
}

} // namespace warpfold
