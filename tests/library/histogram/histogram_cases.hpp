// SPDX-License-Identifier: MIT
// What the tests of histograms on the host and on the GPU share: samples, and counts by a slow and plain way.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "warpfold/bins.hpp"

namespace warpfold::tests {

__extension__ typedef __int128 big;

// The bin of an integer by a division of 128 bits; -1: outside. `last` is the last value that has a bin.
inline std::int64_t even_bin(big x, big lower, big last, std::uint64_t bins) {
    if (x < lower || x > last) {
        return -1;
    }
    // (x - lower) * bins has up to 95 bits, which fit.
    return static_cast<std::int64_t>((x - lower) * static_cast<big>(bins) / (last - lower + 1));
}

template <class T>
std::vector<std::uint64_t> counted(const std::vector<T>& samples, big lower, big last, std::uint64_t bins) {
    std::vector<std::uint64_t> counts(bins);
    for (const T x : samples) {
        const std::int64_t bin = even_bin(static_cast<big>(x), lower, last, bins);
        if (bin >= 0) {
            ++counts[static_cast<std::size_t>(bin)];
        }
    }
    return counts;
}

// Counts by edges, one comparison after the other.
template <class T, class E>
std::vector<std::uint64_t> counted_between(const std::vector<T>& samples, const std::vector<E>& edges) {
    std::vector<std::uint64_t> counts(edges.size() - 1);
    for (const T x : samples) {
        for (std::size_t k = 0; k + 1 < edges.size(); ++k) {
            if (edges[k] <= x && x < edges[k + 1]) {
                ++counts[k];
                break;
            }
        }
    }
    return counts;
}

// Numbers of a floating-point type around [-10, 10), with NaN, infinities and zeros of both signs among them.
template <class T>
std::vector<T> odd_numbers(std::uint64_t n, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<T> data(n);
    for (T& one : data) {
        switch (random() % 16) {
        case 0: one = std::numeric_limits<T>::quiet_NaN(); break;
        case 1: one = std::numeric_limits<T>::infinity(); break;
        case 2: one = -std::numeric_limits<T>::infinity(); break;
        case 3: one = random() % 2 == 0 ? T{0} : -T{0}; break;
        case 4: one = random() % 2 == 0 ? T{10} : T{-10}; break;
        default: one = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-53 * 24 - 12); break;
        }
    }
    return data;
}

// A function of a sample, also one that drops some.
struct digit_sum {
    template <class T>
    WARPFOLD_HD int operator()(const T& x) const {
        int digits = 0;
        for (auto rest = static_cast<std::int64_t>(x); rest > 0; rest /= 10) {
            digits += static_cast<int>(rest % 10);
        }
        return x < 0 ? -1 : digits; // negative ones have none; sums beyond the last bin are dropped
    }
};

} // namespace warpfold::tests
