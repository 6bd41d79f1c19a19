// SPDX-License-Identifier: MIT
// Robust statistics of timings: quantiles, which a few outliers do not change.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace warpfold::measure {

// The q-quantile (0 <= q <= 1) of the samples, interpolated between neighbours (type 7 of Hyndman and Fan, 1996).
// Throws std::invalid_argument if there are no samples or q is out of range.
[[nodiscard]] inline double quantile(std::vector<double> samples, double q) {
    if (samples.empty()) {
        throw std::invalid_argument("quantile of no samples");
    }
    if (!(q >= 0 && q <= 1)) {
        throw std::invalid_argument("quantile outside 0 to 1");
    }
    std::sort(samples.begin(), samples.end());
    const double place = q * static_cast<double>(samples.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(place));
    const auto above = std::min(below + 1, samples.size() - 1);
    const double part = place - static_cast<double>(below);
    return samples[below] + part * (samples[above] - samples[below]);
}

struct summary {
    double median = 0;
    double low = 0;  // 5th percentile
    double high = 0; // 95th percentile
    std::size_t samples = 0;
};

[[nodiscard]] inline summary summarize(const std::vector<double>& samples) {
    return {quantile(samples, 0.5), quantile(samples, 0.05), quantile(samples, 0.95), samples.size()};
}

// Bandwidth in units of 1e9 bytes per second.
[[nodiscard]] inline double gigabytes_per_second(double bytes, double seconds) { return bytes / seconds * 1e-9; }

} // namespace warpfold::measure
