// SPDX-License-Identifier: MIT
// Data that steps share.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace warpfold::ladder::engine {

// n whole numbers from the seed, between -most and most: as floats they and their short sums are exact.
template <class T = std::int32_t>
[[nodiscard]] std::vector<T> numbers(std::uint64_t n, std::uint64_t seed, std::int32_t most = 1000) {
    std::mt19937_64 random(seed);
    std::vector<T> values(n);
    const auto kinds = 2 * static_cast<std::uint64_t>(most) + 1;
    for (T& value : values) {
        value = static_cast<T>(static_cast<std::int32_t>(random() % kinds) - most);
    }
    return values;
}

} // namespace warpfold::ladder::engine
