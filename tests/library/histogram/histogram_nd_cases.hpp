// SPDX-License-Identifier: MIT
// Samples of several dimensions, and their counts by a plain way.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/library/cases.hpp"
#include "tests/library/histogram/histogram_cases.hpp"
#include "warpfold/histogram.hpp"

namespace warpfold::tests {

// Three coordinates of n samples, some of them outside.
struct nd_samples {
    std::vector<std::int32_t> x;
    std::vector<float> y;
    std::vector<std::int16_t> z;

    explicit nd_samples(std::uint64_t n)
        : x(small_numbers<std::int32_t>(n, 3)), y(odd_numbers<float>(n, 5)), z(any_numbers<std::int16_t>(n, 6)) {}
};

inline const std::vector<float>& nd_edges() {
    static const std::vector<float> edges{-11, -1, 0, 0.5f, 7, 10};
    return edges;
}

// Weights of samples, of both signs.
inline std::vector<std::int16_t> nd_weights(std::uint64_t n) { return small_numbers<std::int16_t>(n, 8); }

// Bins of the three coordinates: 10 even ones of [-5, 5), 5 between edges, 40 by a function. Sums of weights, or counts.
inline std::vector<std::uint64_t> nd_counts(const nd_samples& of, const std::vector<std::int16_t>& weights = {}) {
    std::vector<std::uint64_t> counts(10 * 5 * 40);
    for (std::size_t k = 0; k < of.x.size(); ++k) {
        const std::int64_t x = even_bin(of.x[k], -5, 4, 10);
        const int z = digit_sum{}(of.z[k]);
        for (std::int64_t y = 0; y < 5; ++y) {
            const auto e = static_cast<std::size_t>(y);
            if (x >= 0 && z >= 0 && z < 40 && nd_edges()[e] <= of.y[k] && of.y[k] < nd_edges()[e + 1]) {
                counts[static_cast<std::size_t>((x * 5 + y) * 40 + z)] +=
                    weights.empty() ? 1 : static_cast<std::uint64_t>(std::int64_t{weights[k]});
            }
        }
    }
    return counts;
}

// What range_bins of the samples' own range have to give, by the rule of the header.
template <class T>
std::vector<std::uint64_t> range_counts(const std::vector<T>& samples, T lower, T upper, std::uint32_t bins) {
    std::vector<std::uint64_t> counts(bins);
    const T scale = upper == lower ? T(0) : static_cast<T>(bins) / (upper - lower);
    for (const T x : samples) {
        if (x >= lower && x <= upper) {
            const T at = (x - lower) * scale;
            ++counts[std::min<std::size_t>(static_cast<std::size_t>(at), bins - 1)];
        }
    }
    return counts;
}

} // namespace warpfold::tests
