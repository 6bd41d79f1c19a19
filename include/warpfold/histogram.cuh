// SPDX-License-Identifier: MIT
// Histograms on a GPU and on the host, for nvcc. The calls are described in histogram.hpp.
#pragma once

#include "warpfold/gpu/histogram/histogram.cuh"
#include "warpfold/histogram.hpp"

namespace warpfold {

// Bytes of a workspace for any histogram.
[[nodiscard]] inline std::size_t histogram_workspace() { return sizeof(detail::histogram_control); }

} // namespace warpfold
