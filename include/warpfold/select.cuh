// SPDX-License-Identifier: MIT
// Compactions on a GPU and on the host's cores: for nvcc. The calls are described in select.hpp.
#pragma once

#include "warpfold/gpu/compact/compact.cuh"
#include "warpfold/select.hpp"

namespace warpfold {

// Bytes of a workspace that is enough for any compaction of up to n elements of type T into elements of type U on the
// current device, with the policy of `on`: about 0.1 % of the memory that they take, or 68 KiB.
template <class T, class U = T, detail::gpu_target On = gpu>
[[nodiscard]] std::size_t select_workspace(std::uint64_t n, const On& on = {}) {
    using Task = detail::selection<const T*, U*, U*, detail::element_test<detail::is_true>>;
    return detail::compact_workspace_bytes<Task>(detail::policy_of<tuning::compact_policy<>>(on), n);
}

} // namespace warpfold
