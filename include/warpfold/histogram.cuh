// SPDX-License-Identifier: MIT
// Histograms on a GPU and on the host, for nvcc. The calls are described in histogram.hpp.
#pragma once

#include "warpfold/gpu/histogram/histogram.cuh"
#include "warpfold/histogram.hpp"

namespace warpfold {

// Bytes of a workspace for any histogram.
[[nodiscard]] inline std::size_t histogram_workspace() { return sizeof(detail::histogram_control); }

// The same with room for the fastest method for up to n samples and `bins` bins on the current device: 2 bytes for each of
// up to 2^27 samples where there are very many bins. With more than the other method needs, a call clears what it used.
[[nodiscard]] inline std::size_t histogram_workspace(std::uint64_t n, std::uint64_t bins) {
    const detail::call_device scope;
    const auto partitions = detail::plan_partitions(detail::histogram_facts::of_device(), n, bins,
                                                    tuning::histogram_policy<>::of(device_compute_capability()));
    return partitions ? detail::partition_bytes(*partitions, n) : histogram_workspace();
}

} // namespace warpfold
