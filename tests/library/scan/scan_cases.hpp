// SPDX-License-Identifier: MIT
// What scans are held against: one element after the other, as the calls are described.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "tests/library/cases.hpp"

namespace warpfold::tests {

// 1 where a segment of this length begins.
inline std::vector<std::uint8_t> heads_of_length(std::uint64_t n, std::uint64_t length) {
    std::vector<std::uint8_t> heads(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        heads[k] = k % length == 0 ? 1 : 0;
    }
    return heads;
}

// Scans x by op, folding in A, into U. `heads` is empty, or says of each element whether a segment begins there.
template <class A, class U, class T, class Op>
std::vector<U> scanned(const std::vector<T>& x, const Op& op, bool inclusive, std::optional<A> first = {},
                       bool reverse = false, const std::vector<std::uint8_t>& heads = {}) {
    const std::uint64_t n = x.size();
    std::vector<U> out(n);
    std::optional<A> sum = first;
    for (std::uint64_t v = 0; v < n; ++v) {
        const std::uint64_t k = reverse ? n - 1 - v : v;
        if (!heads.empty() && v != 0 && heads[reverse ? k + 1 : k]) {
            sum = first;
        }
        if (!inclusive) {
            out[k] = static_cast<U>(*sum);
        }
        sum = sum ? static_cast<A>(op(*sum, static_cast<A>(x[k]))) : static_cast<A>(x[k]);
        if (inclusive) {
            out[k] = static_cast<U>(*sum);
        }
    }
    return out;
}

// 200 bytes, which no cache of a block holds many of.
struct large {
    std::int32_t x[50];

    friend bool operator==(const large&, const large&) = default;
};
struct add_large {
    WARPFOLD_HD large operator()(const large& a, const large& b) const {
        large c{};
        for (int k = 0; k < 50; ++k) {
            c.x[k] = a.x[k] + b.x[k];
        }
        return c;
    }
};

// Heads of segments of lengths around `mean`, and the same as offsets, with some that are empty.
struct segments {
    segments(std::uint64_t n, std::uint64_t mean, unsigned seed) : heads(n) {
        std::mt19937_64 random(seed);
        for (std::uint64_t k = random() % (2 * mean); k < n; k += 1 + random() % (2 * mean)) {
            heads[k] = 1;
            for (std::uint64_t times = random() % 8 == 0 ? 3 : 1; times != 0; --times) {
                begins.push_back(k);
            }
        }
        begins.push_back(n);
        begins.push_back(n + 5);
    }

    std::vector<std::uint8_t> heads;
    std::vector<std::uint64_t> begins;
};

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

} // namespace warpfold::tests
