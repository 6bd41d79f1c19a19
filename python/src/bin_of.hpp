// SPDX-License-Identifier: MIT
// Which bin a sample is in, by NumPy's rules: on the host and on a GPU.
#pragma once

#include <cstdint>

#include "python/src/array.hpp"
#include "warpfold/detail/portable.hpp"
#include "warpfold/histogram.hpp"

namespace warpfold::python {

// work(E{}) with the type that samples and edges are compared in.
template <class Work>
void with_edge_type(const array& edges, const Work& work) {
    switch (edges.type) {
    case element::int64: return work(std::int64_t{});
    case element::uint64: return work(std::uint64_t{});
    default: return work(double{});
    }
}

// Between the edges, of which there is one more than bins. The last edge belongs to the last bin. NaN has no bin. The bin that
// x would have if all were `per_width` to a unit is tried first.
template <class E>
WARPFOLD_HD std::int64_t bin_between(const E* edges, std::uint64_t bins, double per_width, E x) {
    if (!(x >= edges[0] && x <= edges[bins])) {
        return no_bin;
    }
    const double place = (static_cast<double>(x) - static_cast<double>(edges[0])) * per_width;
    // False for NaN, of bins without width.
    const std::uint64_t guess = place < static_cast<double>(bins) ? static_cast<std::uint64_t>(place) : bins - 1;
    if (x >= edges[guess] && x < edges[guess + 1]) {
        return static_cast<std::int64_t>(guess);
    }
    std::uint64_t low = 0;               // edges[low] <= x, and x < edges[low + bins] or that is the last edge
    for (; bins > 1; bins -= bins / 2) { // without branches, which samples in no order mispredict
        low += x >= edges[low + bins / 2] ? bins / 2 : 0;
    }
    return static_cast<std::int64_t>(low);
}

// Whether an edge is before the place of x: it is less, or, unless `less`, less or equal. All edges are before NaN.
template <class E>
WARPFOLD_HD bool is_before(E edge, E x, bool less) {
    return less ? !(edge >= x) : !(edge > x);
}

// The number of `count` sorted edges before the place of x. No edge is NaN.
template <class E>
WARPFOLD_HD std::int64_t rank_between(const E* edges, std::uint64_t count, bool less, E x) {
    if (count == 0) {
        return 0;
    }
    std::uint64_t low = 0; // edges before `low` are before the place, those from low + count on are not
    for (; count > 1; count -= count / 2) { // without branches, which samples in no order mispredict
        low += is_before(edges[low + count / 2 - 1], x, less) ? count / 2 : 0;
    }
    return static_cast<std::int64_t>(low + (is_before(edges[low], x, less) ? 1 : 0));
}

// The place of a point in a grid with one more coordinate, in `bin` of `bins`; -1 for none.
WARPFOLD_HD inline std::int64_t place_in_grid(std::int64_t place, std::int64_t bin, std::int64_t bins) {
    return place < 0 || bin < 0 ? -1 : place * bins + bin;
}

struct by_value {
    template <class S>
    WARPFOLD_HD S operator()(S x) const {
        return x;
    }
};

} // namespace warpfold::python
