// SPDX-License-Identifier: MIT
// Exact sums where the compiler or the processor does not compute as IEEE 754 says: this file is compiled with the
// options that loosen arithmetic, and goes through the modes of the processor. Expected bits come from integers.
#include "warpfold/exact_sum.hpp"
#include "warpfold/segmented_exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace warpfold {
namespace {

constexpr std::uint64_t nan_bits = 0x7ff8000000000000, infinity_bits = 0x7ff0000000000000;

// Calls work in every mode that there is, and names the mode.
template <class Work>
void in_every_mode(const Work& work) {
    work("as the process has it");
    const int usual = std::fegetround();
    for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        std::fesetround(rounding);
        work("rounding mode " + std::to_string(rounding));
    }
    std::fesetround(usual);
#if defined(__SSE2__)
    constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
    const unsigned before = _mm_getcsr();
    for (const unsigned bits : {flush_to_zero, denormals_are_zero, flush_to_zero | denormals_are_zero}) {
        _mm_setcsr((before & ~(flush_to_zero | denormals_are_zero)) | bits);
        work("control bits " + std::to_string(bits));
    }
    _mm_setcsr(before);
#endif
}

std::uint64_t bits_of_sum(const std::vector<double>& data, unsigned threads = 1) {
    return std::bit_cast<std::uint64_t>(exact_sum(host{threads}, data));
}

TEST(exact_arithmetic, what_cancels_leaves_the_rest) {
    std::mt19937_64 random(7);
    std::vector<double> data;
    std::int64_t rest = 0;
    for (int k = 0; k < 20000; ++k) {
        const double large = std::ldexp(static_cast<double>(random() >> 12), static_cast<int>(random() % 40) - 20);
        data.push_back(large);
        data.push_back(-large);
        const auto small = static_cast<std::int64_t>(random() % 2001) - 1000;
        data.push_back(std::ldexp(static_cast<double>(small), -60));
        rest += small;
    }
    std::shuffle(data.begin(), data.end(), random);
    const auto expected = std::bit_cast<std::uint64_t>(std::ldexp(static_cast<double>(rest), -60));
    in_every_mode([&](const std::string& mode) {
        EXPECT_EQ(bits_of_sum(data), expected) << mode;
        EXPECT_EQ(bits_of_sum(data, 2), expected) << mode << ", 2 threads";
    });
}

TEST(exact_arithmetic, halves_go_to_even) {
    // 2^53 + 1 lies half way; a little more does not.
    const std::vector<double> half{9007199254740992.0, 1.0}, more{9007199254740992.0, 1.0, 0x1p-60};
    in_every_mode([&](const std::string& mode) {
        EXPECT_EQ(bits_of_sum(half), std::bit_cast<std::uint64_t>(9007199254740992.0)) << mode;
        EXPECT_EQ(bits_of_sum(more), std::bit_cast<std::uint64_t>(9007199254740994.0)) << mode;
    });
}

TEST(exact_arithmetic, subnormal_numbers_count) {
    const std::vector<double> doubles(100, std::bit_cast<double>(std::uint64_t{3}));
    const std::vector<float> floats(100, std::bit_cast<float>(std::uint32_t{3}));
    in_every_mode([&](const std::string& mode) {
        EXPECT_EQ(bits_of_sum(doubles), 300u) << mode;
        EXPECT_EQ(std::bit_cast<std::uint32_t>(exact_sum(host{1}, floats)), 300u) << mode;
    });
}

// Short sums take another way than long ones.
TEST(exact_arithmetic, short_segments) {
    const auto tiny = std::bit_cast<double>(std::uint64_t{1}), nan = std::bit_cast<double>(nan_bits + 5);
    const std::vector<double> data{9007199254740992.0,
                                   1.0,
                                   9007199254740992.0,
                                   1.0,
                                   tiny,
                                   tiny,
                                   tiny,
                                   0x1p-1022,
                                   -tiny,
                                   -0.0,
                                   1e308,
                                   1e308,
                                   -1e308,
                                   nan,
                                   0x1p100,
                                   -0x1p100,
                                   0x1p-100};
    const std::vector<int> offsets{0, 2, 5, 7, 9, 10, 13, 14, 17};
    const std::vector<std::uint64_t> expected{std::bit_cast<std::uint64_t>(9007199254740992.0),
                                              std::bit_cast<std::uint64_t>(9007199254740994.0),
                                              2,
                                              0xfffffffffffff,
                                              0,
                                              std::bit_cast<std::uint64_t>(1e308),
                                              nan_bits,
                                              std::bit_cast<std::uint64_t>(0x1p-100)};
    in_every_mode([&](const std::string& mode) {
        std::vector<double> sums(expected.size());
        segmented_exact_sum(host{1}, data, offsets, sums);
        for (std::size_t s = 0; s < sums.size(); ++s) {
            EXPECT_EQ(std::bit_cast<std::uint64_t>(sums[s]), expected[s]) << mode << ", segment " << s;
        }
    });
}

TEST(exact_arithmetic, products_are_exact) {
    std::mt19937_64 random(8);
    std::vector<float> a, b;
    std::int64_t expected = 0;
    for (int k = 0; k < 10000; ++k) {
        const auto x = static_cast<std::int64_t>(random() >> 41), y = static_cast<std::int64_t>(random() >> 41);
        const std::int64_t one = static_cast<std::int64_t>(random() % 15) - 7;
        for (const auto& [p, q] : {std::pair{x, y}, std::pair{-x, y}, std::pair{one, std::int64_t{1}}}) {
            a.push_back(static_cast<float>(p));
            b.push_back(static_cast<float>(q));
        }
        expected += one;
    }
    in_every_mode([&](const std::string& mode) {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(exact_dot(host{1}, a, b)),
                  std::bit_cast<std::uint32_t>(static_cast<float>(expected)))
            << mode;
    });
}

TEST(exact_arithmetic, what_is_no_number) {
    const auto nan = std::bit_cast<double>(nan_bits + 5), infinity = std::bit_cast<double>(infinity_bits);
    const auto tiny = std::bit_cast<double>(std::uint64_t{1});
    in_every_mode([&](const std::string& mode) {
        EXPECT_EQ(bits_of_sum({1.0, nan, 2.0}), nan_bits) << mode;
        EXPECT_EQ(bits_of_sum({1.0, infinity, 2.0}), infinity_bits) << mode;
        EXPECT_EQ(bits_of_sum({1.0, infinity, -infinity}), nan_bits) << mode;
        const auto dot = [](double x, double y) {
            return std::bit_cast<std::uint64_t>(exact_dot(host{1}, std::vector{x}, std::vector{y}));
        };
        EXPECT_EQ(dot(infinity, tiny), infinity_bits) << mode;
        EXPECT_EQ(dot(infinity, 0.0), nan_bits) << mode;
        EXPECT_EQ(dot(nan, 1.0), nan_bits) << mode;
    });
}

} // namespace
} // namespace warpfold
