// SPDX-License-Identifier: MIT
// Reductions and scans by key on a GPU and on the host's cores: for nvcc. The calls are described in by_key.hpp.
#pragma once

#include <cstdint>

#include "warpfold/by_key.hpp"
#include "warpfold/gpu/compact/compact.cuh"
#include "warpfold/gpu/compact/key_segments.cuh"
#include "warpfold/scan.cuh"

namespace warpfold {

// Bytes of a workspace that is enough for any reduction by key, by `Op`, of up to n keys of type Key and values of type T,
// into elements of type U, on the current device, with the policy of `on`: about 0.3 % of the memory that they take, or 130 to
// 330 KiB. Scans by key take scan_workspace() bytes.
template <class Key, class T, class Op = sum, class U = T, detail::gpu_target On = gpu>
[[nodiscard]] std::size_t reduce_by_key_workspace(std::uint64_t n, const On& on = {}) {
    using Task = detail::keyed_fold<accumulator_t<Op, T>, const Key*, const T*, Key*, U*, Op, equals>;
    return detail::compact_workspace_bytes<Task>(detail::policy_of<tuning::compact_policy<>>(on), n);
}
// The same for run_length_encode, with elements of type T and lengths of type Length.
template <class T, class Length = std::uint32_t, detail::gpu_target On = gpu>
[[nodiscard]] std::size_t run_length_workspace(std::uint64_t n, const On& on = {}) {
    using Task = detail::keyed_fold<std::uint64_t, const T*, detail::all_ones, T*, Length*, sum, equals>;
    return detail::compact_workspace_bytes<Task>(detail::policy_of<tuning::compact_policy<>>(on), n);
}

} // namespace warpfold
