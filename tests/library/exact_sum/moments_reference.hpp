// SPDX-License-Identifier: MIT
// Whether a number is the one nearest to a quotient or a square root, by exact arithmetic; and data for means, variances
// and norms.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/library/cases.hpp"
#include "tests/library/exact_sum/exact_reference.hpp"

namespace warpfold::tests {

__extension__ typedef __float128 quad;

template <class T>
bool is_even(T x) {
    int exponent = 0;
    const T fraction = std::frexp(x, &exponent);
    const int last = std::max(exponent - std::numeric_limits<T>::digits,
                              std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits);
    return std::fmod(std::ldexp(fraction, exponent - last), T(2)) == 0;
}

// |a - b * x|; b a whole number below 2^24.
template <class T>
int128 distance(const int128& a, T b, T x) {
    int128 d = a;
    d.add_product(-x, b);
    return d.magnitude();
}

// True if x is the number nearest to a / b.
template <class T>
bool is_nearest_quotient(const int128& a, T b, T x) {
    if (!std::isfinite(x)) {
        return false;
    }
    const int128 here = distance(a, b, x);
    for (const T end : {-std::numeric_limits<T>::infinity(), std::numeric_limits<T>::infinity()}) {
        int128 other = distance(a, b, std::nextafter(x, end));
        other.subtract(here);
        if (other.negative() || (other.zero() && !is_even(x))) {
            return false;
        }
    }
    return true;
}

// True if x, above zero, is the number nearest to the square root of a.
template <class T>
bool is_nearest_root(const int128& a, T x) {
    if (!std::isfinite(x) || !(x > 0)) {
        return false;
    }
    // a is not outside the squares of x - step / 2 and x + step / 2. A tie is no number's root.
    for (const bool up : {false, true}) {
        const T next = std::nextafter(x, up ? std::numeric_limits<T>::infinity() : T(0));
        const T step = up ? next - x : x - next;
        int exponent = 0;
        std::frexp(step, &exponent); // step is 2^(exponent - 1)
        int128 rest = a;
        int128 square;
        square.add_product(x, x);
        square.add_product(up ? x : -x, step);
        square.add(1, 2 * (exponent - 2), false);
        rest.subtract(square);
        if (rest.negative() != up) {
            return false;
        }
    }
    return true;
}

template <class T>
int128 sum_of(const std::vector<T>& data) {
    int128 sum;
    for (const T x : data) {
        sum.add(x);
    }
    return sum;
}
template <class T>
int128 sum_of_squares(const std::vector<T>& data) {
    int128 sum;
    for (const T x : data) {
        sum.add_product(x, x);
    }
    return sum;
}
// n times the sum of the squares, less the square of the sum.
template <class T>
int128 scaled_variance(const std::vector<T>& data) {
    int128 total;
    const int128 squares = sum_of_squares(data);
    for (const T x : data) {
        total.add(squares);
        for (const T y : data) {
            total.add_product(-x, y);
        }
    }
    return total;
}

// Finite data whose variance and norm are finite, of all magnitudes, that cancel, and next to the format's borders.
template <class T>
std::vector<std::vector<T>> moment_cases() {
    using limits = std::numeric_limits<T>;
    const T tiny = limits::denorm_min(), large = std::ldexp(T(1), limits::max_exponent / 2 - 5);
    const int lowest = limits::min_exponent - limits::digits;
    std::vector<std::vector<T>> all{{T(1)},
                                    {T(-3)},
                                    {tiny},
                                    {tiny, tiny},
                                    {-tiny, tiny * 2, tiny * 5},
                                    {T(1), T(2), T(4)},
                                    {T(3), T(4)},
                                    {large, -large, large / 3},
                                    {limits::max() / 2, limits::max() / 2, limits::max() / 2},
                                    {T(0), T(-0.0), T(0)},
                                    {T(1), T(1), T(1) + limits::epsilon()},
                                    {T(1e6), T(1e6) + T(0.0625), T(1e6) - T(0.0625), T(1e6)}};
    all.push_back(spread<T>(31, -10, 3, 1));
    all.push_back(spread<T>(32, lowest, lowest + 30, 2));
    all.push_back(spread<T>(33, lowest, limits::max_exponent / 2 - 10, 3));
    all.push_back(spread<T>(64, limits::min_exponent / 2 - 3, limits::min_exponent / 2 + 3, 4));
    for (unsigned seed = 0; seed < 20; ++seed) {
        all.push_back(spread<T>(2 + seed, -1, 1, seed));
    }
    return all;
}

} // namespace warpfold::tests
