// SPDX-License-Identifier: MIT
// Segmented reductions on the host's cores.
#include "warpfold/segmented_reduce.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/cases.hpp"
#include "tests/library/segmented_reduce/segment_cases.hpp"

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

// Element k goes to lane k modulo the numbers that 16 bytes hold; then the lanes are added up by halves.
template <class T>
T sum_in_lanes(const T* in, std::uint64_t n) {
    constexpr std::uint64_t lanes = 16 / sizeof(T);
    T lane[lanes] = {};
    for (std::uint64_t k = 0; k < n; ++k) {
        lane[k % lanes] += in[k];
    }
    return lanes == 4 ? (lane[0] + lane[2]) + (lane[1] + lane[lanes - 1]) : lane[0] + lane[1];
}

// Short segments of whatever lengths, up to 255 elements, are summed up in one order, to the last bit, and see nothing
// of their neighbours; also where they are so many that the results go around the cache.
template <class T>
void short_segments(unsigned most, std::uint64_t segments) {
    std::mt19937 random(most);
    std::vector<std::uint32_t> offsets{1};
    for (std::uint64_t s = 0; s < segments; ++s) {
        const bool alike = s / 1000 % 3 == 0; // for a while all of one length
        offsets.push_back(offsets.back() + static_cast<std::uint32_t>(alike ? most / 2 : random() % (most + 1)));
    }
    std::vector<T> data(offsets.back()); // ends where the last segment does
    std::uniform_real_distribution<T> any(-1, 1);
    std::generate(data.begin(), data.end(), [&] { return any(random); });
    for (std::uint64_t k = 0; k < data.size(); k += 1 + random() % 50) {
        constexpr T special[] = {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(), T(-0.0),
                                 T(0)};
        data[k] = special[random() % 4];
    }
    std::vector<T> got(segments + 1), most_of(segments);
    segmented_reduce(host{2}, data.data(), offsets.data(), segments, got.data() + 1);
    segmented_reduce(host{2}, data.data(), offsets.data(), segments, most_of.data(), maximum{});
    std::uint64_t in_parts = 0;
    for (std::uint64_t s = 0; s < segments; ++s) {
        const T total = sum_in_lanes(data.data() + offsets[s], offsets[s + 1] - offsets[s]);
        T largest = -std::numeric_limits<T>::infinity();
        for (std::uint64_t k = offsets[s]; k < offsets[s + 1]; ++k) {
            largest = maximum{}(largest, data[k]);
        }
        const auto alike = [](T a, T b) {
            return tests::same_bits(a, b) || (a != a && b != b);
        }; // which NaN is not said
        ASSERT_TRUE(alike(largest, most_of[s])) << s << ": " << most_of[s] << " for " << largest;
        if (!alike(total, got[s + 1])) { // the sum of two pieces' parts
            ASSERT_LE(std::abs(total - got[s + 1]), T(1e-5)) << s;
            ++in_parts;
        }
    }
    EXPECT_LE(in_parts, (offsets.back() + segments) / detail::host_chunk);
}

TEST(SegmentedOnHost, ShortFloats) {
    short_segments<float>(2, (1u << 20) + 13);
    short_segments<float>(4, 150007);
    short_segments<float>(5, 150001);
    short_segments<float>(24, 150001);
    short_segments<float>(63, 40000);
    short_segments<float>(255, 9001);
}
TEST(SegmentedOnHost, ShortDoubles) {
    short_segments<double>(9, (1u << 19) + 7);
    short_segments<double>(4, 100003);
    short_segments<double>(255, 9001);
}

// Integers of all sizes, at every place in a vector, short and just too long.
template <class T>
void integers_in_segments() {
    using A = accumulator_t<sum, T>;
    for (const unsigned most : {2u, 4u, 5u, 17u, 300u}) {
        std::mt19937_64 random(most);
        std::vector<std::uint64_t> lengths(20000);
        for (std::uint64_t s = 0; s < lengths.size(); ++s) {
            const bool alike = s / 500 % 3 == 0;
            lengths[s] = alike ? most / 2 : random() % (most + 1);
        }
        const auto offsets = tests::offsets_of(lengths, 3);
        std::vector<T> data(offsets.back());
        for (T& x : data) {
            const std::uint64_t drawn = random();
            x = drawn % 5 == 0   ? std::numeric_limits<T>::min()
                : drawn % 5 == 1 ? std::numeric_limits<T>::max()
                                 : T(drawn);
        }
        std::vector<A> got(lengths.size());
        segmented_reduce(host{2}, data.data(), offsets.data(), lengths.size(), got.data());
        using natural = std::make_unsigned_t<A>;
        for (std::uint64_t s = 0; s < lengths.size(); ++s) {
            natural expected = 0;
            for (std::uint64_t k = offsets[s]; k < offsets[s + 1]; ++k) {
                expected += static_cast<natural>(data[k]);
            }
            ASSERT_EQ(static_cast<natural>(got[s]), expected) << s << " of at most " << most;
        }
    }
}
TEST(SegmentedOnHost, IntegersOf16Bits) { integers_in_segments<std::int16_t>(); }
TEST(SegmentedOnHost, IntegersOf32Bits) { integers_in_segments<std::int32_t>(); }
TEST(SegmentedOnHost, NaturalsOf32Bits) { integers_in_segments<std::uint32_t>(); }
TEST(SegmentedOnHost, NaturalsOf64Bits) { integers_in_segments<std::uint64_t>(); }

