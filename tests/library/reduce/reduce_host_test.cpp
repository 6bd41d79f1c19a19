// SPDX-License-Identifier: MIT
// Reductions on the host's cores.
#include "warpfold/reduce.hpp"

#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/cases.hpp"

namespace warpfold {

namespace {

constexpr std::uint64_t lengths[] = {0,    1,    2,     31,    32,    33,     63,     1023,
                                     1024, 1025, 65535, 65536, 65537, 131072, 196613, (1 << 20) + 1};

template <class T>
class ReduceOnHost : public testing::Test {};
using Numbers = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::int32_t, std::uint32_t, std::int64_t,
                               std::uint64_t, float, double>;
TYPED_TEST_SUITE(ReduceOnHost, Numbers);

TYPED_TEST(ReduceOnHost, SumOfEveryLength) {
    for (const std::uint64_t n : lengths) {
        const auto data = tests::small_numbers<TypeParam>(n, static_cast<unsigned>(n));
        accumulator_t<sum, TypeParam> expected = 0;
        for (const TypeParam x : data) {
            expected += x;
        }
        EXPECT_EQ(reduce(host{1}, data), expected) << n;
        EXPECT_EQ(reduce(host{3}, data.data(), n, sum{}), expected) << n;
        accumulator_t<sum, TypeParam> placed = 99;
        reduce(host{}, data, &placed);
        EXPECT_EQ(placed, expected) << n;
    }
}

TYPED_TEST(ReduceOnHost, SmallestAndLargest) {
    for (const std::uint64_t n : lengths) {
        const auto data = tests::any_numbers<TypeParam>(n, 7);
        TypeParam least = minimum::identity<TypeParam>(), most = maximum::identity<TypeParam>();
        std::uint64_t least_at = 0, most_at = 0;
        for (std::uint64_t k = 0; k < n; ++k) {
            if (data[k] < least) {
                least = data[k];
                least_at = k;
            }
            if (most < data[k]) {
                most = data[k];
                most_at = k;
            }
        }
        EXPECT_EQ(reduce(host{2}, data, minimum{}), least) << n;
        EXPECT_EQ(reduce(host{2}, data, maximum{}), most) << n;
        if (n != 0) {
            const extremes<TypeParam> both = min_max(host{2}, data);
            EXPECT_EQ(both.smallest, least) << n;
            EXPECT_EQ(both.largest, most) << n;
            EXPECT_EQ(data[arg_min(host{2}, data).index], least) << n;
            EXPECT_EQ(arg_max(host{2}, data).value, most) << n;
            if (sizeof(TypeParam) >= 4 && n < 1000) {
                EXPECT_EQ(arg_min(host{2}, data).index, least_at) << n;
                EXPECT_EQ(arg_max(host{2}, data).index, most_at) << n;
            }
        }
    }
}

TEST(ReduceHost, IntegersOf32BitsDoNotOverflow) {
    const std::vector<std::int32_t> data(100003, std::numeric_limits<std::int32_t>::max());
    EXPECT_EQ(reduce(host{}, data), std::int64_t{100003} * std::numeric_limits<std::int32_t>::max());
}

TEST(ReduceHost, TheSameBitsForAnyNumberOfThreads) {
    const auto data = tests::any_numbers<float>(1 << 20, 3);
    const std::span<const float> some(data.data(), 777777);
    const float one = reduce(host{1}, some);
    for (const unsigned threads : {2u, 3u, 7u, 16u}) {
        EXPECT_TRUE(tests::same_bits(reduce(host{threads}, some), one)) << threads;
    }
}

TEST(ReduceHost, OrderIsKeptWhereItMatters) {
    for (const std::uint64_t n : {0u, 1u, 2u, 1000u, 65537u, 200001u}) {
        std::vector<tests::affine> maps(n);
        tests::affine expected{3, 4};
        for (std::uint64_t k = 0; k < n; ++k) {
            maps[k] = {static_cast<std::uint32_t>(2 * k + 1), static_cast<std::uint32_t>(k * k)};
            expected = tests::then{}(expected, maps[k]);
        }
        EXPECT_EQ(reduce(host{2}, maps, tests::then{}, tests::affine{3, 4}), expected) << n;
    }
}

TEST(ReduceHost, StructuresAndDeclaredCommutativity) {
    std::vector<tests::triple> data(70001);
    tests::triple expected{0, 0, 0};
    for (int k = 0; k < 70001; ++k) {
        data[static_cast<std::size_t>(k)] = {k % 1000, -k % 1000, 1};
        expected = tests::add_triples{}(expected, data[static_cast<std::size_t>(k)]);
    }
    EXPECT_EQ(reduce(host{2}, data, tests::add_triples{}), expected);
    const auto plus = [](int a, int b) { return a + b; };
    const std::vector<int> ones(100000, 1);
    EXPECT_EQ(reduce(host{2}, ones, commutes(plus), 5), 100005);
}

TEST(ReduceHost, NotANumberIsTheResult) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const std::size_t place : {std::size_t{0}, std::size_t{1000}, std::size_t{69999}}) {
        std::vector<float> data(70000, 2.0f);
        data[5] = -1.0f;
        data[place] = nan;
        EXPECT_TRUE(std::isnan(reduce(host{2}, data, minimum{})));
        EXPECT_TRUE(std::isnan(reduce(host{2}, data, maximum{})));
        EXPECT_TRUE(std::isnan(min_max(host{2}, data).smallest) && std::isnan(min_max(host{2}, data).largest));
        EXPECT_EQ(arg_min(host{2}, data).index, place);
        EXPECT_EQ(arg_max(host{2}, data).index, place);
        EXPECT_TRUE(std::isnan(arg_max(host{2}, data).value));
        data[place] = -nan;
        EXPECT_TRUE(std::isnan(min_max(host{2}, data).smallest) && std::isnan(min_max(host{2}, data).largest));
        data[place] = -std::numeric_limits<float>::infinity();
        EXPECT_EQ(min_max(host{2}, data).smallest, data[place]);
        EXPECT_EQ(min_max(host{2}, data).largest, 2.0f);
        data[place] = -data[place];
        EXPECT_EQ(min_max(host{2}, data).smallest, place == 5 ? 2.0f : -1.0f);
        EXPECT_EQ(min_max(host{2}, data).largest, data[place]);
    }
}

