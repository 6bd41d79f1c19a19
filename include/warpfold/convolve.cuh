// SPDX-License-Identifier: MIT
// Convolution on a GPU and on the host, for nvcc. The calls are described in convolve.hpp.
//
// On a GPU most calls are one launch, with the mask as a kernel parameter. A mask of more than 3,872 bytes is first
// copied to the workspace, by one small kernel per 3,872 bytes. Separable masks of sizes without a kernel of their own
// take two launches, with the sums of the rows in the workspace.
#pragma once

#include "warpfold/convolve.hpp"
#include "warpfold/gpu/convolve/convolve.cuh"

namespace warpfold {

// Bytes of a workspace for samples of T, results of O and a mask of kx * ky values.
template <class T, class O>
[[nodiscard]] std::size_t convolve_workspace(std::uint64_t kx, std::uint64_t ky = 1) {
    using A = detail::convolve_sum_t<T, O>;
    return detail::mask_bytes<A>(static_cast<std::int64_t>(kx * ky));
}

// The same for separable masks and `count` images of width * height samples.
template <class T, class O>
[[nodiscard]] std::size_t convolve_separable_workspace(std::uint64_t width, std::uint64_t height, std::uint64_t count,
                                                       std::uint64_t kx, std::uint64_t ky,
                                                       const convolve_options& how = {}) {
    using A = detail::convolve_sum_t<T, O>;
    return detail::mask_bytes<A>(static_cast<std::int64_t>(kx)) + detail::mask_bytes<A>(static_cast<std::int64_t>(ky)) +
           static_cast<std::size_t>(convolve_outputs(width, kx, how.which) * height * count * sizeof(A));
}

} // namespace warpfold
