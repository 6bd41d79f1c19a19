// SPDX-License-Identifier: MIT
// Segmented reductions on the host's cores.
#include "warpfold/segmented_reduce.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/cases.hpp"
#include "tests/library/segment_cases.hpp"

namespace warpfold {

namespace {

template <class T, class Offset>
void sums_and_others() {
    for (const std::uint64_t n : {200000u, 1000u}) {
        for (const auto& one : tests::segment_cases(n)) {
            const auto data = tests::small_numbers<T>(one.offsets.back() + 10, 3);
            const std::vector<Offset> offsets(one.offsets.begin(), one.offsets.end());
            const std::uint64_t segments = offsets.size() - 1;
            using A = accumulator_t<sum, T>;
            const auto sums = tests::expected_of_segments<A>(data, one.offsets, sum{}, A{});
            const auto largest = tests::expected_of_segments<T>(data, one.offsets, maximum{}, T(2));
            for (const unsigned threads : {1u, 2u, 5u}) {
                std::vector<A> got(segments, A(99));
                segmented_reduce(host{threads}, data.data(), offsets.data(), segments, got.data());
                EXPECT_EQ(got, sums) << one.name << ", " << threads << " threads";
                std::vector<T> most(segments, T(99));
                segmented_reduce(host{threads}, data.begin(), offsets.begin(), segments, most.begin(), maximum{}, T(2));
                EXPECT_EQ(most, largest) << one.name << ", " << threads << " threads";
            }
        }
    }
}

TEST(SegmentedOnHost, Bytes) { sums_and_others<std::uint8_t, std::int32_t>(); }
TEST(SegmentedOnHost, Integers) { sums_and_others<std::int32_t, std::uint32_t>(); }
TEST(SegmentedOnHost, Floats) { sums_and_others<float, std::int64_t>(); }
TEST(SegmentedOnHost, Doubles) { sums_and_others<double, std::uint64_t>(); }

TEST(SegmentedOnHost, OrderIsKept) {
    for (const auto& one : tests::segment_cases(150000)) {
        std::vector<tests::affine> maps(one.offsets.back());
        for (std::uint32_t k = 0; k < maps.size(); ++k) {
            maps[k] = {2 * k + 1, k * k + 1};
        }
        const tests::affine first{3, 4};
        const auto expected = tests::expected_of_segments<tests::affine>(maps, one.offsets, tests::then{}, first);
        std::vector<tests::affine> got(expected.size());
        segmented_reduce(host{3}, maps.data(), one.offsets.data(), expected.size(), got.data(), tests::then{}, first);
        EXPECT_EQ(got, expected) << one.name;
    }
}

TEST(SegmentedOnHost, TheSameBitsForAnyNumberOfThreads) {
    const auto data = tests::any_numbers<float>(300000, 3);
    const std::vector<std::uint64_t> offsets{0, 7, 100000, 100001, 299999};
    std::vector<float> one(4), five(4);
    segmented_reduce(host{1}, data.data(), offsets.data(), 4, one.data());
    segmented_reduce(host{5}, data.data(), offsets.data(), 4, five.data());
    for (unsigned s = 0; s < 4; ++s) {
        EXPECT_TRUE(tests::same_bits(one[s], five[s])) << s;
    }
}

TEST(SegmentedOnHost, EqualSegments) {
    for (const std::uint64_t length : {0u, 1u, 5u, 64u, 1000u, 100000u}) {
        const std::uint64_t segments = length == 0 ? 70000 : 150000 / length;
        const auto data = tests::small_numbers<double>(segments * length, 9);
        std::vector<std::uint64_t> offsets;
        for (std::uint64_t s = 0; s <= segments; ++s) {
            offsets.push_back(s * length);
        }
        std::vector<double> got(segments, 99.0);
        segmented_reduce(host{2}, data.data(), equal_segments{length}, segments, got.data());
        EXPECT_EQ(got, tests::expected_of_segments<double>(data, offsets, sum{}, 0.0)) << length;
    }
}

TEST(SegmentedOnHost, BadOffsetsAndNone) {
    const std::vector<int> data(10, 1);
    std::vector<std::int64_t> out(3, 5);
    const std::vector<int> decreasing{0, 7, 3, 10}, behind{8, 2};
    EXPECT_THROW(segmented_reduce(host{}, data.data(), decreasing.data(), 3, out.data()), invalid_argument);
    EXPECT_THROW(segmented_reduce(host{}, data.data(), behind.data(), 1, out.data()), invalid_argument);
    segmented_reduce(host{}, data.data(), decreasing.data(), 0, out.data());
    const std::vector<int> fine{0, 7, 7, 10};
    segmented_reduce(host{}, data.data(), fine.data(), 3, out.data());
    EXPECT_EQ(out, (std::vector<std::int64_t>{7, 0, 3}));
}

} // namespace
} // namespace warpfold
