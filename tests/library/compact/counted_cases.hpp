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

} // namespace warpfold::tests
