// SPDX-License-Identifier: MIT
// Reductions and scans whose number of elements is in the target's memory, for the host's test and the GPU's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/library/cases.hpp"

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

} // namespace warpfold::tests
