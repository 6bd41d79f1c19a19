// SPDX-License-Identifier: MIT
// Scans on a GPU and on the host's cores: for nvcc. The calls are described in scan.hpp.
#pragma once

#include "warpfold/gpu/scan.cuh"
#include "warpfold/scan.hpp"

namespace warpfold {

// Bytes of a workspace that is enough for any scan of up to n elements of type T, by `Op`, into elements of type U on the
// current device: less than 0.1 % of the memory that they take, and nothing for a few thousand of them.
template <class T, class U = T, class Op = sum>
[[nodiscard]] std::size_t scan_workspace(std::uint64_t n) {
    using A = typename detail::scan_value<Op, T, U>::type;
    using layout = detail::scan_layout<(sizeof(T) > sizeof(U) ? sizeof(T) : sizeof(U))>;
    return detail::lookback<A, false>::bytes(layout::most_tiles(n));
}

} // namespace warpfold
