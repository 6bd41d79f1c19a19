// SPDX-License-Identifier: MIT
// Scans on a GPU and on the host's cores: for nvcc. The calls are described in scan.hpp.
#pragma once

#include "warpfold/gpu/scan/scan.cuh"
#include "warpfold/scan.hpp"

namespace warpfold {

// Bytes of a workspace that is enough for any scan of up to n elements of type T, by `Op`, into elements of type U on
// the current device, with the policy of `on`: less than 0.11 % of the memory that they take, and less than 1 MiB for any n up to 2^29.
template <class T, class U = T, class Op = sum, detail::gpu_target On = gpu>
[[nodiscard]] std::size_t scan_workspace(std::uint64_t n, const On& on = {}) {
    using A = typename detail::scan_value<Op, T, U>::type;
    return detail::scan_workspace_bytes<T, U, A>(detail::policy_of<tuning::scan_policy<>>(on), n);
}

} // namespace warpfold
