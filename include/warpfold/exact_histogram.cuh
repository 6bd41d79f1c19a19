// SPDX-License-Identifier: MIT
// Exact weighted histograms on a GPU and on the host, for nvcc. The call is described in exact_histogram.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "warpfold/exact_histogram.hpp"
#include "warpfold/exact_sum.cuh"
#include "warpfold/gpu/histogram/exact_histogram.cuh"
#include "warpfold/histogram.cuh"

namespace warpfold {

// Bytes of a workspace for sums of type Sum in up to `bins` bins.
template <class Sum>
[[nodiscard]] constexpr std::size_t exact_histogram_workspace(std::uint64_t bins) {
    return static_cast<std::size_t>(bins * sizeof(detail::exact_limbs<detail::computed_t<Sum>>));
}

} // namespace warpfold