// None is read that lies behind the last: sums of arrays of all short lengths, each in an allocation of its own.
TEST(SegmentedOnHost, NothingIsReadBehindTheEnd) {
    for (std::uint64_t n = 0; n < 600; ++n) {
        for (const std::uint64_t each : {1u, 2u, 3u, 4u, 7u}) {
            std::vector<std::uint64_t> offsets;
            for (std::uint64_t at = 0; at < n; at += each) {
                offsets.push_back(at);
            }
            offsets.push_back(n);
            const std::vector<float> data(n, 1.5f);
            std::vector<float> got(offsets.size() - 1);
            segmented_reduce(host{1}, data.data(), offsets.data(), got.size(), got.data());
            ASSERT_EQ(got, tests::expected_of_segments<float>(data, offsets, sum{}, 0.0f)) << n << ", each " << each;
        }
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

// Elements that come in blocks.
struct blocks {
    int operator[](std::uint64_t) const { throw std::logic_error("elements are read one by one"); }
    void read(std::uint64_t first, std::uint64_t count, int* to) const {
        if (first + count > data->size()) {
            throw std::logic_error("elements outside are read");
        }
        std::copy_n(data->begin() + static_cast<std::ptrdiff_t>(first), count, to);
    }

    const std::vector<int>* data;
};

TEST(SegmentedOnHost, InputsInBlocks) {
    for (const auto& one : tests::segment_cases(200000)) {
        const auto data = tests::small_numbers<int>(one.offsets.back(), 5);
        const std::uint64_t segments = one.offsets.size() - 1;
        const auto sums = tests::expected_of_segments<std::int64_t>(data, one.offsets, sum{}, std::int64_t{});
        for (const unsigned threads : {1u, 3u}) {
            std::vector<std::int64_t> got(segments, 99);
            segmented_reduce(host{threads}, blocks{&data}, one.offsets.data(), segments, got.data());
            EXPECT_EQ(got, sums) << one.name << ", " << threads << " threads";
        }
    }
    const std::vector<int> data(100000, 1);
    std::vector<std::int64_t> out(5);
    for (const auto& offsets : {std::vector<std::uint64_t>{0, 70000, 40000, 100000},
                                {0, 90000, 100000, 20, 100000},
                                {9, 8},
                                {0, 10, 5, 80000},
                                {5, ~std::uint64_t{0}, 100000}}) {
        EXPECT_THROW(segmented_reduce(host{}, blocks{&data}, offsets.data(), offsets.size() - 1, out.data()),
                     invalid_argument);
    }
}

TEST(SegmentedOnHost, BadOffsetsAndNone) {
    const std::vector<int> data(10, 1);
    std::vector<std::int64_t> out(3, 5);
    const std::vector<int> decreasing{0, 7, 3, 10}, behind{8, 2};
    EXPECT_THROW(segmented_reduce(host{}, data.data(), decreasing.data(), 3, out.data()), invalid_argument);
    EXPECT_THROW(segmented_reduce(host{}, data.data(), behind.data(), 1, out.data()), invalid_argument);
    segmented_reduce(host{}, data.data(), decreasing.data(), 0, out.data());
    // Searches in them end anywhere: nothing outside the arrays may be read.
    for (const std::int64_t far : {300000, 5, 400000}) {
        std::vector<std::int64_t> many(400001, far), of_many(400000);
        many.front() = 0;
        many.back() = 4;
        for (const unsigned threads : {1u, 4u}) {
            EXPECT_THROW(segmented_reduce(host{threads}, data.data(), many.data(), 400000, of_many.data()),
                         invalid_argument)
                << far;
        }
    }
    // Among short segments, too.
    const std::vector<float> ones(400, 1.0f);
    std::vector<float> sums(200);
    for (const unsigned at : {1u, 70u, 103u, 199u}) {
        std::vector<std::uint32_t> offsets(201);
        for (unsigned s = 0; s <= 200; ++s) {
            offsets[s] = at % 2 == 0 ? s : 2 * s;
        }
        offsets[at] = offsets[at + 1] + 1;
        EXPECT_THROW(segmented_reduce(host{}, ones.data(), offsets.data(), 200, sums.data()), invalid_argument) << at;
        offsets[at] = ~0u;
        EXPECT_THROW(segmented_reduce(host{}, ones.data(), offsets.data(), 200, sums.data()), invalid_argument) << at;
    }
    const std::vector<int> fine{0, 7, 7, 10};
    segmented_reduce(host{}, data.data(), fine.data(), 3, out.data());
    EXPECT_EQ(out, (std::vector<std::int64_t>{7, 0, 3}));
}

} // namespace
} // namespace warpfold
