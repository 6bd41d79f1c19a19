// SPDX-License-Identifier: MIT
// Histograms by NumPy's rules.
#include <cmath>
#include <cstdint>

#include "python/src/calls.hpp"
#include "python/src/elements.hpp"
#include "warpfold/histogram.hpp"

namespace warpfold::python {

namespace {

// The last edge belongs to the last bin. NaN has no bin. The bin that x would have if all were of one width is tried first.
template <class E>
struct between {
    between(const E* edges_, std::uint64_t bins_) : edges(edges_), bins(bins_) {
        const double width = static_cast<double>(edges[bins]) - static_cast<double>(edges[0]);
        per_width = width > 0 && std::isfinite(width) ? static_cast<double>(bins) / width : 0;
    }

    std::int64_t operator()(E x) const {
        if (!(x >= edges[0] && x <= edges[bins])) {
            return no_bin;
        }
        const double place = (static_cast<double>(x) - static_cast<double>(edges[0])) * per_width;
        const std::uint64_t guess = place < static_cast<double>(bins) ? static_cast<std::uint64_t>(place) : bins - 1;
        if (x >= edges[guess] && x < edges[guess + 1]) {
            return static_cast<std::int64_t>(guess);
        }
        std::uint64_t low = 0, high = bins; // edges[low] <= x < edges[high], or high == bins
        while (high - low > 1) {
            const std::uint64_t middle = low + (high - low) / 2;
            (x < edges[middle] ? high : low) = middle;
        }
        return static_cast<std::int64_t>(low);
    }

    const E* edges;
    std::uint64_t bins;
    double per_width;
};

struct by_value {
    std::int64_t operator()(std::int64_t x) const { return x; }
};

template <class S, class F>
void fill(const elements<S>& samples, std::uint64_t n, const F& bin_of, const array* weights, const array& sums) {
    const function_bins bins(bin_of, sums.size());
    if (weights == nullptr) {
        warpfold::histogram(host{}, samples, n,
                            reinterpret_cast<std::uint64_t*>(sums.required<std::int64_t>(element::int64)), bins);
    } else if (sums.type == element::int64) {
        weighted_histogram(host{}, samples, elements<std::int64_t>(*weights), n,
                           sums.required<std::int64_t>(element::int64), bins);
    } else {
        weighted_histogram(host{}, samples, elements<double>(*weights), n, sums.required<double>(element::float64),
                           bins);
    }
}

template <class E>
void fill_between(const array& samples, const array& edges, const array* weights, const array& sums) {
    fill(elements<E>(samples), samples.size(), between<E>(edges.required<const E>(edges.type), sums.size()), weights,
         sums);
}

} // namespace

void histogram(const array& samples, const array& edges, const array* weights, const array& sums) {
    switch (edges.type) {
    case element::int64: return fill_between<std::int64_t>(samples, edges, weights, sums);
    case element::uint64: return fill_between<std::uint64_t>(samples, edges, weights, sums);
    default: return fill_between<double>(samples, edges, weights, sums);
    }
}

void count_values(const array& samples, const array* weights, const array& sums) {
    fill(elements<std::int64_t>(samples), samples.size(), by_value{}, weights, sums);
}

} // namespace warpfold::python