TEST(ReduceHost, ZerosHaveSigns) {
    const std::vector<double> data{0.0, -0.0, 0.0};
    EXPECT_TRUE(std::signbit(reduce(host{}, data, minimum{})));
    EXPECT_FALSE(std::signbit(reduce(host{}, data, maximum{})));
    EXPECT_EQ(arg_min(host{}, data).index, 1u);
    EXPECT_EQ(arg_max(host{}, data).index, 0u);
    EXPECT_FALSE(std::signbit(reduce(host{}, std::vector<double>{})));
}

TEST(ReduceHost, OfEqualElementsTheFirst) {
    std::vector<std::int16_t> data(200000, 4);
    EXPECT_EQ(arg_min(host{3}, data).index, 0u);
    data[70000] = data[150000] = 9;
    EXPECT_EQ(arg_max(host{3}, data).index, 70000u);
}

TEST(ReduceHost, CountsAndMaps) {
    const auto data = tests::small_numbers<std::int32_t>(100003, 5);
    std::uint64_t count = 0, weighted = 0;
    for (std::uint64_t k = 0; k < data.size(); ++k) {
        count += data[k] % 3 == 0;
        weighted += static_cast<std::uint64_t>(static_cast<std::int64_t>(data[k])) * k;
    }
    EXPECT_EQ(count_if(host{2}, data, tests::is_multiple_of_three{}), count);
    EXPECT_EQ(transform_reduce(host{2}, data, tests::times_index{}), weighted);
    EXPECT_EQ(transform_reduce(host{2}, data, tests::times_index{}, sum{}, std::uint64_t{8}), weighted + 8);
    std::uint64_t placed = 0;
    count_if(host{2}, data, &placed, tests::is_multiple_of_three{});
    EXPECT_EQ(placed, count);
}

TEST(ReduceHost, NothingToChooseFrom) {
    const std::vector<int> none;
    EXPECT_THROW((void)arg_min(host{}, none), invalid_argument);
    EXPECT_THROW((void)min_max(host{}, none), invalid_argument);
    EXPECT_EQ(reduce(host{}, none, minimum{}), std::numeric_limits<int>::max());
    EXPECT_EQ(reduce(
                  host{}, none, [](int a, int b) { return a - b; }, 12),
              12);
}

// Errors of sums of one number do not average out.
template <class T>
void check_error_of_sums() {
    for (const double value : {0.1, 0.3, 0.7, 1.1}) {
        for (const std::uint64_t n : {1000u, 65536u, 100003u, 1000000u, 10000019u}) {
            const std::vector<T> data(n, static_cast<T>(value));
            const long double exact = static_cast<long double>(data[0]) * n;
            const T got = reduce(host{2}, data);
            EXPECT_LE(std::abs(static_cast<long double>(got) - exact) / exact * 2 / std::numeric_limits<T>::epsilon(),
                      10)
                << n << " of " << value;
            EXPECT_EQ(reduce(host{1}, data), got);
        }
    }
}
TEST(ReduceHost, ErrorsOfSumsStaySmall) {
    check_error_of_sums<float>();
    check_error_of_sums<double>();
}

TEST(ReduceHost, WhatAnOperationThrowsArrives) {
    const std::vector<int> data(1 << 20, 1);
    const auto throws = [](int a, int b) {
        if (a + b > 5000) {
            throw std::domain_error("too much");
        }
        return a + b;
    };
    EXPECT_THROW((void)reduce(host{4}, data, throws, 0), std::domain_error);
}

} // namespace
} // namespace warpfold
