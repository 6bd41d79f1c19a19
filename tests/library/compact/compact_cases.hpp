// SPDX-License-Identifier: MIT
// Data and references of the tests of compactions and of calls by key, for the host and the GPU.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/library/cases.hpp"

namespace warpfold::tests {

using sixteen_bytes = std::array<std::uint64_t, 2>;

// Elements that differ from their neighbours, as far as their type can.
template <class T>
std::vector<T> numbered(std::uint64_t n) {
    std::vector<T> data(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        std::uint64_t bits[2] = {k * 0x9e3779b97f4a7c15u + 1, k};
        std::memcpy(&data[k], bits, sizeof(T));
    }
    return data;
}

struct flag_case {
    std::string name;
    std::vector<std::uint8_t> flags;
};
inline std::vector<flag_case> flag_cases(std::uint64_t n) {
    std::vector<flag_case> cases(6);
    std::mt19937 random(static_cast<unsigned>(n));
    for (std::uint64_t k = 0; k < n; ++k) {
        cases[0].flags.push_back(1);
        cases[1].flags.push_back(0);
        cases[2].flags.push_back(k % 2 != 0 ? 1 : 0);
        cases[3].flags.push_back(random() % 2 != 0 ? 1 : 0);
        cases[4].flags.push_back(k % 3001 < 1000 ? 1 : 0);
        cases[5].flags.push_back(k + 1 == n ? 1 : 0);
    }
    const char* const names[] = {"all", "none", "alternating", "random", "stretches", "last"};
    for (std::size_t c = 0; c < cases.size(); ++c) {
        cases[c].name = names[c] + (", n = " + std::to_string(n));
    }
    return cases;
}

// Selected and rejected elements.
template <class T>
std::pair<std::vector<T>, std::vector<T>> partitioned(const std::vector<T>& data, const std::vector<std::uint8_t>& by) {
    std::pair<std::vector<T>, std::vector<T>> parts;
    for (std::size_t k = 0; k < data.size(); ++k) {
        (by[k] != 0 ? parts.first : parts.second).push_back(data[k]);
    }
    return parts;
}

struct low_bits_equal {
    template <class T>
    WARPFOLD_HD bool operator()(const T& a, const T& b) const {
        return a % 8 == b % 8;
    }
};
struct equal_x {
    WARPFOLD_HD bool operator()(const triple& a, const triple& b) const { return a.x == b.x; }
};
struct odd_after_index {
    WARPFOLD_HD bool operator()(std::uint32_t x, std::uint64_t index) const { return (x + index / 7) % 2 != 0; }
};

// Keys as small numbers, in runs: single elements, one run, and runs of random lengths up to `longest`.
inline std::vector<std::vector<std::uint32_t>> key_cases(std::uint64_t n, unsigned longest) {
    std::mt19937 random(7);
    std::vector<std::vector<std::uint32_t>> cases(4);
    std::uint32_t key[2] = {};
    std::uint64_t left[2] = {};
    for (std::uint64_t k = 0; k < n; ++k) {
        cases[0].push_back(static_cast<std::uint32_t>(k % 101));
        cases[1].push_back(5);
        for (unsigned c = 0; c < 2; ++c) {
            if (left[c] == 0) {
                left[c] = 1 + random() % (c == 0 ? 5 : longest);
                key[c] = (key[c] + 1 + static_cast<std::uint32_t>(random() % 3)) % 101;
            }
            --left[c];
            cases[2 + c].push_back(key[c]);
        }
    }
    return cases;
}

// The first element of each run of equal neighbours.
template <class T, class Equal>
std::vector<std::uint8_t> heads_of(const std::vector<T>& data, const Equal& equal) {
    std::vector<std::uint8_t> heads(data.size());
    for (std::size_t k = 0; k < data.size(); ++k) {
        heads[k] = k == 0 || !equal(data[k - 1], data[k]);
    }
    return heads;
}

// op over the values of each run, in order.
template <class A, class V, class Op>
std::vector<A> folded_runs(const std::vector<std::uint8_t>& heads, const std::vector<V>& values, const Op& op) {
    std::vector<A> folds;
    for (std::size_t k = 0; k < values.size(); ++k) {
        if (heads[k] != 0) {
            folds.push_back(static_cast<A>(values[k]));
        } else {
            folds.back() = op(folds.back(), static_cast<A>(values[k]));
        }
    }
    return folds;
}

// Bits of the first elements of `got` are those of `expected`.
template <class T>
bool begins_with(const std::vector<T>& got, const std::vector<T>& expected) {
    return expected.size() <= got.size() &&
           (expected.empty() || std::memcmp(got.data(), expected.data(), expected.size() * sizeof(T)) == 0);
}

// Floats in runs, with NaN and zeros of both signs.
inline std::vector<float> floats_in_runs(std::uint64_t n) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> data(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        const float kinds[] = {1, 1, -0.0f, 0.0f, nan, nan, std::numeric_limits<float>::infinity()};
        data[k] = kinds[k / 3 % 7];
    }
    return data;
}

} // namespace warpfold::tests
