// SPDX-License-Identifier: MIT
// Calls along axes on a GPU and on the host, for nvcc. The calls are described in along_axis.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "warpfold/along_axis.hpp"
#include "warpfold/gpu/along_axis/along_axis.cuh"
#include "warpfold/gpu/along_axis/scan.cuh"
#include "warpfold/scan.cuh"

namespace warpfold {

// Bytes of a workspace for reductions along axes on the current device with values of `bytes` bytes, with the policy of
// `on`. Includes what operations without an identity add to a value.
template <detail::gpu_target On = gpu>
[[nodiscard]] std::size_t along_axis_workspace(std::size_t bytes, const On& on = {}) {
    const auto policy = detail::policy_of<tuning::along_axis_policy<>>(on);
    const std::size_t blocks = detail::multiprocessors() * std::max(policy.blocks_per_multiprocessor, 4u);
    const std::size_t value = 2 * (bytes + std::max<std::size_t>(bytes, 16)); // with flags
    // As many shares as blocks, of 32 times the columns of a thread, or of a quarter of the block's threads.
    const std::size_t shares = std::max({policy.kernels.block_threads / 4, policy.kernels.few_block_threads / 4, 32u});
    return blocks * std::max(shares * value, 32 * std::size_t{128}) + 256;
}

// Bytes of a workspace for scans along an axis of up to n elements of type T, by `Op`, into elements of type U.
template <class T, class U = T, class Op = sum, detail::gpu_target On = gpu>
[[nodiscard]] std::size_t scan_along_workspace(std::uint64_t n, const On& on = {}) {
    using A = typename detail::scan_value<Op, T, U>::type;
    using present = std::conditional_t<detail::has_identity<Op, A>, A, detail::optional_value<A>>;
    return std::max({along_axis_workspace(sizeof(A), on), scan_workspace<T, U, Op>(n, on),
                     detail::columns_workspace_bytes<present, T, U>(n, detail::short_columns / 2)});
}

} // namespace warpfold
