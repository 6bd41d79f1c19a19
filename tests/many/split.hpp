// SPDX-License-Identifier: MIT
// How tests split an array over ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace warpfold::tests {

// Where the parts begin, and n: ranks + 1 numbers. Empty parts are frequent.
inline std::vector<std::uint64_t> random_split(std::uint64_t n, int ranks, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<std::uint64_t> begin(static_cast<std::size_t>(ranks) + 1);
    for (std::size_t r = 1; r < begin.size(); ++r) {
        begin[r] = random() % 8 == 0 ? 0 : random() % (n + 1);
    }
    begin.back() = n;
    std::sort(begin.begin(), begin.end());
    return begin;
}

// The part of a rank.
template <class T>
std::vector<T> part_of(const std::vector<T>& whole, const std::vector<std::uint64_t>& split, int rank) {
    const auto r = static_cast<std::size_t>(rank);
    return {whole.begin() + static_cast<std::ptrdiff_t>(split[r]),
            whole.begin() + static_cast<std::ptrdiff_t>(split[r + 1])};
}

} // namespace warpfold::tests
