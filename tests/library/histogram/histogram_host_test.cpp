// SPDX-License-Identifier: MIT
// Histograms on the host's cores, and the arithmetic of bins.
#include "tests/message_of.hpp"
#include "warpfold/histogram.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/cases.hpp"
#include "tests/library/histogram/histogram_cases.hpp"

namespace warpfold {

namespace {

using tests::big;

template <class T>
class HistogramOfIntegers : public testing::Test {};
using Integers = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                                std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(HistogramOfIntegers, Integers);

// Bounds and values at which a rounded quotient would go wrong: next to every bin's edge, over ranges of all widths.
TYPED_TEST(HistogramOfIntegers, BinsAreExactAtEveryEdge) {
    using T = TypeParam;
    using limits = std::numeric_limits<T>;
    std::mt19937_64 random(5);
    unsigned with_quotients = 0, with_product = 0;
    for (unsigned round = 0; round < 400; ++round) {
        T lower = static_cast<T>(random()), last = static_cast<T>(random());
        if (round % 4 == 0) {
            lower = limits::min();
            last = limits::max();
        }
        if (lower > last) {
            std::swap(lower, last);
        }
        const std::uint64_t bins = round % 3 == 0 ? 1 + random() % 300 : 1 + (random() >> (33 + random() % 30));
        if (round % 5 == 0) { // ranges that a product of doubles serves for, and some that are a little too wide
            last = static_cast<T>(
                std::min<big>(lower + static_cast<big>(random() >> (30 + random() % 34)), limits::max()));
        }
        const detail::even_integers<T, sizeof(T) == 8> even(lower, last, static_cast<std::uint32_t>(bins));
        const bool has_quotients = even.has_quotients(static_cast<std::uint32_t>(bins));
        with_quotients += has_quotients ? 1 : 0;
        with_product += even.has_one_product() ? 1 : 0;
        const big width = static_cast<big>(last) - lower + 1;
        for (unsigned k = 0; k < 60; ++k) {
            const std::uint64_t bin = k < 4 ? k * bins / 3 : random() % bins;
            const big edge =
                lower + (width * static_cast<big>(bin) + static_cast<big>(bins) - 1) / static_cast<big>(bins);
            for (const big x : {edge - 1, edge, edge + 1, static_cast<big>(lower), static_cast<big>(last)}) {
                if (x < limits::min() || x > limits::max()) {
                    continue;
                }
                const std::int64_t expected = tests::even_bin(x, lower, last, bins);
                const std::uint32_t got = even(static_cast<T>(x));
                ASSERT_EQ(got, expected < 0 ? detail::outside : static_cast<std::uint32_t>(expected))
                    << +lower << " to " << +last << ", bins " << bins << ", x " << +static_cast<T>(x);
                if (has_quotients) {
                    ASSERT_EQ(even.by_quotients()(static_cast<T>(x)), got)
                        << +lower << " to " << +last << ", bins " << bins << ", x " << +static_cast<T>(x);
                }
                if constexpr (sizeof(T) < 8) {
                    if (even.has_one_product()) {
                        ASSERT_EQ(even.by_one_product()(static_cast<T>(x)), got)
                            << +lower << " to " << +last << ", bins " << bins << ", x " << +static_cast<T>(x);
                    }
                }
            }
        }
    }
    EXPECT_GT(with_quotients, 30u);
    EXPECT_LT(with_quotients, sizeof(T) < 4 ? 401u : 370u);
    EXPECT_GT(with_product, 30u);
}

// Counters of 8 bits (more than 2^16 bins for five threads, more than 2^20 for fewer) run over, in every number of the same
// samples; more often than a thread notes them.
TEST(HistogramHost, ManySamplesInOneOfManyBins) {
    constexpr std::uint64_t bins = 70001, n = (std::uint64_t{3} << 20) + 77;
    std::vector<std::int32_t> data(n);
    std::mt19937 random(3);
    for (std::uint64_t k = 0; k < n; ++k) {
        data[k] = k < n / 3 ? 4711 : (k < n / 2 ? -1 : static_cast<std::int32_t>(random() % 1000));
    }
    const auto expected = tests::counted(data, 0, 70000, bins);
    for (const unsigned threads : {1u, 2u, 4u, 5u}) {
        EXPECT_EQ(histogram(host{threads}, data, even_bins(0, 70001, bins)), expected);
    }
    constexpr std::uint64_t more = (1u << 20) + 9;
    auto in_more = histogram(host{2}, data, even_bins<std::int32_t>(0, more, more));
    in_more.resize(bins);
    EXPECT_EQ(in_more, expected);
    // All counters run over within one pass over the bins, in every chunk of 256 of them.
    std::vector<std::uint32_t> in_turns(257 * bins);
    for (std::uint64_t k = 0; k < in_turns.size(); ++k) {
        in_turns[k] = static_cast<std::uint32_t>(k % bins);
    }
    EXPECT_EQ(histogram(host{1}, in_turns, even_bins(0u, 70001u, bins)), std::vector<std::uint64_t>(bins, 257));
    std::vector<std::uint64_t> turns(more);
    std::fill_n(turns.begin(), bins, 257);
    EXPECT_EQ(histogram(host{1}, in_turns, even_bins<std::uint32_t>(0, more, more)), turns);
    std::vector<std::uint32_t> counts(bins, 5);
    histogram(host{2}, in_turns, counts, even_bins(0u, 70001u, bins), update::add);
    EXPECT_EQ(counts, std::vector<std::uint32_t>(bins, 262));
}

// Enough bytes that pairs of them are counted where they are alike, first alike and then not, and the other way round.
TEST(HistogramHost, BytesThatAreAlike) {
    for (const std::uint64_t n : {(std::uint64_t{1} << 23), (std::uint64_t{1} << 23) + 65531}) {
        for (const bool first : {false, true}) {
            std::vector<std::uint8_t> data(n);
            std::mt19937 random(4);
            for (std::uint64_t k = 0; k < n; ++k) {
                const auto x = static_cast<unsigned>(random());
                data[k] = static_cast<std::uint8_t>((k < n / 2) == first ? 100 + x % 5 + x / 256 % 5 : x);
            }
            const auto expected = tests::counted(data, 0, 255, 256);
            EXPECT_EQ(histogram(host{1}, data, even_bins(0, 256, 256)), expected);
            EXPECT_EQ(histogram(host{2}, data, even_bins(0, 256, 256)), expected);
        }
    }
    const std::vector<std::uint8_t> one((std::uint64_t{1} << 23) + 3, 9);
    EXPECT_EQ(histogram(host{1}, one, even_bins(8, 10, 2)), (std::vector<std::uint64_t>{0, one.size()}));
}

// Batches of bytes are counted in another way than what is left of a chunk: of every length around theirs and a
// chunk's, beginning anywhere, and of values that are all there or of some only.
TEST(HistogramHost, BytesOfEveryLength) {
    const auto any = tests::any_numbers<std::uint8_t>(270000, 4);
    for (const unsigned kinds : {256u, 16u, 3u}) {
        std::vector<std::uint8_t> data(any);
        for (auto& x : data) {
            x = static_cast<std::uint8_t>(kinds == 256 ? x : 250 + 17 * (x % kinds));
        }
        for (const std::uint64_t n :
             {0, 1, 63, 8191, 8192, 8193, 16383, 16384, 24577, 65535, 65536, 65537, 131071, 269990}) {
            for (const unsigned shift : {0u, 1u, 7u}) {
                std::vector<std::uint32_t> expected(256), got(256, 7);
                for (std::uint64_t k = 0; k < n; ++k) {
                    ++expected[data[shift + k]];
                }
                for (const unsigned threads : {1u, 3u}) {
                    histogram(host{threads}, data.data() + shift, n, got.data(), even_bins(0, 256, 256));
                    EXPECT_EQ(got, expected) << n << " from " << shift << ", " << threads << " threads";
                }
            }
        }
    }
}

TYPED_TEST(HistogramOfIntegers, EveryLengthFewBinsToMany) {
    for (const std::uint64_t n : {0u, 1u, 2u, 7u, 63u, 1024u, 1025u, 65537u, 200003u}) {
        const auto data = tests::any_numbers<TypeParam>(n, static_cast<unsigned>(n));
        const big lower = std::numeric_limits<TypeParam>::min(), last = std::numeric_limits<TypeParam>::max();
        for (const unsigned bins : {1u, 2u, 256u, 1000u, 5000u, 40000u}) {
            const auto expected = tests::counted(data, lower, last, bins);
            const auto even = even_bins<TypeParam>::whole_range(bins);
            EXPECT_EQ(histogram(host{1}, data, even), expected) << n << " " << bins;
            std::vector<std::uint32_t> counts(bins, 7);
            histogram(host{3}, data, counts, even);
            EXPECT_TRUE(std::equal(counts.begin(), counts.end(), expected.begin())) << n << " " << bins;
            histogram(host{2}, data.data(), n, counts.data(), even, update::add);
            for (unsigned k = 0; k < bins; ++k) {
                ASSERT_EQ(counts[k], 2 * expected[k]) << n << " " << bins;
            }
        }
    }
}

// Samples and bounds of different types are compared as numbers.
TYPED_TEST(HistogramOfIntegers, BoundsOfOtherTypes) {
    const auto data = tests::any_numbers<TypeParam>(5000, 2);
    EXPECT_EQ(histogram(host{}, data, even_bins(-100, 1000, 11)), tests::counted(data, -100, 999, 11));
    EXPECT_EQ(histogram(host{}, data, even_bins(3u, 4000000000u, 11)), tests::counted(data, 3, 3999999999u, 11));
    const std::int64_t far = std::int64_t{1} << 62;
    EXPECT_EQ(histogram(host{}, data, even_bins(-far, far, 1 << 10)), tests::counted(data, -far, far - 1, 1 << 10));
    EXPECT_EQ(histogram(host{}, data, even_bins<std::uint64_t>(0, ~std::uint64_t{0}, 3)),
              tests::counted(data, 0, big{~std::uint64_t{0}} - 1, 3));
    EXPECT_EQ(histogram(host{}, data, even_bins(far, far + 9, 3)), tests::counted(data, far, far + 8, 3));
}

TEST(HistogramHost, MoreBinsThanValues) {
    const auto data = tests::any_numbers<std::uint16_t>(3000, 3);
    EXPECT_EQ(histogram(host{2}, data, even_bins(0, 65536, 1 << 22)), tests::counted(data, 0, 65535, 1 << 22));
}

// What CUB is known to get wrong: bins over all of 8 and 16 bits, negative bytes, 2^20 bins over [0, 2^20).
TEST(HistogramHost, WhereOthersFail) {
    std::vector<std::int8_t> bytes(256);
    std::iota(bytes.begin(), bytes.end(), static_cast<std::int8_t>(-128));
    EXPECT_EQ(histogram(host{}, bytes, even_bins(-128, 128, 256)), std::vector<std::uint64_t>(256, 1));
    EXPECT_EQ(histogram(host{}, bytes, even_bins<std::int8_t>(-10, 0, 10)), std::vector<std::uint64_t>(10, 1));
    std::vector<std::int16_t> shorts(65536);
    std::iota(shorts.begin(), shorts.end(), static_cast<std::int16_t>(-32768));
    EXPECT_EQ(histogram(host{}, shorts, even_bins<std::int16_t>::whole_range(1024)),
              std::vector<std::uint64_t>(1024, 64));
    std::vector<int> all(1 << 20);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(histogram(host{2}, all, even_bins(0, 1 << 20, 1 << 20)), std::vector<std::uint64_t>(1 << 20, 1));
}

template <class T>
class HistogramOfFloats : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(HistogramOfFloats, Floats);

// The documented rule, computed step by step, and that it never goes down.
TYPED_TEST(HistogramOfFloats, RuleAndMonotony) {
    using T = TypeParam;
    std::mt19937_64 random(1);
    const auto drawn = [&] { return static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-53); };
    for (unsigned round = 0; round < 200; ++round) {
        const T middle = (drawn() - T{0.5}) * T{1000};
        const T lower = middle - drawn() * static_cast<T>(std::ldexp(1.0, static_cast<int>(random() % 20) - 10)) - T{1};
        const T upper = middle + drawn() + T{1};
        const std::uint64_t bins = 1 + (random() >> (40 + random() % 23));
        const auto bin = detail::prepare(even_bins<T>(lower, upper, bins), T{});
        T x = lower;
        std::uint32_t before = bin(x);
        EXPECT_EQ(before, 0u);
        const T scale = static_cast<T>(bins) / (upper - lower);
        for (unsigned k = 0; k < 2000 && x < upper; ++k) {
            const std::uint32_t here = bin(x);
            const T at = std::floor((x - lower) * scale);
            ASSERT_EQ(here, at >= static_cast<T>(bins) ? bins - 1 : std::min(static_cast<std::uint64_t>(at), bins - 1));
            ASSERT_GE(here, before);
            before = here;
            x = k % 2 == 0 ? std::nextafter(x, upper) : x + (upper - lower) / T{1000};
        }
        EXPECT_LE(bin(std::nextafter(upper, lower)), bins - 1);
        EXPECT_GE(bin(std::nextafter(upper, lower)), before);
        EXPECT_EQ(bin(upper), detail::outside);
        EXPECT_EQ(bin(std::nextafter(lower, lower - 1)), detail::outside);
    }
}

TYPED_TEST(HistogramOfFloats, NotANumberInfinitiesAndZeros) {
    using limits = std::numeric_limits<TypeParam>;
    const std::vector<TypeParam> data{limits::quiet_NaN(),   -limits::quiet_NaN(), limits::infinity(),
                                      -limits::infinity(),   limits::max(),        limits::lowest(),
                                      TypeParam{0},          -TypeParam{0},        limits::denorm_min(),
                                      -limits::denorm_min(), TypeParam{1}};
    EXPECT_EQ(histogram(host{}, data, even_bins<TypeParam>(0, 1, 2)), (std::vector<std::uint64_t>{3, 0}));
    const std::vector<TypeParam> edges{-1, 0, 1, limits::infinity()};
    EXPECT_EQ(histogram(host{}, data, edge_bins(edges)), (std::vector<std::uint64_t>{1, 3, 2}));
}

TYPED_TEST(HistogramOfFloats, Edges) {
    for (const std::uint64_t n : {1u, 30011u}) {
        const auto data = tests::odd_numbers<TypeParam>(n, 8);
        for (const std::size_t count : {2u, 3u, 4u, 65u, 300u}) {
            std::vector<TypeParam> edges(count);
            for (std::size_t k = 0; k < count; ++k) {
                edges[k] = static_cast<TypeParam>(static_cast<double>(k * k / 3) / 16 - 11); // some are equal
            }
            EXPECT_EQ(histogram(host{2}, data, edge_bins(edges)), tests::counted_between(data, edges));
        }
    }
}

TEST(HistogramHost, TypesThatFloatingBoundsAreComputedIn) {
    // 2^24 + 1 is no float: of 32-bit integers and float bounds double serves.
    const std::vector<std::int32_t> data{(1 << 24) + 1};
    EXPECT_EQ(histogram(host{}, data, even_bins(16777216.0f, 16777220.0f, 4)),
              (std::vector<std::uint64_t>{0, 1, 0, 0}));
    const std::vector<float> floats{0.5f, 2.5f, 9.5f, 10.0f};
    EXPECT_EQ(histogram(host{}, floats, even_bins(0, 10, 10))[9], 1u);
}

TEST(HistogramHost, EdgesOfIntegersAreComparedAsNumbers) {
    const std::vector<std::uint64_t> data{0, 5, ~std::uint64_t{0}};
    const std::vector<std::int64_t> edges{-5, 1, 6};
    EXPECT_EQ(histogram(host{}, data, edge_bins(edges)), (std::vector<std::uint64_t>{1, 1}));
}

TEST(HistogramHost, Functions) {
    const auto data = tests::any_numbers<std::int32_t>(100003, 4);
    std::vector<std::uint64_t> expected(40);
    for (const std::int32_t x : data) {
        const int bin = tests::digit_sum{}(x);
        if (bin >= 0 && bin < 40) {
            ++expected[static_cast<std::size_t>(bin)];
        }
    }
    EXPECT_EQ(histogram(host{2}, data, function_bins(tests::digit_sum{}, 40)), expected);
    const std::vector<std::uint8_t> bytes{1, 2, 3, 255};
    EXPECT_EQ(
        histogram(host{}, bytes, function_bins([](std::uint8_t x) { return x < 3 ? std::int64_t{x} : no_bin; }, 3)),
        (std::vector<std::uint64_t>{0, 1, 1}));
}

TEST(HistogramHost, Weights) {
    const std::uint64_t n = 100003;
    const auto data = tests::any_numbers<std::uint16_t>(n, 6);
    const auto weights = tests::small_numbers<std::int8_t>(n, 7);
    for (const unsigned bins : {10u, 5000u}) {
        std::vector<std::int64_t> expected(bins), sums(bins, 9);
        for (std::uint64_t k = 0; k < n; ++k) {
            const std::int64_t bin = tests::even_bin(data[k], 100, 60000, bins);
            if (bin >= 0) {
                expected[static_cast<std::size_t>(bin)] += weights[k];
            }
        }
        weighted_histogram(host{2}, data.data(), weights.data(), n, sums.data(), even_bins(100, 60001, bins));
        EXPECT_EQ(sums, expected);
    }
}

TEST(HistogramHost, WeightedSumsAreTheSameForAnyNumberOfThreads) {
    const std::uint64_t n = 300007;
    const auto data = tests::any_numbers<std::uint8_t>(n, 6);
    std::vector<float> weights(n), one(100), other(100);
    for (std::uint64_t k = 0; k < n; ++k) {
        weights[k] = 1.0f / static_cast<float>(k + 1);
    }
    weighted_histogram(host{1}, data.data(), weights.data(), n, one.data(), even_bins(0, 256, 100));
    for (const unsigned threads : {2u, 5u, 16u}) {
        weighted_histogram(host{threads}, data.data(), weights.data(), n, other.data(), even_bins(0, 256, 100));
        EXPECT_TRUE(std::equal(one.begin(), one.end(), other.begin(), tests::same_bits<float>)) << threads;
    }
}

TEST(HistogramHost, Channels) {
    const std::uint64_t pixels = 70001;
    const auto bytes = tests::any_numbers<std::uint8_t>(pixels * 3, 1);
    const auto shorts = tests::any_numbers<std::uint16_t>(pixels * 3, 2);
    const std::array bins{even_bins(0, 200, 20), even_bins(50, 256, 103)};
    for (const unsigned threads : {1u, 3u}) {
        std::vector<std::uint32_t> counts(123), short_counts(123);
        histogram_channels<3>(host{threads}, bytes.data(), pixels, counts.data(), bins);
        histogram_channels<3>(host{threads}, shorts.data(), count_at(&pixels, 2 * pixels), short_counts.data(), bins);
        for (unsigned c = 0; c < 2; ++c) {
            std::vector<std::uint8_t> bytes_here;
            std::vector<std::uint16_t> shorts_here;
            for (std::uint64_t k = 0; k < pixels; ++k) {
                bytes_here.push_back(bytes[3 * k + c]);
                shorts_here.push_back(shorts[3 * k + c]);
            }
            const auto expected = histogram(host{1}, bytes_here, bins[c]),
                       short_expected = histogram(host{1}, shorts_here, bins[c]);
            for (unsigned k = 0; k < bins[c].count(); ++k) {
                ASSERT_EQ(counts[(c == 0 ? 0 : 20) + k], expected[k]);
                ASSERT_EQ(short_counts[(c == 0 ? 0 : 20) + k], short_expected[k]);
            }
        }
    }
}

template <class Call>
void throws(const Call& call, const char* words) {
    const std::string message = tests::message_of<invalid_argument>(call);
    EXPECT_NE(message.find(words), std::string::npos) << "'" << message << "', not " << words;
}

TEST(HistogramHost, BadArguments) {
    const std::vector<float> data{1.0f};
    const float infinite = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    throws([&] { (void)even_bins(1, 1, 4); }, "lower bound is not below");
    throws([&] { (void)even_bins(nan, 1.0f, 4); }, "lower bound is not below");
    throws([&] { (void)even_bins(0.0f, infinite, 4); }, "not finite");
    throws([&] { (void)even_bins(0, 1, 0); }, "0 bins");
    throws([&] { (void)even_bins(0, 1, std::uint64_t{1} << 32); }, "4294967296 bins");
    throws([&] { (void)edge_bins(data.data(), 0); }, "0 bins");
    throws([&] { (void)edge_bins<float>(data); }, "0 bins");
    throws([&] { (void)histogram(host{}, data, even_bins(-3e38f, 3e38f, 4)); }, "width of the bins");
    throws([&] { (void)histogram(host{}, data, even_bins(0.0f, 1e-45f, 4)); }, "width of the bins");
    const std::vector<float> unsorted{0.0f, 2.0f, 1.0f}, with_nan{0.0f, nan};
    throws([&] { (void)histogram(host{}, data, edge_bins(unsorted)); }, "not sorted: edge 1");
    throws([&] { (void)histogram(host{}, data, edge_bins(with_nan)); }, "not sorted: edge 0");
    std::vector<std::uint32_t> counts(3);
    throws([&] { histogram(host{}, data, counts, even_bins(0, 1, 4)); }, "room for 3 counts, and there are 4 bins");
}

TEST(HistogramHost, WhatAFunctionThrowsArrives) {
    const std::vector<int> data(1 << 18, 1);
    const auto thrower = [](int x) {
        if (x == 1) {
            throw std::domain_error("one");
        }
        return x;
    };
    EXPECT_THROW((void)histogram(host{4}, data, function_bins(thrower, 4)), std::domain_error);
}

} // namespace
} // namespace warpfold
