// SPDX-License-Identifier: MIT
// Operations, data and references that the tests of the host and of the GPU share.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "warpfold/detail/portable.hpp"

namespace warpfold::tests {

// x -> a x + b modulo 2^32, and the composition of two such maps: associative, not commutative.
struct affine {
    std::uint32_t a, b;

    friend bool operator==(const affine&, const affine&) = default;
};
struct then {
    WARPFOLD_HD affine operator()(const affine& f, const affine& g) const { return {g.a * f.a, g.a * f.b + g.b}; }
};

// 12 bytes, which fill no vector.
struct triple {
    std::int32_t x, y, z;

    friend bool operator==(const triple&, const triple&) = default;
};
struct add_triples {
    static constexpr bool commutative = true;
    template <class A>
    WARPFOLD_HD static constexpr A identity() {
        return {0, 0, 0};
    }
    WARPFOLD_HD triple operator()(const triple& a, const triple& b) const { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
};

// Keeps the element that is larger in its lower half, and counts nothing of the upper one.
struct larger_low_half {
    WARPFOLD_HD std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
        return (a & 0xffffffffu) < (b & 0xffffffffu) ? b : a;
    }
};

struct is_multiple_of_three {
    template <class T>
    WARPFOLD_HD bool operator()(const T& x) const {
        return static_cast<std::int64_t>(x) % 3 == 0;
    }
};

struct times_index {
    template <class T>
    WARPFOLD_HD std::uint64_t operator()(const T& x, std::uint64_t index) const {
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(x)) * index;
    }
};

// Whole numbers of the type, small enough that sums of 2^24 of them are exact in a float.
template <class T>
std::vector<T> small_numbers(std::uint64_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<T> data(n);
    for (T& one : data) {
        const int drawn = static_cast<int>(random() % 15);
        one = static_cast<T>(std::numeric_limits<T>::is_signed ? drawn - 7 : drawn);
    }
    return data;
}

// Any value of an integer type; of a floating-point type any but NaN.
template <class T>
std::vector<T> any_numbers(std::uint64_t n, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<T> data(n);
    for (T& one : data) {
        do {
            const std::uint64_t bits = random();
            std::memcpy(&one, &bits, sizeof(T));
        } while (one != one);
    }
    return data;
}

template <class T>
bool same_bits(const T& a, const T& b) {
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

} // namespace warpfold::tests
