// SPDX-License-Identifier: MIT
// Edges of bins of equal width on a logarithmic scale.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "warpfold/bins.hpp"
#include "warpfold/error.hpp"

namespace warpfold {

// bins + 1 edges from `lower` to `upper` for edge_bins, edge k at lower * (upper / lower)^(k / bins): bins of equal width
// on a logarithmic scale. The first and the last edge are exact, the relative error of the others is below 2^-40 for
// double, 2^-23 for float, unless they are subnormal. Throws invalid_argument unless 0 < lower < upper, both are finite,
// and `bins` is from 1 to 2^30.
template <class T>
requires std::is_floating_point_v<T>
[[nodiscard]] std::vector<T> log_edges(T lower, T upper, std::uint64_t bins) {
    if (!(0 < lower && lower < upper && std::isfinite(upper))) {
        throw invalid_argument("warpfold: log_edges: the bounds are not 0 < lower < upper, or not finite");
    }
    const double least = std::log2(static_cast<double>(lower)), most = std::log2(static_cast<double>(upper));
    std::vector<T> edges(detail::checked_bins(bins, "log_edges") + std::size_t{1}, upper);
    edges[0] = lower;
    for (std::uint64_t k = 1; k < bins; ++k) {
        const double part = static_cast<double>(k) / static_cast<double>(bins);
        const auto edge = static_cast<T>(std::exp2(least + part * (most - least)));
        edges[k] = std::clamp(edge, edges[k - 1], upper);
    }
    return edges;
}

} // namespace warpfold
