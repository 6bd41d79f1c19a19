// SPDX-License-Identifier: MIT
// Compactions on the host.
#include "warpfold/select.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "tests/library/compact/compact_cases.hpp"
#include "warpfold/error.hpp"

namespace warpfold {
namespace {

const std::uint64_t sizes[] = {0, 1, 2, 127, 128, 129, 4099, 16383, 16384, 16385, 70001};

template <class T>
void partitions() {
    for (const std::uint64_t n : sizes) {
        const auto data = tests::numbered<T>(n);
        for (const auto& one : tests::flag_cases(n)) {
            const auto expected = tests::partitioned(data, one.flags);
            for (const unsigned threads : {1u, 3u}) {
                const host on{threads};
                std::vector<T> out(n), rejected(n);
                std::uint32_t count = 99;
                partition(on, data, out, rejected, &count, where(one.flags));
                EXPECT_EQ(count, expected.first.size()) << one.name;
                EXPECT_TRUE(tests::begins_with(out, expected.first)) << one.name;
                EXPECT_TRUE(tests::begins_with(rejected, expected.second)) << one.name;

                std::vector<T> in_place = data;
                EXPECT_EQ(select(on, in_place, in_place, where(one.flags, std::logical_not<>{})),
                          expected.second.size());
                EXPECT_TRUE(tests::begins_with(in_place, expected.second)) << one.name;
            }
        }
    }
}
TEST(SelectHost, Bytes) { partitions<std::uint8_t>(); }
TEST(SelectHost, TwelveBytes) { partitions<tests::triple>(); }
TEST(SelectHost, SixteenBytes) { partitions<tests::sixteen_bytes>(); }

TEST(SelectHost, ByPredicate) {
    const auto data = tests::any_numbers<std::uint32_t>(40001, 3);
    std::vector<std::uint8_t> flags(data.size());
    for (std::size_t k = 0; k < data.size(); ++k) {
        flags[k] = tests::odd_after_index{}(data[k], k);
    }
    const auto expected = tests::partitioned(data, flags).first;
    std::vector<std::uint32_t> out(expected.size() + 1, 7);
    const std::uint64_t n = data.size();
    EXPECT_EQ(select(host{3}, data.data(), n, out.data(), tests::odd_after_index{}), expected.size());
    EXPECT_TRUE(tests::begins_with(out, expected));
    EXPECT_EQ(out.back(), 7u);
    for (const std::uint64_t most : {std::uint64_t{40000}, n + 10}) {
        EXPECT_EQ(select(host{}, data.data(), count_at(&n, most), out.data(), tests::odd_after_index{}),
                  expected.size() - (most < n ? flags.back() : 0u));
    }
}

TEST(SelectHost, Unique) {
    for (const std::uint64_t n : sizes) {
        auto data = tests::floats_in_runs(n);
        const auto expected = tests::partitioned(data, tests::heads_of(data, std::equal_to<>{})).first;
        std::vector<float> out(n);
        EXPECT_EQ(unique(host{2}, data, out), expected.size());
        EXPECT_TRUE(tests::begins_with(out, expected)) << n;
        EXPECT_EQ(unique(host{2}, data, data), expected.size());
        EXPECT_TRUE(tests::begins_with(data, expected)) << n;
        for (const auto& keys : tests::key_cases(n, 30000)) {
            std::vector<std::uint32_t> some(n);
            const auto firsts = tests::partitioned(keys, tests::heads_of(keys, tests::low_bits_equal{})).first;
            std::uint64_t count = 0;
            unique(host{2}, keys, some, &count, tests::low_bits_equal{});
            EXPECT_EQ(count, firsts.size());
            EXPECT_TRUE(tests::begins_with(some, firsts)) << n;
        }
    }
}

TEST(SelectHost, BadArguments) {
    std::vector<int> x(100, 1), out(99);
    std::uint64_t count = 0;
    const auto odd = [](int a) { return a % 2 != 0; };
    EXPECT_THROW((void)select(host{}, x, out, odd), invalid_argument);
    EXPECT_THROW((void)select(host{}, x.data(), 50, x.data() + 20, odd), invalid_argument);
    EXPECT_THROW((void)select(host{}, static_cast<int*>(nullptr), 50, x.data(), odd), invalid_argument);
    EXPECT_THROW((void)select(host{}, x.data(), -1, x.data(), odd), invalid_argument);
    EXPECT_THROW(select(host{}, x.data(), 50, x.data(), static_cast<int*>(nullptr), odd), invalid_argument);
    EXPECT_THROW((void)select(host{}, x.data(), 50, x.data(), where(static_cast<bool*>(nullptr))), invalid_argument);
    EXPECT_THROW((void)partition(host{}, x.data(), 50, x.data() + 50, x.data(), odd), invalid_argument);
    EXPECT_THROW((void)unique(host{}, x.data(), count_at(static_cast<int*>(nullptr), 5), x.data()), invalid_argument);
    EXPECT_NO_THROW(select(host{}, x.data(), 0, x.data() + 1, &count, odd));
    EXPECT_EQ(select(host{}, x.data(), 50, x.data() + 50, odd), 50u);
}

TEST(SelectHost, WhatAPredicateThrowsArrives) {
    std::vector<int> data(300000);
    std::iota(data.begin(), data.end(), 0);
    const auto throws = [](int a) {
        if (a == 200000) {
            throw std::domain_error("too much");
        }
        return true;
    };
    EXPECT_THROW((void)select(host{4}, data, data, throws), std::domain_error);
}

} // namespace
} // namespace warpfold
