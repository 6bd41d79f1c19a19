// SPDX-License-Identifier: MIT
// Reductions and scans whose number of elements is in the target's memory, for the host's test and the GPU's.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include "tests/library/cases.hpp"
#include "warpfold/exact_moments.hpp"
#include "warpfold/exact_sum.hpp"

namespace warpfold::tests {

// Numbers of elements, of which at most `counted_most` are taken.
inline constexpr std::uint64_t counted_most = 40003;
inline std::vector<std::uint32_t> counted_numbers() {
    return {0, 1, 31, 127, 128, 129, 4099, 8191, 20000, 40002, 40003, 40004, 1u << 31};
}

inline std::vector<float> counted_data(std::uint64_t n) {
    std::vector<float> data = small_numbers<float>(n, 3);
    for (std::uint64_t k = 0; k < n; ++k) {
        data[k] = k % 4001 == 4000 ? -8.0f : data[k];
    }
    return data;
}

// Runs of 1 to 50 equal keys.
inline std::vector<int> counted_keys(std::uint64_t n) {
    std::vector<int> keys(n);
    int key = 0;
    for (std::uint64_t k = 0, end = 1; k < n; ++k) {
        if (k == end) {
            key = (key + 7) % 397;
            end += 1 + end * 31 % 50;
        }
        keys[k] = key;
    }
    return keys;
}

// expect(data, call) for each kind of exact sum that has more than one launch: call(on, in, n) returns the result,
// call(on, in, n, out) writes it. Some numbers are beyond the fixed window.
template <class Expect>
void each_counted_exact_sum(const Expect& expect) {
    std::vector<float> reals = counted_data(counted_most);
    std::vector<half> halves;
    std::vector<std::complex<float>> complexes;
    for (std::uint64_t k = 0; k < reals.size(); ++k) {
        halves.push_back(half(reals[k]));
        reals[k] = k % 1000 == 0 ? 1e18f : reals[k];
        complexes.emplace_back(reals[k], static_cast<float>(k % 7));
    }
    const auto mean = [](const auto& on, auto in, auto n, auto... out) { return exact_mean(on, in, n, out...); };
    const auto variance = [](const auto& on, auto in, auto n, auto... out) {
        return exact_variance(on, in, n, out..., ddof{1});
    };
    const auto norm = [](const auto& on, auto in, auto n, auto... out) { return exact_norm(on, in, n, out...); };
    const auto sum = [](const auto& on, auto in, auto n, auto... out) { return exact_sum(on, in, n, out...); };
    expect(reals, mean);
    expect(reals, variance);
    expect(reals, norm);
    expect(halves, sum);
    expect(halves, mean);
    expect(halves, variance);
    expect(halves, norm);
    expect(halves, [](const auto& on, auto in, auto n, auto... out) { return exact_dot(on, in, in, n, out...); });
    expect(complexes, sum);
    expect(complexes, mean);
    expect(complexes, variance);
    expect(complexes, norm);
    expect(complexes, [](const auto& on, auto in, auto n, auto... out) { return exact_dot(on, in, in, n, out...); });
    expect(complexes, [](const auto& on, auto in, auto n, auto... out) { return exact_vdot(on, in, in, n, out...); });
}

} // namespace warpfold::tests
