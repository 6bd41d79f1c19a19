// SPDX-License-Identifier: MIT
// Convolution on a GPU and on the host's cores: for nvcc. The calls are described in convolve.hpp.
//
// On a GPU a call is one launch where the mask has at most 3,872 bytes as the sums' type; it travels with the launch.
// A larger mask is put into the call's memory first, and separable ones of sizes that no kernel is made for need room
// for the rows' sums: convolve_workspace and convolve_separable_workspace say how much.
#pragma once

#include "warpfold/convolve.hpp"
#include "warpfold/gpu/convolve/convolve.cuh"

namespace warpfold {

// Bytes of a workspace that a call needs for samples of T, results of O and a mask of kx times ky.
template <class T, class O>
[[nodiscard]] std::size_t convolve_workspace(std::uint64_t kx, std::uint64_t ky = 1) {
    using A = detail::convolve_sum_t<T, O>;
    return detail::mask_bytes<A>(static_cast<std::int64_t>(kx * ky));
}

// The same for separable masks, and `count` images of width times height samples.
template <class T, class O>
[[nodiscard]] std::size_t convolve_separable_workspace(std::uint64_t width, std::uint64_t height, std::uint64_t count,
                                                       std::uint64_t kx, std::uint64_t ky,
                                                       const convolve_options& how = {}) {
    using A = detail::convolve_sum_t<T, O>;
    return detail::mask_bytes<A>(static_cast<std::int64_t>(kx)) + detail::mask_bytes<A>(static_cast<std::int64_t>(ky)) +
           static_cast<std::size_t>(convolve_outputs(width, kx, how.which) * height * count * sizeof(A));
}

} // namespace warpfold
