// SPDX-License-Identifier: MIT
// Exact sums on the host's cores, to the last bit.
#include "warpfold/exact_sum.hpp"
#include "warpfold/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/cases.hpp"
#include "tests/library/exact_sum/exact_reference.hpp"

namespace warpfold {

namespace {

template <class T>
class exact_on_host : public testing::Test {
protected:
    // By 1, 2 and 5 threads, in other orders, in pieces of another size, and as something that is no array.
    static void expect_sum(std::vector<T> data, T expected, const std::string& what) {
        for (const unsigned threads : {1u, 2u, 5u}) {
            EXPECT_TRUE(tests::same_bits(exact_sum(host{threads}, data), expected))
                << what << ", " << threads << " threads";
        }
        T placed = 99;
        exact_sum(host{1}, std::span<const T>(data), &placed);
        EXPECT_TRUE(tests::same_bits(placed, expected)) << what;
        std::shuffle(data.begin(), data.end(), std::mt19937(1));
        EXPECT_TRUE(tests::same_bits(exact_sum(host{3}, data), expected)) << what << ", shuffled";
        EXPECT_TRUE(tests::same_bits(exact_sum(host{2}, data.begin(), data.size()), expected)) << what << ", iterator";
    }
    static void expect_dot(const std::vector<T>& a, const std::vector<T>& b, T expected, const std::string& what) {
        for (const unsigned threads : {1u, 2u, 5u}) {
            EXPECT_TRUE(tests::same_bits(exact_dot(host{threads}, a, b), expected))
                << what << ", " << threads << " threads";
        }
        T placed = 99;
        exact_dot(host{1}, b.begin(), a.begin(), a.size(), &placed);
        EXPECT_TRUE(tests::same_bits(placed, expected)) << what;
    }
};
using Formats = testing::Types<float, double>;
TYPED_TEST_SUITE(exact_on_host, Formats);

TYPED_TEST(exact_on_host, EveryLength) {
    for (const std::uint64_t n :
         {0u, 1u, 2u, 15u, 16u, 17u, 1000u, 2047u, 2048u, 2049u, 65535u, 65536u, 65537u, 140001u}) {
        const auto data = tests::spread<TypeParam>(n, -10, 3, static_cast<unsigned>(n));
        this->expect_sum(data, tests::expected_sum(data), std::to_string(n));
    }
}

TYPED_TEST(exact_on_host, EveryRangeOfExponents) {
    using limits = std::numeric_limits<TypeParam>;
    const int lowest = limits::min_exponent - limits::digits, highest = limits::max_exponent - 1;
    for (int width = 0; width <= highest - lowest; width = width < 30 ? width + 5 : width + width / 3) {
        for (const int least : {lowest, -width / 2, highest - width}) {
            const auto data = tests::spread<TypeParam>(3001, least, least + width, static_cast<unsigned>(width));
            this->expect_sum(data, tests::expected_sum(data),
                             std::to_string(least) + " up to " + std::to_string(least + width));
        }
    }
}

TYPED_TEST(exact_on_host, WhatCancels) {
    for (const std::uint64_t n : {2u, 100u, 10001u}) {
        const auto data = tests::cancelling<TypeParam>(n, static_cast<unsigned>(n));
        this->expect_sum(data, tests::expected_sum(data), std::to_string(n));
    }
}

// Floats that are far apart and cancel, so that nothing is left but the smallest there are, among zeros.
TEST(ExactHost, SubnormalsAreLeftOfNumbersFarApart) {
    std::mt19937 random(1);
    for (const std::uint64_t n : {16u, 2048u, 5000u, 70000u}) {
        std::vector<float> data(2 * n + n / 3, 0.0f);
        for (std::uint64_t k = 0; k < n; ++k) {
            data[2 * k] = std::ldexp(static_cast<float>(random()), static_cast<int>(random() % 200) - 110);
            data[2 * k + 1] = -data[2 * k];
        }
        std::int64_t left = 0;
        for (std::uint64_t k = 2 * n; k < data.size(); k += 2) {
            const int steps = static_cast<int>(random() % 1000) - 400;
            data[k] = std::ldexp(static_cast<float>(steps), -149);
            left += steps;
        }
        std::shuffle(data.begin(), data.end(), random);
        EXPECT_EQ(exact_sum(host{2}, data), std::ldexp(static_cast<float>(left), -149)) << n;
        data[n / 2] = std::numeric_limits<float>::infinity();
        EXPECT_EQ(exact_sum(host{2}, data), std::numeric_limits<float>::infinity()) << n;
        data[n] = -data[n / 2];
        EXPECT_TRUE(std::isnan(exact_sum(host{2}, data))) << n;
    }
}

TYPED_TEST(exact_on_host, BordersAndSpecialValues) {
    unsigned which = 0;
    for (const auto& data : tests::special_sums<TypeParam>()) {
        this->expect_sum(data, tests::expected_sum(data), "case " + std::to_string(which++));
        // The same among many zeros and what cancels.
        std::vector<TypeParam> more(5000, TypeParam(0));
        std::fill(more.begin() + 100, more.begin() + 600, TypeParam(0.3));
        std::fill(more.begin() + 3000, more.begin() + 3500, -TypeParam(0.3));
        more.insert(more.begin() + 2500, data.begin(), data.end());
        this->expect_sum(more, tests::expected_sum(more), "case among others " + std::to_string(which - 1));
    }
}

TYPED_TEST(exact_on_host, TheReferenceItself) {
    using T = TypeParam;
    EXPECT_EQ(tests::expected_sum<T>({1, 2, 3}), 6);
    EXPECT_EQ(tests::expected_sum<T>({1, std::numeric_limits<T>::epsilon() / 2}), 1);
    EXPECT_EQ(tests::expected_dot<T>({3, -2}, {5, 7}), 1);
    EXPECT_EQ(tests::expected_sum<T>({std::numeric_limits<T>::max(), std::numeric_limits<T>::max()}),
              std::numeric_limits<T>::infinity());
}

TYPED_TEST(exact_on_host, ManyOfTheLargest) {
    using T = TypeParam;
    std::vector<T> data(100000, std::numeric_limits<T>::max());
    this->expect_sum(data, std::numeric_limits<T>::infinity(), "all of one sign");
    for (std::size_t k = 1; k < data.size(); k += 2) {
        data[k] = -data[k];
    }
    data.push_back(T(1.5));
    this->expect_sum(data, T(1.5), "both signs");
}

TYPED_TEST(exact_on_host, DotOfEveryLengthAndRange) {
    using limits = std::numeric_limits<TypeParam>;
    const int lowest = limits::min_exponent - limits::digits, highest = limits::max_exponent - 1;
    for (const std::uint64_t n : {0u, 1u, 17u, 2049u, 70001u}) {
        const auto a = tests::spread<TypeParam>(n, -8, 3, 1), b = tests::spread<TypeParam>(n, -9, 2, 2);
        this->expect_dot(a, b, tests::expected_dot(a, b), std::to_string(n));
    }
    const int ends[][4] = {{lowest, highest, lowest, highest},
                           {lowest, lowest + 30, -20, 20},
                           {highest - 20, highest, highest - 20, highest},
                           {highest - 5, highest, lowest, lowest + 5},
                           {lowest / 2, lowest / 2 + 10, lowest / 2, lowest / 2 + 10},
                           {-30, 30, -30, 30},
                           {highest / 2 - 9, highest / 2, highest / 2 - 9, highest / 2},
                           {lowest, lowest + 9, lowest, lowest + 9}};
    for (const auto& end : ends) {
        const auto a = tests::spread<TypeParam>(2100, end[0], end[1], 3),
                   b = tests::spread<TypeParam>(2100, end[2], end[3], 4);
        this->expect_dot(a, b, tests::expected_dot(a, b), std::to_string(end[0]) + " and " + std::to_string(end[2]));
    }
}

TYPED_TEST(exact_on_host, DotThatCancels) {
    using T = TypeParam;
    for (const std::uint64_t n : {10u, 3000u}) {
        auto a = tests::cancelling<T>(n, 5);
        auto b = tests::spread<T>(a.size(), -3, 3, 6);
        const std::size_t count = a.size();
        for (std::size_t k = 0; k < count; ++k) { // a b - (a)(b) + a small rest
            a.push_back(-a[k]);
            b.push_back(b[k]);
        }
        a.push_back(T(1.25));
        b.push_back(T(-0.5));
        EXPECT_EQ(tests::expected_dot(a, b), T(-0.625));
        this->expect_dot(a, b, T(-0.625), std::to_string(n));
    }
}

// What is left of the products are their rounding errors.
TYPED_TEST(exact_on_host, DotOfRoundingErrors) {
    using T = TypeParam;
    auto a = tests::spread<T>(4000, -9, 9, 7), b = tests::spread<T>(4000, -9, 9, 8);
    for (std::size_t k = 0; k < 4000; ++k) {
        a.push_back(-(a[k] * b[k]));
        b.push_back(1);
    }
    const T expected = tests::expected_dot(a, b);
    EXPECT_NE(expected, T(0));
    this->expect_dot(a, b, expected, "rounding errors");
}

TYPED_TEST(exact_on_host, DotAtTheBorders) {
    using T = TypeParam;
    using limits = std::numeric_limits<T>;
    const T tiny = limits::denorm_min(), infinity = limits::infinity(), largest = limits::max(),
            nan = limits::quiet_NaN();
    const T root =
        std::ldexp(T(1), (limits::min_exponent - limits::digits) / 2); // root * root: the last place, or twice it
    const std::vector<std::vector<T>> cases[] = {{{tiny}, {tiny}},
                                                 {{tiny}, {-tiny}},
                                                 {{tiny}, {T(0.5)}},
                                                 {{tiny, tiny}, {T(0.5), tiny}},
                                                 {{tiny}, {T(-0.5)}},
                                                 {{tiny, tiny}, {T(0.5), -tiny}},
                                                 {{3 * tiny}, {T(0.5)}},
                                                 {{3 * tiny, tiny}, {T(0.5), -tiny}},
                                                 {{root}, {root}},
                                                 {{root}, {-root / 2}},
                                                 {{root, tiny}, {root / 4, tiny}},
                                                 {{largest}, {largest}},
                                                 {{largest, largest}, {largest, -largest}},
                                                 {{largest, largest, T(1)}, {largest, -largest, tiny}},
                                                 {{largest, T(1)}, {T(2), -largest}},
                                                 {{largest, limits::epsilon()}, {T(1), largest / 4}},
                                                 {{infinity}, {T(0)}},
                                                 {{infinity}, {T(-2)}},
                                                 {{-infinity}, {T(-2)}},
                                                 {{infinity, T(1)}, {T(1), -infinity}},
                                                 {{infinity, T(1)}, {T(1), infinity}},
                                                 {{nan}, {T(0)}},
                                                 {{T(1), nan}, {T(1), infinity}},
                                                 {{T(0)}, {-T(0)}},
                                                 {{-T(0)}, {T(1)}},
                                                 {{}, {}}};
    unsigned which = 0;
    for (const auto& one : cases) {
        this->expect_dot(one[0], one[1], tests::expected_dot(one[0], one[1]), "case " + std::to_string(which));
        auto a = one[0], b = one[1];
        a.resize(2000, T(0));
        b.resize(2000, T(0));
        for (std::size_t k = 500; k < 700; ++k) {
            a[k] = T(0.7);
            b[k] = k % 2 == 0 ? T(0.9) : -T(0.9);
        }
        this->expect_dot(a, b, tests::expected_dot(a, b), "case among others " + std::to_string(which++));
    }
}

TEST(ExactHost, RangesOfDifferentSizes) {
    const std::vector<float> three(3, 1.0f), four(4, 1.0f);
    EXPECT_THROW((void)exact_dot(host{}, three, four), invalid_argument);
    EXPECT_EQ(exact_dot(host{}, three, three), 3.0f);
}

TEST(ExactHost, PlainSumsOfThatAreWrong) {
    std::vector<float> data(1 << 20, 1e-3f);
    data[0] = 1e8f;
    data.push_back(-1e8f);
    EXPECT_EQ(exact_sum(host{}, data), tests::expected_sum(data));
    EXPECT_NE(reduce(host{}, data), exact_sum(host{}, data));
}

} // namespace
} // namespace warpfold
